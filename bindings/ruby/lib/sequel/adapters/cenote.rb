# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

require "cenote"
require "sequel"

module Sequel
  # Sequel on the sessions of a pool:
  #
  #   Sequel.connect("cenote:///inventory")
  #   Sequel.connect(adapter: :cenote, database: "inventory", host: "db.example", user: "app", password: "…")
  #
  # The database is the name of the pool, and other options are libcenote's (man 3 cenote_conn). The pool names its
  # server, and Sequel's own dialect for it is used: PostgreSQL, MySQL or SQLite.
  module Cenote
    # Options of libcenote that have other names in Sequel.
    OPTIONS = %i[
      host port hosts run_dir user password program application_name traceparent connect_timeout query_timeout
      reattach_timeout reattach cache cache_ttl max_frame tls ca ca_path cert key crl tls_min ciphers groups sni
    ].freeze

    # Sequel's name of a pool's backend; the file of that name has the modules.
    DIALECTS = { "postgresql" => :Postgres, "mysql" => :MySQL, "sqlite" => :SQLite }.freeze

    class Connection < ::Cenote::Connection
      # By name: the statement and its SQL.
      def prepared_statements = (@prepared_statements ||= {})
    end

    class Database < Sequel::Database
      set_adapter_scheme :cenote

      def connect(server)
        conn = open_session(server_opts(server), session_options: session_options)
        session_sqls.each { |sql| log_connection_yield(sql, conn) { conn.query(sql) } }
        conn
      end

      def disconnect_connection(conn)
        conn.close
      end

      # Yields the result. Without a block, returns how many rows were changed.
      def execute(sql, opts = OPTS, &block)
        synchronize(opts[:server]) do |conn|
          if sql.is_a?(Symbol)
            execute_prepared(conn, sql, opts, &block)
          else
            arguments = bound_arguments(opts)
            take_result(conn, sql, arguments, block) do
              how = { cast: false, stream: opts[:stream] }
              arguments ? conn.exec_params(sql, arguments, **how) : conn.query(sql, **how)
            end
          end
        end
      end

      def execute_dui(sql, opts = OPTS)
        execute(sql, opts, &:affected_rows)
      end

      def execute_insert(sql, opts = OPTS)
        execute(sql, opts, &:last_id)
      end

      # Makes a column's value from its text (docs/types.md); nil: it stays text.
      def converter_of(_column) = nil

      private

      def adapter_initialize
        backend = ask_backend
        dialect = DIALECTS.fetch(backend) { raise Error, "there is no dialect for a pool of #{backend}" }
        require_relative "cenote/#{dialect.to_s.downcase}"
        methods = Sequel::Cenote.const_get(dialect)
        extend methods::DatabaseMethods
        self.dataset_class = methods::Dataset
      end

      def ask_backend
        conn = open_session(@opts)
        conn.backend
      rescue ::Cenote::Error => e
        raise Sequel.convert_exception_class(e, DatabaseConnectionError)
      ensure
        conn&.close
      end

      def open_session(opts, **more)
        options = opts.slice(*OPTIONS).reject { |_, value| blank_object?(value) }
        options[:connect_timeout] = "#{options[:connect_timeout]}s" if options[:connect_timeout].is_a?(Integer)
        Connection.new(nil, pool: opts[:database], **options, **more)
      end

      # Options of the backend for each session.
      def session_options = {}

      # Run first in each session.
      def session_sqls = []

      def bound_arguments(opts)
        opts[:arguments]&.map { |value| bound_argument(value) }
      end

      def execute_prepared(conn, name, opts, &block)
        dataset = prepared_statement(name)
        sql = dataset.prepared_sql
        statement = prepare(conn, name, sql)
        text = "EXECUTE #{name}#{" (#{sql})" if dataset.log_sql}"
        arguments = bound_arguments(opts) || []
        take_result(conn, text, arguments, block) { statement.execute(*arguments, cast: false, stream: opts[:stream]) }
      end

      def prepare(conn, name, sql)
        statement, prepared_sql = conn.prepared_statements[name]
        return statement if prepared_sql == sql

        statement&.close
        statement = log_connection_yield("PREPARE #{name}: #{sql}", conn) { conn.prepare(sql) }
        conn.prepared_statements[name] = [statement, sql]
        statement
      rescue ::Cenote::Error => e
        raise_error(e, conn: conn)
      end

      def take_result(conn, text, arguments, block, &run)
        result = log_connection_yield(text, conn, arguments, &run)
        block ? block.call(result) : result.affected_rows
      rescue ::Cenote::Error => e
        raise_error(e, conn: conn)
      ensure
        result&.clear
      end

      def connection_execute_method = :query

      def database_error_classes = [::Cenote::Error]

      def database_exception_sqlstate(exception, _opts)
        exception.sqlstate if exception.respond_to?(:sqlstate)
      end

      def disconnect_error?(exception, opts)
        super || exception.is_a?(::Cenote::ConnectionError) || opts[:conn]&.closed?
      end

      def dataset_class_default = Dataset
    end

    class Dataset < Sequel::Dataset
      def fetch_rows(sql)
        execute(sql, stream: @opts[:stream]) do |result|
          columns = result.columns.map { |c| [output_identifier(c[:name]), db.converter_of(c)] }
          self.columns = columns.map(&:first)
          result.each_row { |row| yield make_row(columns, row) }
        end
        self
      end

      # This many rows at a time leave the server, in bounded memory. Other statements may run in between.
      def stream(rows = 1000)
        clone(stream: rows)
      end

      def paged_each(opts = OPTS, &block)
        return enum_for(:paged_each, opts) unless block

        stream(opts[:rows_per_fetch] || 1000).each(&block)
      end

      private

      def make_row(columns, values)
        row = {}
        columns.each_with_index do |(name, converter), i|
          value = values[i]
          row[name] = value && converter ? converter.call(value) : value
        end
        row
      end

      def bound_variable_modules = [self.class::BoundStatement]
      def prepared_statement_modules = [self.class::PreparedStatement]
    end
  end
end
