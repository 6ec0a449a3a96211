# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

require "spec_helper"
require "timeout"
require "tmpdir"

RSpec.describe Cenote do
  let(:db) { connect }
  after { db.close }

  describe ".connect" do
    it "takes a URI, or a pool and options" do
      pool, dir = Pool::URI.match(%r{\Acenote:///(\w+)\?run_dir=(.*)}).captures
      expect(Cenote.connect(pool, run_dir: dir) { |c| c.query("select 1").value }).to eq 1
      expect(Cenote.connect(pool: pool, run_dir: dir, application_name: "spec", &:backend)).to eq Pool::BACKEND
    end

    it "gives the session back at the block's end, also when that raises" do
      kept = nil
      expect { connect { |c| kept = c and raise "stop" } }.to raise_error("stop")
      expect(kept).to be_closed
    end

    it "keeps results in files" do
      Dir.mktmpdir do |dir|
        db.query("create table spec_page (v int)")
        db.query("insert into spec_page values (1)")
        2.times do
          expect(connect(cache: dir) { |c| c.query("select v from spec_page").value }).to eq 1
          db.query("update spec_page set v = 2")
        end
        expect(Dir.children(dir).size).to eq 1
        db.query("drop table spec_page")
      end
    end

    it "says what is wrong with an option, and where there is no pool" do
      expect { connect(databse: "x") }.to raise_error(Cenote::ArgumentError, /is database meant/)
      expect { Cenote.connect("nowhere", run_dir: "/nowhere") }.to raise_error(Cenote::ConnectionError) { |e| expect(e.sqlstate).to eq "08001" }
    end
  end

  describe "#query" do
    it "gives rows as hashes and arrays, by name or symbol" do
      result = db.query("select 1 as a, 'x' as b")
      expect(result.to_a).to eq [{ "a" => 1, "b" => "x" }]
      expect(result.values).to eq [[1, "x"]]
      expect([result[0], result[-1], result[1]]).to eq [{ "a" => 1, "b" => "x" }] * 2 + [nil]
      expect(db.query("select 1 as a", symbolize_names: true).first).to eq(a: 1)
      expect(connect(query_options: { symbolize_names: true }).query("select 1 as a").fields).to eq [:a]
      expect(result.column("b")).to eq ["x"]
      expect(result.map { |row| row["a"] }).to eq [1]
      expect(result.size).to eq 1
    end

    it "tells what a command did" do
      db.query("create temporary table spec_count (n int)")
      expect(db.query("insert into spec_count values (1), (2)").affected_rows).to eq 2
      expect(db.query("select n from spec_count where n > 5").to_a).to eq []
    end

    it "takes values of Ruby's types and gives them back" do
      texts = (1..4).map { |n| backend?("postgresql") ? "$#{n}::#{%w[bigint float8 text bytea][n - 1]}" : "?" }
      values = [-(2**62), 0.1, "grün", "\x00\xff".b]
      back = db.query("select #{texts.join(", ")}", *values).values.first
      expect(back).to eq values
      expect(back[2].encoding).to eq Encoding::UTF_8
      expect(back[3].encoding).to eq Encoding::BINARY
      expect(db.query("select coalesce(#{ph(1)}, 'was nil') as v", nil).value).to eq "was nil"
    end

    it "gives exact numbers, dates and times as Ruby's", only: %w[postgresql mysql] do
      row = db.query("select 1.50 as n, date '2020-02-29' as d, timestamp '2020-01-02 03:04:05.25' as t").first
      expect(row).to eq("n" => BigDecimal("1.5"), "d" => Date.new(2020, 2, 29), "t" => Time.utc(2020, 1, 2, 3, 4, 5.25r))
      casts = backend?("postgresql") ? %w[$1::numeric $2::date $3::timestamptz] : %w[? ? ?]
      # a moment that has an offset is for servers that know of them
      moment = backend?("postgresql") ? Time.new(2020, 1, 2, 3, 4, 5.5r, "+02:00") : "x"
      back = db.query("select #{casts.join(", ")}", BigDecimal("-12345678901234567890.125"), Date.new(1999, 12, 31), moment).values.first
      expect(back[0]).to eq BigDecimal("-12345678901234567890.125")
      expect([back[1], back[2]]).to eq [Date.new(1999, 12, 31), moment]
    end

    it "makes values by a block for their type, or none" do
      expect(db.query("select 5 as n", types: { int64: ->(text) { "<#{text}>" } }).value).to eq "<5>"
      expect(db.query("select 5 as n", cast: false).value).to eq "5"
      expect { db.query("select 1", nonsense: 1) }.to raise_error(::ArgumentError, /nonsense/)
    end

    it "takes a list as an array where the server has arrays", only: %w[postgresql] do
      list = ["a", "b,c", %(d"e\\f), nil, "NULL", "grün", ""]
      expect(db.query("select array_to_string($1::text[], '|', '-')", list).value).to eq %(a|b,c|d"e\\f|-|NULL|grün|)
      expect(db.query("select ($1::int[])[2][1]", [[1, 2], [3, 4]]).value).to eq 3
      expect(db.query("select cardinality($1::int[])", []).value).to eq 0
      expect(db.query("select 5 = any($1), $2::int", [4, 5], 6).values).to eq [[true, 6]]
      expect(db.prepare("select ($1::bytea[])[1]").execute(["\x00\xff".b]).value).to eq "\x00\xff".b
      moment = Time.new(2020, 1, 2, 3, 4, 5.5r, "+02:00")
      row = db.query("select ($1::bool[])[1], ($2::date[])[1], ($3::timestamptz[])[1], ($4::numeric[])[1]",
                     [true], [Date.new(1999, 12, 31)], [moment], [BigDecimal("1.50")]).values.first
      expect(row).to eq [true, Date.new(1999, 12, 31), moment, BigDecimal("1.5")]
      expect { db.query("select $1::text[]", [Object.new]) }.to raise_error(TypeError, /Object cannot be bound/)
    end

    it "says where the server has no arrays", only: %w[mysql sqlite] do
      expect { db.query("select ?, ?", [1, 2]) }.to raise_error(TypeError, /pool of #{Pool::BACKEND} has no arrays.*exec_params/)
      expect { db.prepare("select ?").execute([1]) }.to raise_error(TypeError, /no arrays/)
      expect(db.query("select 1").value).to eq 1
    end

    it "refuses what it cannot bind, and the session lives on" do
      expect { db.query("select #{ph(1)}", Object.new) }.to raise_error(TypeError, /Object cannot be bound/)
      expect(db.query("select 1").value).to eq 1
    end

    it "raises what the server says, and the session lives on" do
      expect { db.query("select * from nowhere") }.to raise_error(Cenote::ServerError, /nowhere/) { |e|
        expect(e.sqlstate).to match(/\A42/)
        expect(e.fields).to include("M", "C")
      }
      expect(db.query("select 1").value).to eq 1
    end

    it "streams in bounded memory, with other statements in between" do
      rows = db.query(numbers(100), stream: 7)
      sum = rows.each_row.sum { |(n)| n + db.query("select 0").value }
      expect(sum).to eq 5050
      db.query(numbers(100), stream: 7).first
      expect(db.query("select 2").value).to eq 2
    end
  end

  it "takes a list of values with #exec_params" do
    expect(db.exec_params("select #{ph(1)} as a, 2 as b", ["x"], symbolize_names: true).to_a).to eq [{ a: "x", b: 2 }]
    expect(db.exec_params("select 1").value).to eq 1
    expect(db.exec_params(numbers(3), stream: 1).each_row.to_a).to eq [[1], [2], [3]]
    expect { db.exec_params("select 1; select 2") }.to raise_error(Cenote::Error) unless backend?("sqlite")
  end

  describe "#escape_literal" do
    let(:texts) { ["it's", "", "\\", "back\\slash's", "\\' or 1=1 -- ", "grün 🐟", "line\nand\ttab"] }

    def come_back
      texts.each { |text| expect(db.query("select #{db.escape_literal(text)} as t").value).to eq text }
      expect(db.query("select length(#{db.escape_literal("\x00\xff'\\x41".b)}) as n").value).to eq 7
    end

    it "writes texts and bytes that come back as they were" do
      come_back
      expect(db.escape_literal(nil)).to eq "NULL"
      expect(db.escape_literal(:a)).to eq "'a'"
      expect { db.escape_literal(1) }.to raise_error(TypeError)
      expect { db.escape_literal("\xff") }.to raise_error(::ArgumentError)
    end

    it "does so in sessions that read a backslash otherwise", only: %w[mysql postgresql] do
      db.query(backend?("mysql") ? "set sql_mode = 'NO_BACKSLASH_ESCAPES'" : "set standard_conforming_strings = off")
      come_back
    end

    it "writes bytes where a character's end may look like a quote", only: %w[mysql] do
      db.query("set names gbk")
      expect(db.escape_literal("it's")).to eq "'it''s'"
      expect(db.escape_literal("縗' or 1=1 -- ")).to eq "_utf8mb4 x'#{"縗' or 1=1 -- ".unpack1("H*")}'"
    end

    it "refuses a zero byte where SQL holds none" do
      if backend?("mysql")
        expect(db.query("select #{db.escape_literal("a\0b")} as t").value).to eq "a\0b"
      else
        expect { db.escape_literal("a\0b") }.to raise_error(::ArgumentError, /zero byte/)
      end
    end
  end

  it "writes names with #escape_identifier" do
    names = ["we\"ird", "back`tick", "sp ace"]
    names.each { |name| expect(db.query("select 1 as #{db.escape_identifier(name)}").fields).to eq [name] }
    expect(db.quote_ident(:a)).to eq(backend?("mysql") ? "`a`" : '"a"')
    expect { db.escape_identifier("a\0") }.to raise_error(::ArgumentError)
  end

  it "has a class of error for each kind of constraint" do
    engine = backend?("mysql") ? "engine=innodb" : ""
    db.query("drop table if exists spec_child")
    db.query("drop table if exists spec_parent")
    db.query("create table spec_parent (id int primary key, n int not null, constraint spec_n check (n > 0)) #{engine}")
    db.query("create table spec_child (id int, foreign key (id) references spec_parent (id)) #{engine}")
    db.query("pragma foreign_keys = on") if backend?("sqlite")
    db.query("insert into spec_parent values (1, 1)")
    {
      "insert into spec_parent values (1, 2)" => Cenote::UniqueViolation,
      "insert into spec_parent values (2, null)" => Cenote::NotNullViolation,
      "insert into spec_parent values (2, -1)" => Cenote::CheckViolation,
      "insert into spec_child values (7)" => Cenote::ForeignKeyViolation
    }.each do |sql, error|
      expect { db.query(sql) }.to raise_error(error)
      expect(error.ancestors).to include(Cenote::ConstraintError, Cenote::ServerError, Cenote::Error)
    end
    expect { db.query("select * from nowhere") }.to raise_error { |e| expect(e).to be_an_instance_of(Cenote::ServerError) }
  ensure
    db.query("drop table spec_child")
    db.query("drop table spec_parent")
  end

  it "has classes for data that do not fit, and for transactions to try again", only: %w[postgresql] do
    expect { db.query("select 1 / 0") }.to raise_error(Cenote::DataError)
    retry_me = "do $$ begin raise sqlstate '40001'; end $$"
    expect { db.query(retry_me) }.to raise_error(Cenote::TransactionRollback)
  end

  it "gives all results of several statements" do
    expect(db.query_all("select 1 as a; select 2 as b").map(&:to_a)).to eq [[{ "a" => 1 }], [{ "b" => 2 }]]
    expect { db.query_all("select 1; select nonsense") }.to raise_error(Cenote::ServerError)
    expect(db.query("select 3").value).to eq 3
  end

  it "prepares statements" do
    statement = db.prepare("select #{ph(1)} as v, 1 as one")
    expect(statement.fields).to eq %w[v one]
    expect(statement.param_types.size).to eq 1
    expect(%w[a b].map { |v| statement.execute(v).first["v"] }).to eq %w[a b]
    expect(statement.execute("c", symbolize_names: true).first).to eq(v: "c", one: 1)
    statement.close
    expect { statement.execute("d") }.to raise_error(Cenote::StateError, /closed/)
  end

  describe "#transaction" do
    before { db.query("create table if not exists spec_tx (n int)") && db.query("delete from spec_tx") }
    after { db.query("drop table spec_tx") }
    let(:count) { -> { db.query("select count(*) from spec_tx").value } }

    it "commits, and gives the block's value" do
      expect(db.transaction { |c| c.query("insert into spec_tx values (1)") && c.in_transaction? }).to be true
      expect([count.call, db.in_transaction?]).to eq [1, false]
    end

    it "rolls back when the block raises or is left" do
      expect { db.transaction { db.query("insert into spec_tx values (1)") && raise("no") } }.to raise_error("no")
      catch(:out) { db.transaction { throw :out } }
      expect(count.call).to eq 0
    end

    it "has isolation levels" do
      expect(db.transaction(isolation: :serializable, read_only: true) { count.call }).to eq 0
      expect { db.transaction(isolation: :none) { nil } }.to raise_error(KeyError)
    end
  end

  it "cancels from another thread", only: %w[postgresql sqlite] do
    thread = Thread.new { db.query(sleep_sql(20)) rescue $! }
    cancelled = nil
    Timeout.timeout(10) { sleep 0.05 until (cancelled = db.cancel) }
    expect(thread.value).to be_a(Cenote::QueryCanceled).and have_attributes(sqlstate: "57014")
    expect(db.query("select 1").value).to eq 1
  end

  it "lets other threads run while it waits, and gives the session up when it is interrupted" do
    ticks = 0
    ticker = Thread.new { loop { ticks += 1 and sleep 0.01 } }
    expect { Timeout.timeout(0.3) { db.query(sleep_sql(20)) } }.to raise_error(Timeout::Error)
    ticker.kill
    expect(ticks).to be > 3
    expect(db).to be_closed
  end

  it "is for one thread at a time" do
    other = Thread.new { db.query(sleep_sql(1)) rescue nil }
    sleep 0.1
    expect { db.query("select 1") }.to raise_error(Cenote::StateError, /another thread or fiber/)
    other.kill.join
  end

  it "keeps what a call waits with, whatever other threads do", only: %w[postgresql] do
    statement = db.prepare("select pg_sleep(1), $1::int")
    thread = Thread.new { statement.execute(7).to_a.first.values.last }
    Thread.pass until thread.stop?
    expect { statement.close }.to raise_error(Cenote::StateError, /another thread or fiber/)
    expect(thread.value).to eq 7
    rows = db.query("select n, pg_sleep(n / 2) from generate_series(1, 2) n", stream: 1)
    thread = Thread.new { rows.each_row.map(&:first) }
    Thread.pass until thread.stop?
    expect { rows.clear }.to raise_error(Cenote::StateError, /another thread or fiber/)
    expect(thread.value).to eq [1, 2]
    statement.close
    rows.clear
  end

  it "copies a string as it was, whatever other threads make of it meanwhile", only: %w[postgresql] do
    db.query("create temp table spec_slow (a int)")
    db.query(<<~SQL)
      create function pg_temp.slow() returns trigger language plpgsql as
        $$ begin if new.a = 0 then perform pg_sleep(1); end if; return new; end $$;
      create trigger slow before insert on spec_slow for each row execute function pg_temp.slow()
    SQL
    data = "7\n" * 1_000_000
    pieces = Enumerator.new do |all|
      all << "0\n#{"1\n" * 8_000_000}"
      Thread.current[:is_begun] = true
      all << data
    end
    thread = Thread.new { db.copy_in("copy spec_slow from stdin", pieces) }
    Thread.pass until thread[:is_begun] && thread.stop?
    data.replace("8\n" * 1_000_000)
    thread.join
    expect(db.query("select a, count(*) from spec_slow where a > 1 group by a").values).to eq [[7, 1_000_000]]
  end

  it "gives what is no decimal as its text", only: %w[sqlite] do
    db.query("create temp table spec_decimal (d decimal(10, 2))")
    db.query("insert into spec_decimal values ('none')")
    expect(db.query("select d from spec_decimal").value).to eq "none"
  end

  it "asks a fiber scheduler to wait" do
    waits = []
    scheduler = Class.new do
      define_method(:io_wait) { |io, events, timeout|
        waits << events
        IO.select([io], nil, nil, timeout) ? events : false
      }
      def block(*) = nil
      def unblock(*) = nil
      def kernel_sleep(*) = nil
      def close = nil
      def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:resume)
    end
    value = nil
    Thread.new do
      Fiber.set_scheduler(scheduler.new)
      # several, since on a busy machine an answer may be there before the wait for it
      Fiber.schedule do
        slow = "select count(*) from (#{numbers(10_000)}) s"
        connect { |c| 300.times { break if (value = c.query(slow).value) && waits.any? } }
      end
    end.join
    expect(value).to eq 10_000
    expect(waits).not_to be_empty
  end

  it "survives the collector moving things" do
    rows = db.query("select 1 as a", types: { int64: ->(text) { "#{text}!" } })
    statement = db.prepare("select 2 as b")
    GC.verify_compaction_references(double_heap: true, toward: :empty)
    expect([rows.value, statement.execute.value]).to eq ["1!", 2]
  end

  it "tells of notices and notifications", only: %w[postgresql] do
    heard = []
    db.on_notice { |severity, sqlstate, message| heard << [severity, sqlstate, message] }
    db.on_notification { |channel, payload, _pid| heard << [channel, payload] }
    db.query("do $$ begin raise notice 'hello'; end $$")
    db.query("listen spec")
    expect(db.wait_for_notify(0)).to be false
    connect { |c| c.query("notify spec, 'there'") }
    expect(db.wait_for_notify(5)).to be true
    expect(heard).to eq [["NOTICE", "00000", "hello"], %w[spec there]]
  end

  it "waits for the next notification with a block, as pg does", only: %w[postgresql] do
    db.query("listen spec")
    expect(db.wait_for_notify(0.01) { raise "nothing was said" }).to be_nil
    connect { |c| 2.times { |n| c.query("notify spec, 'no. #{n}'") } }
    # the first may come with this answer
    db.query("select 1")
    heard = []
    2.times { expect(db.wait_for_notify(5) { |channel, pid, payload| heard << [channel, pid.class, payload] }).to eq "spec" }
    expect(heard).to eq [["spec", Integer, "no. 0"], ["spec", Integer, "no. 1"]]
    all = []
    db.on_notification { |_channel, payload, _pid| all << payload }
    connect { |c| c.query("notify spec, 'block'") }
    expect(db.wait_for_notify(5) { |_channel, _pid, payload| heard << payload }).to eq "spec"
    connect { |c| c.query("notify spec, 'handler'") }
    expect(db.wait_for_notify(5)).to be true
    expect([heard.last, all]).to eq ["block", ["handler"]]
    thread = Thread.new { connect { |c| c.query("select pg_terminate_backend(#{db.query("select pg_backend_pid()").value})") } }
    thread.join
    expect { db.wait_for_notify { nil } }.to raise_error(Cenote::Error)
  end

  it "raises what a block for notices raises", only: %w[postgresql] do
    db.on_notice { raise "no notices please" }
    expect { db.query("do $$ begin raise notice 'hello'; end $$") }.to raise_error("no notices please")
    expect(db.query("select 1").value).to eq 1
  end

  it "copies in and out", only: %w[postgresql] do
    db.query("create temp table spec_copy (a int, b text)")
    expect(db.copy_in("copy spec_copy from stdin", ["1\tx\n", "2\t\\N\n"]).affected_rows).to eq 2
    pieces = []
    db.copy_out("copy spec_copy to stdout") { |piece| pieces << piece }
    expect(pieces.join).to eq "1\tx\n2\t\\N\n"
    expect { db.copy_in("copy spec_copy from stdin", [1].lazy.map { raise "stop" }) }.to raise_error("stop")
    expect(db.query("select count(*) from spec_copy").value).to eq 2
  end

  it "keeps a copy open while the collector runs", only: %w[postgresql] do
    db.query("create temp table spec_kept (a int)")
    pieces = (1..50).lazy.map { |n| "#{n}\n".tap { GC.start } }
    expect(db.copy_in("copy spec_kept from stdin", pieces).affected_rows).to eq 50
    lines = 0
    db.copy_out("copy spec_kept to stdout") { lines += 1.tap { GC.start } }
    expect(lines).to eq 50
  end

  it "gives its memory back" do
    rss = -> { File.read("/proc/self/statm").split[1].to_i * 4 }
    run = ->(n) { n.times { db.query("select 1 as a, 'some text' as b", symbolize_names: true).to_a } }
    # the examples before leave the heap in pieces
    run.call(20_000)
    GC.start
    before = rss.call
    run.call(Integer(ENV.fetch("CENOTE_SPEC_QUERIES", "20000")))
    GC.start
    expect(rss.call - before).to be < 4096
  end

  it "runs the program in README.md" do
    program = File.read("#{__dir__}/../README.md")[/^```ruby\n(.*?)^```/m, 1]
    expect(program).to eq File.read("#{__dir__}/../examples/fish.rb")
    expect(`#{RbConfig.ruby} #{__dir__}/../examples/fish.rb "#{Pool::URI}"`).to eq "cave fish: 8.25 cm\n"
  end
end
