# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

require "sequel/adapters/shared/mysql"

module Sequel
  module Cenote
    module MySQL
      TINYINT = 1 # its number in the protocol
      BOOLEAN = ->(text) { text != "0" }
      CONVERTERS = {
        bool: BOOLEAN,
        int64: :to_i.to_proc,
        uint64: :to_i.to_proc,
        double: :to_f.to_proc,
        decimal: Kernel.method(:BigDecimal),
        bytes: Sequel::SQL::Blob.method(:new),
        # Ruby has no times of more than a day
        time: ->(text) { text.match?(/\A[01]\d:|\A2[0-3]:/) ? Sequel.string_to_time(text) : text },
        # zero dates are NULL, as in mysql2
        date: ->(text) { Sequel.string_to_date(text) unless text.include?("-00") }
      }.freeze
      ERRORS = {
        1048 => NotNullConstraintViolation,
        1062 => UniqueConstraintViolation,
        1216 => ForeignKeyConstraintViolation,
        1217 => ForeignKeyConstraintViolation,
        1451 => ForeignKeyConstraintViolation,
        1452 => ForeignKeyConstraintViolation,
        1205 => DatabaseLockTimeout,
        3819 => CheckConstraintViolation,
        4025 => CheckConstraintViolation
      }.freeze

      module DatabaseMethods
        include Sequel::MySQL::DatabaseMethods

        # Whether tinyint(1) is true or false: on.
        attr_accessor :convert_tinyint_to_bool

        def self.extended(db)
          super
          db.convert_tinyint_to_bool = true
        end

        def converter_of(column)
          return BOOLEAN if is_boolean(column)
          return method(:convert_timestamp) if column[:type] == :timestamp

          CONVERTERS[column[:type]]
        end

        private

        def is_boolean(column)
          convert_tinyint_to_bool && column[:native_type] == TINYINT && column[:length] == 1
        end

        def convert_timestamp(text)
          to_application_timestamp(text) unless text.include?("-00")
        end

        def bound_argument(value)
          case value
          when true then 1
          when false then 0
          when DateTime, Time then literal(value)[1...-1]
          when Sequel::SQL::Blob then value.b
          else value
          end
        end

        # Sequel counts the rows that matched. With found_rows=yes in the pool's server line, that needs no login.
        def session_options = { mysql_login: "found_rows=on" }

        def session_sqls = mysql_connection_setting_sqls

        def database_specific_error_class(exception, opts)
          ERRORS[exception.native] || super
        end

        def schema_column_type(db_type)
          convert_tinyint_to_bool && db_type.start_with?("tinyint(1)") ? :boolean : super
        end
      end

      class Dataset < Cenote::Dataset
        include Sequel::MySQL::DatasetMethods

        BoundStatement = prepared_statements_module(:bind, Sequel::Dataset::UnnumberedArgumentMapper)
        PreparedStatement = prepared_statements_module(:prepare, BoundStatement)
      end
    end
  end
end
