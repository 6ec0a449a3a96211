# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

require "cenote"

# The pool under test, and what differs between the servers behind pools.
module Pool
  URI = ENV.fetch("CENOTE_TEST_URI") { abort "CENOTE_TEST_URI names no pool" }
  BACKEND = ENV.fetch("CENOTE_TEST_BACKEND")

  def connect(**options, &block) = Cenote.connect(URI, **options, &block)

  def backend?(*names) = names.include?(BACKEND)

  # The Nth placeholder.
  def ph(number) = backend?("postgresql") ? "$#{number}" : "?"

  def numbers(count)
    return "select generate_series(1, #{count}) as n order by n" if backend?("postgresql")
    return "select seq as n from seq_1_to_#{count} order by n" if backend?("mysql")

    "with recursive s(n) as (values (1) union all select n + 1 from s where n < #{count}) select n from s"
  end

  def sleep_sql(seconds)
    { "postgresql" => "select pg_sleep(#{seconds})", "mysql" => "select sleep(#{seconds})" }[BACKEND] ||
      "with recursive s(n) as (values (1) union all select n + 1 from s where n < 100000000) select count(*) from s"
  end
end

RSpec.configure do |config|
  config.include Pool
  config.disable_monkey_patching!
  config.around(:each, :only) do |example|
    if example.metadata[:only].include?(Pool::BACKEND)
      example.run
    else
      skip "for #{example.metadata[:only].join(", ")}"
    end
  end
end
