# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

# No memory is lost over 10^5 queries of all kinds: on_pool BACKEND 2 ruby leak.rb

require "cenote"

WARM_UP = 20_000
QUERIES = 100_000
# Of the allocator; one byte lost with each query would be 100 kB.
MAY_GROW_KB = 1024

def rss_kb
  3.times { GC.start }
  GC.compact if GC.respond_to?(:compact)
  File.read("/proc/self/statm").split[1].to_i * 4
end

def refused
  yield
  abort "that was to be refused"
rescue Cenote::Error, TypeError
  nil
end

def work(db, count)
  mark = db.backend == "postgresql" ? "$1" : "?"
  (count / 10).times do |i|
    4.times { db.query("select 1.5 as a, null as b, 'text' as c").to_a }
    db.query("select #{mark}", "x" * (i % 100)).value
    db.prepare("select #{mark}").tap { |statement| statement.execute(i.to_s).values }.close
    db.query("select 1 as n union all select 2 union all select 3", stream: 1).each { |row| break if row["n"] == 2 }
    db.query("select 7", types: { int64: :to_i.to_proc }, symbolize_names: true).columns
    refused { db.query("select nothing_like_it") }
    refused { db.query("select #{mark}", Object.new) }
  end
end

Cenote.connect(ENV.fetch("CENOTE_TEST_URI")) do |db|
  work(db, WARM_UP)
  before = rss_kb
  work(db, QUERIES)
  grown = rss_kb - before
  puts "#{grown} kB more after #{QUERIES} queries"
  exit grown < MAY_GROW_KB
end
