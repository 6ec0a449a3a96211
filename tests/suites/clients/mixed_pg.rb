#!/usr/bin/ruby
# SPDX-License-Identifier: BSD-2-Clause
# Ruby pg: see mixed.rb.
require 'pg'
require_relative 'mixed'

class RubyPg < MixedPostgreSQL
	def initialize
		super
		@db = PG.connect(application_name: @name)
	end

	def dollars(sql)
		i = 0
		sql.gsub('?') { "$#{i += 1}" }
	end

	def ask(sql, *values)
		(values.empty? ? @db.exec(sql) : @db.exec_params(dollars(sql), values)).values
	end

	def transaction(&block)
		@db.transaction(&block)
	end

	def savepoint
		ask('savepoint s')
		yield
	rescue StandardError
		ask('rollback to s')
		raise
	ensure
		ask('release s')
	end

	def sqlstate(error)
		error.result.error_field(PG::PG_DIAG_SQLSTATE)
	end

	# Prepared once, for all rounds.
	def prepared(sql, values)
		@ten ||= @db.prepare('ten', dollars(sql))
		values.map { |value| @db.exec_prepared('ten', [value]).values[0] }
	end

	def cursor(sql)
		ask("declare c cursor for #{sql}")
		rows = []
		while (part = ask('fetch 20 from c')).any?
			rows += part
		end
		rows
	end
end

RubyPg.new.run
