# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

require "sequel/adapters/shared/sqlite"

module Sequel
  module Cenote
    module SQLite
      # A column may hold any value, and its text arrives. A text without the column's form stays text.
      INTEGER = ->(text) { text.match?(/\A[-+]?\d+\z/) ? text.to_i : text }
      NUMBER = ->(text) { text.match?(/\A[-+]?(\d|Infinity)/) ? FLOATS.fetch(text) { text.to_f } : text }
      FLOATS = { "Infinity" => Float::INFINITY, "-Infinity" => -Float::INFINITY }.freeze
      DECIMAL = ->(text) { BigDecimal(text, exception: false) || text }
      BOOLEAN = ->(text) { !%w[0 false f no n].include?(text.downcase) }
      BYTES = Sequel::SQL::Blob.method(:new)
      JULIAN_DAY = /\A-?\d+(\.\d+)?\z/
      DATE = ->(text) { text.match?(JULIAN_DAY) ? Date.jd(text.to_i) : Sequel.string_to_date(text) }
      TIME = lambda do |text|
        next Sequel.string_to_time(text) unless text.match?(JULIAN_DAY)

        seconds = text.to_r
        SQLTime.create(seconds.to_i / 3600, seconds.to_i % 3600 / 60, seconds.to_i % 60, (seconds % 1 * 1_000_000).round)
      end
      # By the declared type of a column, as in Sequel's own adapter.
      BY_DECLARATION = {
        BOOLEAN => %w[bit bool boolean],
        INTEGER => %w[integer smallint mediumint int bigint],
        DECIMAL => %w[numeric decimal money],
        NUMBER => %w[float double real dec fixed] << "double precision",
        BYTES => %w[blob],
        DATE => %w[date],
        TIME => %w[time]
      }.flat_map { |converter, names| names.map { |name| [name, converter] } }.to_h.freeze
      # For other columns and for expressions: by the first value.
      BY_TYPE = { int64: INTEGER, double: NUMBER, bytes: BYTES }.freeze

      CONSTRAINT = 19
      KNOWN_CONSTRAINTS = [275, 787, 1299, 1555, 2067, 2579].freeze

      module DatabaseMethods
        include Sequel::SQLite::DatabaseMethods

        def self.extended(db)
          super
          db.send(:set_integer_booleans)
        end

        def converter_of(column)
          declared = column[:type_name].downcase[/\A[^(]*/]
          return method(:convert_timestamp) if %w[datetime timestamp].include?(declared)

          BY_DECLARATION[declared] || BY_TYPE[column[:type]]
        end

        private

        def convert_timestamp(text)
          return to_application_timestamp(text) unless text.match?(JULIAN_DAY)

          to_application_timestamp(text.include?(".") ? DateTime.jd(text.to_f).to_s : Time.at(text.to_i).to_s)
        end

        def bound_argument(value)
          case value
          when Date, DateTime, Time then literal(value)[1...-1]
          when Sequel::SQL::Blob then value.b
          when true, false then integer_booleans ? (value ? 1 : 0) : literal(value)[1...-1]
          else value
          end
        end

        def session_sqls = connection_pragmas

        # Sequel knows some kinds of violated constraints; for the others it uses 19.
        def sqlite_error_code(exception)
          return unless exception.respond_to?(:native)

          code = exception.native
          code & 0xff == CONSTRAINT && !KNOWN_CONSTRAINTS.include?(code) ? CONSTRAINT : code
        end
      end

      class Dataset < Cenote::Dataset
        include Sequel::SQLite::DatasetMethods

        BoundStatement = prepared_statements_module(:bind, Sequel::Dataset::UnnumberedArgumentMapper)
        PreparedStatement = prepared_statements_module(:prepare, BoundStatement)
      end
    end
  end
end
