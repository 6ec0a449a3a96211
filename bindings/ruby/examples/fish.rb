require "cenote"

Cenote.connect(ARGV[0]) do |db|
  # placeholders are the server's own
  add = "insert into fish values #{db.backend == "postgresql" ? "($1, $2)" : "(?, ?)"}"
  db.query("create temporary table fish (name varchar(20), length numeric(5, 2))")
  db.transaction do
    { "carp" => 61.5, "cave fish" => 8.25 }.each { |name, length| db.query(add, name, length) }
  end
  db.query("select * from fish where length < 10").each { |fish| puts "#{fish["name"]}: #{fish["length"].to_f} cm" }
end
