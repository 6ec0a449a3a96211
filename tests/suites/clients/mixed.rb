# SPDX-License-Identifier: BSD-2-Clause
# What the Ruby programs of tests/suites/mixed do in each round, and the answers that they must get: as mixed.py.
#
# A program says in a subclass how its library does ask(sql, *values), which returns rows, transaction and savepoint with a
# block that may raise Rollback, sqlstate(error), prepared(sql, values) and cursor(sql). Placeholders are "?".
class Mixed
	class Rollback < StandardError; end

	def initialize
		@tenant, @rounds = ARGV[0].to_i, ARGV[1].to_i
		@simple = ARGV[2] == 'simple'
		@name = "mixed-#{@tenant}"
	end

	# Libraries differ in whether they convert numbers.
	def same(what, got, wanted)
		return if got.map { |row| row.map(&:to_s) } == wanted.map { |row| row.map(&:to_s) }
		abort "#{what}: got #{got.inspect}, wanted #{wanted.inspect}"
	end

	def undone(context, &act)
		send(context) { act.call; raise Rollback }
	rescue Rollback
		nil
	end

	def fails(sql, state)
		ask(sql)
	rescue StandardError => e
		same(sql, [[sqlstate(e)]], [[state]])
	else
		abort "#{sql}: no error"
	end

	def count(what, n)
		same(what, ask('select count(*) from entry where tenant = ?', @tenant), [[n]])
	end

	def delete
		ask('delete from entry where tenant = ?', @tenant)
		count('delete', 0)
	end

	def transactions(n)
		transaction do
			ask('update account set n = n + 1 where tenant = ?', @tenant)
			ask('insert into entry values (?, ?)', @tenant, n)
		end
		same('commit', ask('select n from account where tenant = ?', @tenant), [[n]])
		undone(:transaction) { delete }
		count('rollback', n)
		transaction do
			ask('insert into entry values (?, ?)', @tenant, -n)
			undone(:savepoint) { delete }
			count('savepoint', n + 1)
			savepoint { ask('delete from entry where tenant = ? and n < 0', @tenant) }
		end
		count('savepoint released', n)
		undone(:transaction) { delete; error }
		count('error', n)
	end

	def temporary
		ask('create temporary table scratch (g int)')
		ask('insert into scratch values (?), (15)', @tenant)
		same('temporary table', ask('select cast(sum(g) as int) from scratch'), [[15 + @tenant]])
		ask('drop table scratch')
	end

	# Without the lock, the programs would overwrite each other's numbers.
	def locked
		lock
		n = ask('select n from shared')[0][0].to_i
		ask('update shared set n = ?', n + 1)
		unlock
	end

	def run
		set_own unless @simple
		(1..@rounds).each do |n|
			plain(n)
			transactions(n)
			in_transaction
			next if @simple
			own
			same('prepared', prepared("select cast(? as int) * 100 + #{@tenant} from account where tenant = #{@tenant}", 0..9),
				(0..9).map { |i| [i * 100 + @tenant] })
			temporary
			locked
			own
		end
		puts "#{@rounds} rounds"
	end
end

# On PostgreSQL.
class MixedPostgreSQL < Mixed
	def set_own
		ask("set time zone 'Etc/GMT-#{@tenant}'")
		ask("set search_path = tenant_#{@tenant}, public")
		ask("set app.tenant = '#{@tenant}'")
	end

	def own
		same('own settings', ask("select current_setting('app.tenant'), current_setting('TimeZone') as zone,
			current_setting('application_name') as name, (select tenant from mine)"),
			[[@tenant, "Etc/GMT-#{@tenant}", @name, @tenant]])
	end

	def plain(n)
		text = "it's \\ \"%s\" Grüße"
		same('plain', ask("select count(*), sum(g) from generate_series(1, #{n}) g"), [[n, n * (n + 1) / 2]])
		same('parameters', ask('select cast(? as int) + 1 as a, cast(? as text) as b, cast(? as text) as c', n, text, nil), [[n + 1, text, nil]])
	end

	def error
		fails('select 1/0', '22012')
		fails('select 1', '25P02')
	end

	def in_transaction
		transaction do
			ask("set local app.tenant = 'local'")
			ask("set local timezone = 'Asia/Tokyo'")
			same('set local', ask("select current_setting('app.tenant'), current_setting('TimeZone') as zone"), [%w[local Asia/Tokyo]])
		end
		transaction do
			same('cursor', cursor("select g * #{@tenant} from generate_series(1, 50) g"), (1..50).map { |g| [g * @tenant] })
		end
	end

	def lock
		ask('select cast(pg_advisory_lock(7) as text)')
	end

	def unlock
		same('unlock', ask('select cast(pg_advisory_unlock(7) as int)'), [[1]])
	end
end

class MixedMariaDB < Mixed
	def zone
		format('+%02d:00', @tenant)
	end

	def set_own
		ask("set time_zone = '#{zone}', group_concat_max_len = #{1000 + @tenant}")
		ask("set @tenant = #{@tenant}")
	end

	def own
		same('own settings', ask('select @tenant, @@time_zone, @@group_concat_max_len'), [[@tenant, zone, 1000 + @tenant]])
	end

	def plain(n)
		text = "it's \\ \"%s\" Grüße"
		same('plain', ask("select count(*), cast(sum(seq) as int) from seq_1_to_#{n}"), [[n, n * (n + 1) / 2]])
		same('parameters', ask('select ? + 1, concat(?), concat(?)', n, text, nil), [[n + 1, text, nil]])
	end

	def error
		fails('select * from nowhere', '42S02')
		count('after the error', 0)
	end

	def in_transaction
		transaction do
			same('cursor', cursor("select seq * #{@tenant} from seq_1_to_50"), (1..50).map { |g| [g * @tenant] })
		end
	end

	def lock
		same('lock', ask("select get_lock('mixed', 100)"), [[1]])
	end

	def unlock
		same('unlock', ask("select release_lock('mixed')"), [[1]])
	end
end
