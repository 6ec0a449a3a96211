# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

require "sequel/adapters/shared/postgres"

module Sequel
  module Cenote
    module Postgres
      BOOLEAN = "1".method(:==)
      BYTES = Sequel::SQL::Blob.method(:new)
      # Types whose canonical text differs from the server's own, which elements of arrays have.
      CANONICAL = { 16 => BOOLEAN, 17 => BYTES }.freeze

      module DatabaseMethods
        include Sequel::Postgres::DatabaseMethods

        def self.extended(db)
          super
          db.send(:initialize_postgres_adapter)
          db.add_conversion_proc(1082, Sequel::Postgres::TYPE_TRANSLATOR_DATE)
        end

        def converter_of(column)
          oid = column[:native_type]
          proc = conversion_procs[oid]
          proc.equal?(Sequel::Postgres::CONVERSION_PROCS[oid]) ? CANONICAL.fetch(oid, proc) : proc
        end

        def bound_variable_arg(value, _conn) = bound_argument(value)

        def call_procedure(name, *args)
          dataset.send(:call_procedure, name, args)
        end

        # COPY … TO STDOUT: yields each piece, or returns all of them as one string.
        def copy_table(table, opts = OPTS, &block)
          text = String.new
          block ||= text.method(:<<)
          copying(opts) { |conn| conn.copy_out(copy_table_sql(table, opts), &block) }
          text unless block_given?
        end

        # COPY … FROM STDIN: the strings in :data, or from the block until it returns nil.
        def copy_into(table, opts = OPTS, &block)
          data = opts[:data]
          raise Error, "copy_into takes :data or a block, one of them" unless data.nil? ^ block.nil?

          pieces = block ? Enumerator.produce(&block).lazy.take_while(&:itself) : Array(data)
          copying(opts) { |conn| conn.copy_in(copy_into_sql(table, opts), pieces) }
          nil
        end

        # Wait for a notification on these channels. Returns the channel's name, or nil after :timeout. The block gets
        # channel, the notifying server process, and payload.
        def listen(channels, opts = OPTS)
          synchronize(opts[:server]) do |conn|
            heard = nil
            conn.on_notification { |channel, payload, pid| heard ||= [channel, pid, payload] }
            Array(channels).each { |channel| conn.query("LISTEN #{dataset.send(:identifier_append, +"", channel)}") }
            opts[:after_listen]&.call(conn)
            conn.wait_for_notify(opts[:timeout]) unless heard
            yield(*heard) if heard && block_given?
            heard&.first
          ensure
            conn.on_notification
            conn.query("UNLISTEN *") unless conn.closed?
          end
        rescue ::Cenote::Error => e
          raise_error(e)
        end

        # The server's fields of an error, with the names of the adapter for pg.
        def error_info(error)
          error = error.wrapped_exception if error.is_a?(DatabaseError)
          fields = error.fields || {}
          ERROR_FIELDS.transform_values { |letter| fields[letter] }
        end

        ERROR_FIELDS = {
          schema: "s", table: "t", column: "c", constraint: "n", type: "d", severity: "S", sql_state: "C",
          message_primary: "M", message_detail: "D", message_hint: "H", statement_position: "P",
          internal_position: "p", internal_query: "q", source_file: "F", source_line: "L", source_function: "R"
        }.freeze

        private

        # Without a type, as a quoted literal, so that the server finds it.
        def bound_argument(value)
          case value
          when Sequel::SQL::Blob then value.b
          when DateTime, Time then literal(value)[1...-1]
          when Integer, Float, Date, BigDecimal then value.to_s
          when true then "t"
          when false then "f"
          else value
          end
        end

        def session_sqls = connection_configuration_sqls

        # If a copy is not read to its end, the session cannot be used any more.
        def copying(opts)
          synchronize(opts[:server]) do |conn|
            is_done = false
            value = yield conn
            is_done = true
            value
          rescue ::Cenote::Error => e
            is_done = !conn.closed?
            raise_error(e, conn: conn)
          ensure
            unless is_done
              conn.close
              raise DatabaseDisconnectError, "the session was given up with a copy that was not read to its end"
            end
          end
        end

        # The server ends a transaction with its session.
        def rollback_transaction(conn, opts = OPTS)
          super unless conn.closed?
        end
      end

      class Dataset < Cenote::Dataset
        include Sequel::Postgres::DatasetMethods

        # $1, $2, …: each name has a number.
        module ArgumentMapper
          include Sequel::Dataset::ArgumentMapper

          protected

          def map_to_prepared_args(hash)
            prepared_args.map { |name| hash[name.to_sym] }
          end

          private

          def prepared_arg(name)
            prepared_args << name unless prepared_args.include?(name)
            LiteralString.new("$#{prepared_args.index(name) + 1}")
          end
        end

        BoundStatement = prepared_statements_module(:bind, [ArgumentMapper], %w[execute execute_dui])
        PreparedStatement = prepared_statements_module(:prepare, BoundStatement, %w[execute execute_dui])

        private

        def call_procedure(name, args)
          with_sql_first("CALL #{identifier_append(+"", name)}#{literal(args.empty? ? Sequel.lit("()") : args)}")
        end
      end
    end
  end
end
