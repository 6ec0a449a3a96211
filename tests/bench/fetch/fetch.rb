# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

# A client of tests/bench/bindings.py: fetch.rb DRIVER

SERVER = ENV.fetch("CENOTE_TEST_SERVER")
SQL = "select * from bench_rows"

def server_options = SERVER.split.to_h { |word| word.split("=", 2) }

# What each driver offers for all rows as arrays.
def fetcher_of(driver)
  require driver
  case driver
  when "cenote"
    db = Cenote.connect(ENV.fetch("CENOTE_TEST_URI"))
    -> { db.query(SQL).values }
  when "pg"
    db = PG.connect(SERVER)
    -> { db.exec(SQL).values }
  when "mysql2"
    options = server_options
    db = Mysql2::Client.new(socket: options["socket"], username: options["user"], database: options["dbname"])
    -> { db.query(SQL, as: :array).to_a }
  end
end

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

fetch = fetcher_of(ARGV.shift)
rows = fetch.call
raise "other rows than those" unless rows.size == 256 && rows[0].size == 16 && rows[-1][-1] == format("%032d", 15)

$stdout.sync = true
puts "ready"
while (line = $stdin.gets)
  count = 0
  finish = now + line.to_f
  while now < finish
    fetch.call
    count += 1
  end
  puts count
end
