# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

require "spec_helper"
require "sequel"

RSpec.describe "Sequel's adapter" do
  before(:all) { @db = Sequel.connect(Pool::URI) }
  after(:all) { @db.disconnect }

  let(:db) { @db }

  before do
    db.create_table!(:fish) do
      primary_key :id
      String :name, unique: true
      Float :length
      BigDecimal :price, size: [10, 2]
      Date :seen_on
      DateTime :seen_at
      Time :wakes_at, only_time: true
      TrueClass :is_blind
      File :picture
    end
  end
  after { db.drop_table?(:fish) }

  def add(*names) = names.each { |name| db[:fish].insert(name: name) }

  it "speaks the dialect of the server behind the pool" do
    expect(db.database_type).to eq({ "postgresql" => :postgres, "mysql" => :mysql, "sqlite" => :sqlite }[Pool::BACKEND])
    expect(db.adapter_scheme).to eq(:cenote)
  end

  it "gives back what it was given" do
    fish = {
      name: "it's a \\ carp", length: 61.5, price: BigDecimal("12.30"), seen_on: Date.new(2024, 2, 29),
      seen_at: Time.local(2024, 2, 29, 12, 30, 15), wakes_at: Sequel::SQLTime.create(6, 7, 8), is_blind: true,
      picture: Sequel.blob("\0\\'\xff".b)
    }
    id = db[:fish].insert(fish)
    expect(db[:fish].first(id: id)).to eq(fish.merge(id: id))
    expect(db[:fish].get(:picture)).to be_a(Sequel::SQL::Blob)
    db[:fish].update(fish.transform_values { nil })
    expect(db[:fish].first(id: id)).to eq(fish.transform_values { nil }.merge(id: id))
  end

  it "binds values, and prepares statements" do
    add("carp", "tetra")
    expect(db[:fish].where(name: :$n).call(:select, n: "carp").map { |r| r[:name] }).to eq(%w[carp])
    by_name = db[:fish].where(name: :$n).prepare(:first, :by_name)
    expect(%w[tetra carp pike].map { |name| by_name.call(n: name)&.fetch(:name) }).to eq(["tetra", "carp", nil])
    blob = db[:fish].prepare(:insert, :with_picture, name: :$n, picture: :$p, is_blind: :$b, seen_on: :$d)
    blob.call(n: "pike", p: Sequel.blob("\0\xff".b), b: false, d: Date.new(2024, 1, 2))
    expect(db[:fish].first(name: "pike")).to include(picture: "\0\xff".b, is_blind: false, seen_on: Date.new(2024, 1, 2))
  end

  it "counts rows, and tells the id of a new one" do
    first = db[:fish].insert(name: "carp")
    expect(db[:fish].insert(name: "tetra")).to eq(first + 1)
    expect(db[:fish].update(length: 5)).to eq(2)
    expect(db[:fish].update(length: 5)).to eq(2) # found, if not changed
    expect(db[:fish].where(name: "carp").delete).to eq(1)
  end

  it "raises Sequel's errors" do
    add("carp")
    expect { add("carp") }.to raise_error(Sequel::UniqueConstraintViolation)
    expect { db["select nothing_like_it"].all }.to raise_error(Sequel::DatabaseError, /nothing_like_it/)
    expect { Sequel.connect(Pool::URI.sub("/main", "/no_such_pool")) }.to raise_error(Sequel::DatabaseConnectionError)
  end

  it "rolls back, also to a savepoint" do
    db.transaction do
      add("carp")
      db.transaction(savepoint: true) do
        add("tetra")
        raise Sequel::Rollback
      end
    end
    expect { db.transaction { add("pike") && raise(IOError) } }.to raise_error(IOError)
    expect(db[:fish].select_map(:name)).to eq(%w[carp])
  end

  it "takes rows by batches, and runs other statements in between" do
    add(*("a".."j"))
    names = []
    db[:fish].order(:name).paged_each(rows_per_fetch: 3) { |row| names << [row[:name], db[:fish].count] }
    expect(names).to eq(("a".."j").map { |name| [name, 10] })
  end

  it "reads the schema" do
    expect(db.tables).to include(:fish)
    types = db.schema(:fish).to_h { |name, column| [name, column[:type]] }
    expect(types).to include(id: :integer, name: :string, length: :float, price: :decimal, seen_on: :date, is_blind: :boolean)
    expect(db.indexes(:fish).values.map { |index| index[:columns] }).to include([:name])
  end

  it "drops a connection whose session is lost", only: %w[postgresql mysql] do
    kill = { "postgresql" => "select pg_terminate_backend(%d)", "mysql" => "kill %d" }[Pool::BACKEND]
    pid = { "postgresql" => "select pg_backend_pid()", "mysql" => "select connection_id()" }[Pool::BACKEND]
    other = connect
    expect do
      db.transaction { other.query(format(kill, db[pid].get)) && add("carp") }
    end.to raise_error(Sequel::DatabaseDisconnectError)
    expect(db[:fish].count).to eq(0)
    other.close
  end

  it "has PostgreSQL's copies and notifications", only: %w[postgresql] do
    db.copy_into(:fish, columns: [:name], data: "carp\ntetra\n")
    expect(db.copy_table(db[:fish].select(:name).order(:name))).to eq("carp\ntetra\n")
    db.copy_into(:fish, columns: [:name], data: ["pi", "ke\n"])
    expect(db[:fish].count).to eq(3)
    expect { db.copy_into(:fish, columns: [:name], data: "carp\n") }.to raise_error(Sequel::UniqueConstraintViolation)
    expect { db.copy_table(:fish) { |_| break } }.to raise_error(Sequel::DatabaseDisconnectError)
    heard = []
    tell = ->(_) { connect { |other| other.query("notify news, 'carp'") } }
    expect(db.listen(:news, after_listen: tell, timeout: 10) { |*told| heard = told }).to eq("news")
    expect(heard.values_at(0, 2)).to eq(%w[news carp])
    expect(db.listen(:news, timeout: 0.05)).to be_nil
  end

  it "tells the fields of PostgreSQL's errors, and reads its arrays", only: %w[postgresql] do
    db.extension(:pg_array)
    expect(db["select array[true, false, null] as b, array['a', 'b'] as t"].first).to eq(b: [true, false, nil], t: %w[a b])
    add("carp")
    begin
      add("carp")
    rescue Sequel::UniqueConstraintViolation => e
      expect(db.error_info(e)).to include(table: "fish", constraint: "fish_name_key", sql_state: "23505")
    end
  end
end
