#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: on_pools test_port.sh BUILD_ROOT [FORMAT...]
#
# cenote-export and cenote-import: rows go from server to server without a change. After a run that was killed, --resume
# loses no row and writes none twice. FORMAT is a format that not every build has.

set -u
build=$(realpath "$1")
cd "$(dirname "$0")" || exit 99
. ../../abi/tap.sh
PATH=$build/tools/port:$build/tools/sqlsh:$PATH
dir=$CENOTE_TEST_DIR/port
mkdir "$dir" && cd "$dir" || exit 99

# ---- rows of every type ----

sql() # POOL SQL...
{
	local pool=$1 s
	shift
	for s; do
		sqlsh "$pool" -q -c "$s" 2>&1 | grep -v NOTICE
	done
}

make_source()
{
	sql pg "create table source (id int, part varchar(9), name text, n numeric(10,2), big numeric(40,15), d double precision,
		b bytea, ok boolean, day date, at timestamp, j jsonb, u uuid, primary key (part, id))" \
		"insert into source select i, 'p' || i % 3, case i % 5 when 0 then null when 1 then ''
		when 2 then 'na\"me, ''' || i || chr(92) || chr(10) || chr(9) || chr(13) || ';' when 3 then chr(128512) || 'ü\N\x41'
		else 'NULL' end, -i / 100.0, 1234567890123456789012345.678901234567890 + i, i * 1.1e300,
		decode(lpad(to_hex(i * 65793), 8, '0'), 'hex'), i % 2 = 0, date '1999-12-31' + i,
		timestamp '2024-03-31 00:30:00.25' + i * interval '1 hour', json_build_object('a', i, 'b', null)::jsonb,
		md5(i::text)::uuid from generate_series(1, 300) i" \
		"insert into source (id, part) values (0, 'nothing')"
}

# The rows as CSV, in the same form from every server. SQLite writes no zeros at the end of a decimal, so they are removed.
rows_of() # POOL TABLE
{
	cenote-export -Q -t "$2" "$1" | sed -E 's/(,-[0-9]+)\.00,/\1,/; s/(,-[0-9]+\.[0-9])0,/\1,/'
}

goes_to() # POOL FORMAT
{
	local table=${1}_${2//./_}
	cenote-export -Q -t source --types --format "$2" pg >"$table" &&
		cenote-import -Q -t "$table" --create --format "$2" --dialect postgresql -i "$table" "$1" &&
		diff <(rows_of pg source) <(rows_of "$1" "$table") | head -n 4
}

# From MariaDB or SQLite back to PostgreSQL. INSERT statements are written for DIALECT.
comes_back() # POOL FORMAT DIALECT
{
	local table=back_${1}_$2
	sql pg "create table $table (like source including all)"
	cenote-export -Q -t "${1}_csv" --format "$2" "$1" |
		cenote-import -Q -t "$table" --format "$2" --dialect "$3" pg &&
		diff <(rows_of pg source) <(rows_of pg "$table") | head -n 4
}

refuses_the_wrong_dialect()
{
	cenote-export -Q -t my_csv --format sql my | cenote-import -Q -t back_my_sql --restart --format sql pg 2>&1
}

# A server whose timestamps have no offset gets the time in UTC.
has_utc()
{
	sql my "create table zones (id int primary key, at datetime(3))"
	printf 'id,at\n1,2024-03-01 00:30:00.25+01:00\n2,2023-12-31 23:30:01-05:30\n3,2024-01-01 00:00:00\n' |
		cenote-import -Q -t zones my
	cenote-export -Q -t zones my | tail -n +2 |
		diff - <(printf '1,2024-02-29 23:30:00.25\n2,2024-01-01 05:00:01\n3,2024-01-01 00:00:00\n')
}

# With a limit for files, the kernel kills the export in the middle of a write.
export_survives_a_kill()
{
	local status
	(
		ulimit -c 0
		ulimit -f 1000
		exec cenote-export -Q -t long -o killed.csv pg
	)
	status=$?
	[ $status = 153 ] || echo "status $status"
	cmp -n 1000000 killed.csv long.csv
	cenote-export -Q -t long -o killed.csv --resume pg
	cmp killed.csv long.csv
}

# ---- stopping and continuing ----

n_rows=60000

make_long()
{
	sql pg "create table long (id bigint primary key, name text)" \
		"insert into long select i, 'row ' || i || repeat('x', i % 50) from generate_series(1, $n_rows) i"
	cenote-export -Q -t long -o long.csv pg
}

# Write the file with a pause in it. Without the pause, a quick machine would import all of it before the kill.
slowly() # FILE
{
	head -n 20001 "$1"
	sleep 0.4
	tail -n +20002 "$1"
}

# Kill an import at random moments, five times. Then let it run to its end.
import_survives_kills() # POOL
{
	local status=1 kills=0 pid
	sql "$1" "drop table if exists copy" "create table copy (id bigint primary key, name varchar(99))"
	while [ $status != 0 ]; do
		cenote-import -Q -t copy --name kills --resume --batch 2000 "$1" < <(slowly long.csv) 2>killed &
		pid=$!
		if [ $kills -lt 5 ]; then
			sleep "$(printf '0.%02d' $((RANDOM % 20 + 4)))"
			kill -KILL $pid 2>/dev/null && kills=$((kills + 1))
		fi
		wait $pid 2>/dev/null
		status=$?
		# 3: the server carried out the last request of the killed run while this run was working.
		[[ $status =~ ^(0|3|137)$ ]] || { cat killed; return; }
	done
	cmp <(cenote-export -Q -t copy "$1") long.csv
	[ $kills -gt 0 ] || echo "it was never killed"
	# A run after the end imports nothing again.
	cenote-import -t copy --name kills --resume "$1" <long.csv 2>&1 | grep -v 'is complete'
}

count() # POOL TABLE
{
	sqlsh "$1" --no-header --format=csv -c "select count(*) from $2"
}

# SIGINT ends a run while it waits for more rows. The number in its message is the number of rows in the table.
import_stops() # POOL
{
	local status n pid
	sql "$1" "drop table if exists copy" "create table copy (id bigint primary key, name varchar(99))"
	mkfifo rows
	cenote-import -Q -t copy --name stops --batch 1000 "$1" <rows 2>stopped &
	pid=$!
	exec 9>rows
	head -n 3501 long.csv >&9
	for ((n = 0; n < 300; n++)); do
		[ "$(count "$1" copy)" = 3000 ] && break
		sleep 0.1
	done
	kill -INT $pid
	wait $pid
	status=$?
	exec 9>&-
	[ $status = 3 ] || echo "status $status"
	n=$(sed -n 's/.*stopped after \([0-9]*\) records; run it again with --resume.*/\1/p' stopped)
	[ "$n" -ge 3000 ] || echo "too early: $n"
	[ "$n" = "$(count "$1" copy)" ] || cat stopped
	cenote-import -Q -t copy --name stops "$1" <long.csv 2>&1 | grep -q 'resume continues it' || echo "it began again"
	cenote-import -Q -t copy --name stops --resume "$1" <long.csv
	cmp <(cenote-export -Q -t copy "$1") long.csv
}

# A file that was cut at any place continues after its last complete row.
export_continues() # FORMAT
{
	local size at file=cut.$1
	cenote-export -Q -t long -o "whole.$1" pg
	size=$(stat -c %s "whole.$1")
	for at in $((size - 1)) $((size - 7)) $((size / 2)) $((size / 3 + 1)) $((size / 7)); do
		head -c "$at" "whole.$1" >"$file"
		cenote-export -Q -t long -o "$file" --resume pg || echo "cut at $at: status $?"
		if [[ $1 == csv || $1 == json ]]; then
			cmp "$file" "whole.$1"
		else
			sql pg "drop table if exists copy" "create table copy (like long including all)"
			cenote-import -Q -t copy --restart -i "$file" pg
			cmp <(cenote-export -Q -t copy pg) long.csv
		fi
	done
}

export_continues_compressed()
{
	local at size
	sql pg "create table wide (id int primary key, name text)" \
		"insert into wide select i, md5(i::text) || md5((i + 1)::text) from generate_series(1, 150000) i"
	cenote-export -Q -t wide -o wide.csv.zst pg
	cenote-export -Q -t wide -o wide.csv pg
	size=$(stat -c %s wide.csv.zst)
	at=$((size * 3 / 4))
	head -c $at wide.csv.zst >cut.csv.zst
	cenote-export -Q -t wide -o cut.csv.zst --resume pg
	sql pg "create table wide2 (like wide including all)"
	cenote-import -Q -t wide2 -i cut.csv.zst pg
	cmp <(cenote-export -Q -t wide2 pg) wide.csv
	# A file with rows of another format is not replaced.
	cp wide.csv.zst other.csv.zst
	says 'no complete record of this format' 2 cenote-export -Q -t wide --format json.zst -o other.csv.zst --resume pg
	cmp other.csv.zst wide.csv.zst
	# The importer reports that a file is not complete.
	sql pg "truncate wide2"
	head -c $at wide.csv.zst | cenote-import -Q -1 --format csv.zst -t wide2 pg 2>&1 | grep -q 'ends early' ||
		echo "a cut file was not noticed"
}

# The decompressed file ends where the reader's buffer ends.
imports_a_full_buffer()
{
	sql pg "create table full_buffer (id int, name text)"
	{ echo id,name; printf '1,%8181s\n' x; } >full.csv
	[ "$(stat -c %s full.csv)" = 8192 ] || stat full.csv
	cenote-export -Q -q "select 1 id, lpad('x', 8181) as name" -o full.csv.zst pg
	says '' 0 cenote-import -Q -t full_buffer -i full.csv.zst pg
	cmp <(cenote-export -Q -t full_buffer pg) full.csv
}

# The rows have the order of the key although the key is not exported.
exports_without_the_key()
{
	cenote-export -Q -t long -c name pg | cmp - <(cut -d , -f 2 long.csv)
}

keeps_other_files()
{
	echo "a text of mine" >mine.csv
	cenote-export -Q -t long -o mine.csv pg 2>&1 | grep -q -- '--overwrite replaces it' || echo "not refused"
	cenote-export -Q -t long -o mine.csv --resume pg 2>&1 | grep -q 'has other columns' || echo "not refused to resume"
	[ "$(<mine.csv)" = "a text of mine" ] || echo "the file was changed"
}

# ---- errors ----

says() # PATTERN STATUS COMMAND...
{
	local pattern=$1 want=$2 out status
	shift 2
	out=$("$@" 2>&1)
	status=$?
	grep -q -e "$pattern" <<<"$out" && [ $status = "$want" ] || echo "$*: status $status: $out"
}

tells_of_errors()
{
	sql pg "create table narrow (id int primary key, n int)"
	printf 'id,n\n1,2\n2,x\n' >wrong.csv
	says 'record 2' 1 cenote-import -Q -t narrow -i wrong.csv pg
	printf 'id,n\n1,2\n1,3\n' >twice.csv
	says 'ERROR 23505' 1 cenote-import -Q -t narrow -i twice.csv pg
	printf 'id,n\n1,2\n3\n' >short.csv
	says 'short.csv:3: 1 value, where 2 are expected' 1 cenote-import -Q -t narrow -i short.csv pg
	printf '{"id":1,"n":2}\n{"id":2,"m":2}\n' >other.json
	says 'other.json:2: the first object has no member "m"' 1 cenote-import -Q -t narrow -i other.json pg
	says 'no-such' 2 cenote-import -Q -t narrow -i no-such pg
	says 'relation "none" does not exist' 1 cenote-export -Q -t none pg
	says 'has no primary key' 2 cenote-export -Q -q 'select 1' -o x.csv --resume pg
	says 'has no types' 1 cenote-import -Q --create -t narrow2 -i wrong.csv pg
	[ "$(count pg narrow)" = 0 ] || echo "a row of a failed batch is in the table"
}

# Where rows could be lost or written twice, the programs report it and do nothing.
refuses_what_it_cannot_continue()
{
	sql pg "create table equal (a int, b int)" "insert into equal values (1, 1), (2, 2), (2, 3), (3, 4)"
	printf 'a,b\n1,1\n2,2\n' >equal.csv
	says '2 rows have the key' 1 cenote-export -Q -t equal --key a -o equal.csv --resume pg
	says '' 0 cenote-export -Q -t equal --key a,b -o equal.csv --resume pg
	[ "$(tail -n 1 equal.csv)" = 3,4 ] || cat equal.csv
	sql pg "insert into equal values (null, 5)"
	says '2 rows have the key' 1 cenote-export -Q -t equal --key a -o equal.csv --resume pg
	sql my "create table old (a int, b int) engine=MyISAM"
	says 'engine MyISAM' 1 cenote-import -Q -t old -i equal.csv my
	says '' 0 cenote-import -Q -1 -t old -i equal.csv my
	sql lite "create table bytes (a int primary key, b text)" "insert into bytes values (1, cast(x'ff' as text))"
	says 'row 1, column b: the text is not UTF-8' 1 cenote-export -Q -t bytes --format json lite
}

make_source
make_long
for format in csv json sql tsv "${@:2}"; do
	tap_passes "PostgreSQL to MariaDB by $format" goes_to my "$format"
	tap_passes "PostgreSQL to SQLite by $format" goes_to lite "$format"
done
tap_passes "PostgreSQL to PostgreSQL" goes_to pg csv
for format in csv json sql; do
	tap_passes "MariaDB to PostgreSQL by $format" comes_back my $format mariadb
	tap_passes "SQLite to PostgreSQL by $format" comes_back lite $format sqlite
done
tap_passes "MariaDB gets times in UTC" has_utc
tap_catches "texts of another dialect are an error" "ERROR\|expected" refuses_the_wrong_dialect
for pool in pg my lite; do
	tap_passes "an import into $pool continues after a kill" import_survives_kills $pool
done
tap_passes "an import continues after an interrupt" import_stops pg
tap_passes "an export continues after a kill" export_survives_a_kill
for format in csv json sql tsv; do
	tap_passes "an export to $format continues after a cut" export_continues $format
done
[ $# = 1 ] || tap_passes "an export to csv.zst continues after a cut" export_continues_compressed
[ $# = 1 ] || tap_passes "a compressed file may end where a buffer ends" imports_a_full_buffer
tap_passes "columns without the key are exported" exports_without_the_key
tap_passes "files of other programs are kept" keeps_other_files
tap_passes "--resume is refused where rows could be lost" refuses_what_it_cannot_continue
tap_passes "messages name the error" tells_of_errors
tap_end
