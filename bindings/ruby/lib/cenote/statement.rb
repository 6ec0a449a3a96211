# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

module Cenote
  # A prepared statement from Connection#prepare. When the connection moves to another session,
  # libcenote prepares it again.
  class Statement
    def initialize(connection, sql)
      @connection = connection
      @sql = sql
      setup(connection, sql)
    end

    attr_reader :sql

    # Execute with these values; options and lists as those of Connection#query.
    def execute(*params, stream: nil, **options)
      result = run(@connection.send(:bindable, params), stream).last
      @connection.send(:dress, result, options)
    end
    alias query execute

    def inspect = "#<#{self.class} #{sql.inspect}>"
  end
end
