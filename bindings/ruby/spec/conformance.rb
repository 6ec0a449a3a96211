# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

# usage: ruby conformance.rb CASES.json [QUIRKS]
#
# Runs the shared conformance cases (tests/conformance/README.md) on the pool CENOTE_TEST_URI, with the
# cases as case_json gives them; in TAP. What the binding has no call for is skipped, and says so.

require "cenote"
require "json"

class Unsupported < StandardError; end
class Mismatch < StandardError; end

# Each character of a text in the file is a byte.
def bytes(text) = text&.encode("ISO-8859-1")&.b

def expect(what, wanted, seen)
  raise Mismatch, "#{what}: wanted #{wanted.inspect}, not #{seen.inspect}" unless wanted == seen
end

def decode_time(text, kind)
  return DateTime.parse(text).to_time if kind == "timestamp" && text.match?(/[+-]\d\d:\d\d\z/)
  raise Unsupported, "Ruby has no #{kind} without a date or offset" unless kind == "date"

  Date.parse(text)
end

def value_of(bind)
  text = bytes(bind["value"])
  case bind["type"]
  when "null" then nil
  when "bool" then text == "1"
  when "int64", "uint64" then Integer(text)
  when "double" then text.match?(/\A-?[\d.e+-]+\z/i) ? Float(text) : { "NaN" => Float::NAN, "Infinity" => Float::INFINITY, "-Infinity" => -Float::INFINITY }.fetch(text)
  when "decimal" then BigDecimal(text)
  when "text" then (text || "").dup.force_encoding("UTF-8")
  when "bytes" then text || "".b
  when "date", "time", "timestamp" then decode_time(text, bind["type"])
  else raise Unsupported, "Ruby has no #{bind["type"]} to bind"
  end
end

# Values are compared as the text that came, in its canonical form, also where a case speaks of the
# server's own.
def same?(wanted, seen, type)
  return wanted.nil? && seen.nil? if wanted.nil? || seen.nil?

  seen = seen.b
  return true if wanted == seen

  case type
  when :bool then { "1" => %w[t true 1], "0" => %w[f false 0] }.fetch(seen).include?(wanted)
  when :bytes then wanted.start_with?("\\x") && [wanted[2..]].pack("H*") == seen
  when :double then Float(wanted) == Float(seen)
  else false
  end
end

def check_rows(expected, result)
  if expected["columns"]
    expect("columns", expected["columns"].map { |c| bytes(c["name"]) }, result.fields.map(&:b))
    expected["columns"].zip(result.types) { |c, type| expect("type of #{c["name"]}", c["type"], type.to_s) unless c["type"].empty? }
  end
  expect("number of columns", expected["column_count"], result.fields.size) if expected["column_count"]
  rows = result.values
  expect("number of rows", expected["row_count"] || expected["rows"].size, rows.size) unless result.fields.empty?
  expected["rows"].each_with_index do |row, r|
    expect("values in row #{r}", row.size, rows[r].size)
    row.zip(rows[r], result.types).each_with_index do |(wanted, seen, type), c|
      expect("row #{r}, column #{c}", bytes(wanted), seen) unless same?(bytes(wanted), seen, type)
    end
  end
end

def check_result(expected, result)
  check_rows(expected, result)
  expect("tag", expected["tag"], result.tag) if expected["tag"]
  expect("affected rows", expected["affected"], result.affected_rows || -1) if expected["affected"]
  expect("insert id", expected["insert_id"], result.last_id) if expected["insert_id"]
  expect("output values", expected.key?("has_output"), result.output?)
end

def check_error(expected, error)
  raise Mismatch, "failed: #{error.message}" unless expected["sqlstate"]
  raise Mismatch, "SQLSTATE: wanted #{expected["sqlstate"]}, not #{error.sqlstate}: #{error.message}" unless error.sqlstate.start_with?(expected["sqlstate"])

  expect("native code", expected["native"], error.native) if expected["native"]
  expect("position", expected["position"], error.fields["P"]) if expected["position"]
  return unless expected["message"]

  raise Mismatch, "message: #{error.message}" unless error.message.b.include?(bytes(expected["message"]))
end

def execute(db, step, way)
  sql = bytes(step["sql"]).force_encoding("UTF-8")
  values = step["binds"].map { |bind| value_of(bind) }
  case way
  when "query" then db.send(:run, sql, values.empty? && !step["is_extended"] ? nil : values, nil).map { |r| db.send(:dress, r, cast: false) }
  when "streamed" then [db.exec_params(sql, values, cast: false, stream: 2)]
  when "prepared" then [db.prepare(sql).execute(*values, cast: false)]
  end
end

def run_sql(db, step, way)
  results = execute(db, step, way)
  failing = step["expects"].find { |e| e["sqlstate"] }
  results.each(&:values) if failing
  raise Mismatch, "it did not fail" if failing

  expect("number of results", step["expects"].size, results.size)
  step["expects"].zip(results) { |expected, result| check_result(expected, result) }
rescue Cenote::Error => e
  check_error(step["expects"].find { |x| x["sqlstate"] } || step["expects"].last, e)
end

OPS = %w[commit rollback ping reset].freeze

def run_op(db, step)
  expected = step["expects"].first || {}
  words = step["args"].to_s.split
  case step["op"]
  when *OPS then db.public_send(step["op"])
  when "begin" then db.begin(isolation: words.include?("serializable") ? :serializable : :default,
                             read_only: words.include?("read_only"), immediate: words.include?("immediate"))
  when "autocommit" then db.autocommit = words.first == "1"
  else raise Unsupported, "no call for #{step["op"]}"
  end
  raise Mismatch, "it did not fail" if expected["sqlstate"]
rescue Cenote::Error => e
  check_error(expected, e)
end

LACKING = { "n_formats" => "formats of columns", "max_rows" => "limit of rows", "copy_in" => "copies in this runner", "copy_fail" => "copies in this runner" }.freeze
LACKING_RESULTS = { "copy_out" => "copies in this runner", "notices" => "notices in this runner", "parameters" => "parameters in this runner", "params" => "descriptions" }.freeze

def check_supported(test, way)
  raise Unsupported, "not for prepared statements" if way == "prepared" && test["not_ways"].split.include?("prepared")
  raise Unsupported, "query and execute give the last result only" if way != "query" && test["steps"].any? { |s| s["expects"].size > 1 }

  test["steps"].each do |step|
    raise Unsupported, "no binary values" if step["format"] == 2
    raise Unsupported, "no copies in this runner" if step["sql"].to_s.match?(/\Acopy /i)

    (LACKING.keys & step.keys).each { |key| raise Unsupported, "no #{LACKING[key]}" }
    step["expects"].each { |e| (LACKING_RESULTS.keys & e.keys).each { |key| raise Unsupported, "no #{LACKING_RESULTS[key]}" } }
  end
end

def run_case(test, way)
  check_supported(test, way)
  Cenote.connect(ENV.fetch("CENOTE_TEST_URI")) do |db|
    test["setup"].each { |sql| db.query(bytes(sql).force_encoding("UTF-8")) }
    test["steps"].each do |step|
      step["sql"] ? run_sql(db, step, way) : run_op(db, step)
      tx = step["expects"].last&.fetch("tx", nil)
      expect("transaction", tx != 0, db.in_transaction?) if tx
    rescue Mismatch => e
      raise Mismatch, "line #{step["line"]}: #{e.message}"
    end
  end
end

quirks = (ARGV[1] ? File.readlines(ARGV[1], chomp: true) : []).filter_map { |line| line.match(/\A([^#\s]\S*) (.+?): (.+)/)&.captures }
                                                             .to_h { |way, name, why| ["#{way} #{name}", why] }
number = failed = 0
JSON.parse(File.read(ARGV[0])).product(%w[query streamed prepared]) do |test, way|
  number += 1
  name = "#{number} - #{bytes(test["name"])} (#{way})"
  known = quirks["#{way} #{test["name"]}"] || quirks["* #{test["name"]}"]
  begin
    run_case(test, way)
    problem = known && "passes, but is listed as a quirk"
  rescue Unsupported => e
    puts "ok #{name} # SKIP #{e.message}"
    next
  rescue StandardError => e
    problem = known ? nil : "#{e.class}: #{e.message}"
  end
  puts "#{"not " if problem}ok #{name}#{" (quirk: #{known})" if known}"
  next unless problem

  failed += 1
  puts "# #{File.basename(test["file"])}:#{test["line"]}: #{problem.gsub("\n", "\n# ")}"
end
puts "1..#{number}"
exit failed.zero?
