#!/usr/bin/ruby
# SPDX-License-Identifier: BSD-2-Clause
# Ruby mysql2: see mixed.rb.
require 'mysql2'
require_relative 'mixed'

class RubyMysql2 < MixedMariaDB
	def initialize
		super
		@db = Mysql2::Client.new(host: 'localhost', socket: ENV['MIXED_SOCKET'], username: 'test', password: 'test',
			database: 'mixed', as: :array)
	end

	def ask(sql, *values)
		return @db.query(sql).to_a if values.empty?
		statement = @db.prepare(sql)
		statement.execute(*values, as: :array).to_a
	ensure
		statement&.close
	end

	def transaction
		ask('begin')
		yield
	rescue StandardError
		ask('rollback')
		raise
	else
		ask('commit')
	end

	def savepoint
		ask('savepoint s')
		yield
	rescue StandardError
		ask('rollback to savepoint s')
		raise
	ensure
		ask('release savepoint s')
	end

	def sqlstate(error)
		error.sql_state
	end

	# Prepared once, for all rounds.
	def prepared(sql, values)
		@ten ||= @db.prepare(sql)
		values.map { |value| @ten.execute(value, as: :array).first }
	end

	def cursor(sql)
		@db.query(sql, stream: true, cache_rows: false, as: :array).to_a
	end
end

RubyMysql2.new.run
