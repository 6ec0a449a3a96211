#!/usr/bin/ruby
# SPDX-License-Identifier: BSD-2-Clause
# Sequel on Ruby pg: see mixed.rb.
require 'sequel'
require_relative 'mixed'

class RubySequel < MixedPostgreSQL
	def initialize
		super
		@db = Sequel.connect(adapter: 'postgres', host: ENV['PGHOST'], port: ENV['PGPORT'], user: ENV['PGUSER'],
			database: ENV['PGDATABASE'], max_connections: 1, driver_options: { application_name: @name })
	end

	def ask(sql, *values)
		@db.fetch(sql, *values).all.map(&:values)
	end

	def transaction(&block)
		@db.transaction(&block)
	end

	def savepoint(&block)
		@db.transaction(savepoint: true, &block)
	end

	def sqlstate(error)
		error.wrapped_exception.result.error_field(PG::PG_DIAG_SQLSTATE)
	end

	# Prepared once, for all rounds: an ORM keeps such a statement as long as its connection.
	def prepared(_sql, values)
		@ten ||= @db[:account].where(tenant: @tenant).select(Sequel.cast(:$i, Integer) * 100 + @tenant).prepare(:select, :ten)
		values.map { |value| @ten.call(i: value)[0].values }
	end

	def cursor(sql)
		@db.fetch(sql).use_cursor(rows_per_fetch: 20).map(&:values)
	end
end

RubySequel.new.run
