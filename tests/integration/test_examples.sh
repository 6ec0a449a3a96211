#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: test_examples.sh HELLO CENOTED BACKEND_DIR README CENOTE_CACHE
#
# The program in README does what README says, and the pool in README is there, for a user and for root.

set -u
hello=$(realpath "$1")
cenoted=$(realpath "$2")
backends=$3
readme=$(realpath "$4")
cache=$(realpath "$5")
cd "$(dirname "$0")" || exit 99
. ../abi/tap.sh
tmp=$(mktemp -d)
pid=

clean_up()
{
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	[ -z "$pid" ] || wait "$pid"
	rm -rf "$tmp"
}
trap clean_up EXIT

check_output() # EXPECTED COMMAND…
{
	local expected=$1 out
	shift
	out=$("$@" 2>&1) || echo "status $?"
	[ "$out" = "$expected" ] || echo "it said: $out"
}

check_refused() # COMMAND…
{
	local out
	out=$("$@" 2>&1) && echo "it succeeded"
	grep -q "$tmp/run/nothing.sock" <<<"$out" || echo "it does not name the socket: $out"
}

cat >"$tmp/cenoted.conf" <<CONF
[cenoted]
user = $(id -un)
run_dir = $tmp/run
backend_dir = $backends

[pool demo]
backend  = sqlite
server   = path=$tmp/demo.db
sessions = 1..8
CONF
mkdir "$tmp/run"
"$cenoted" -c "$tmp/cenoted.conf" >"$tmp/log" 2>&1 &
pid=$!
for ((i = 0; i < 500; i++)); do
	"$hello" "cenote:///demo?run_dir=$tmp/run" >/dev/null 2>&1 && break
	sleep 0.02
done
tap_passes "hello answers 42" check_output 42 "$hello" "cenote:///demo?run_dir=$tmp/run"
tap_passes "hello finds the run directory by CENOTE_SERVER" \
	check_output 42 env CENOTE_SERVER="unix:$tmp/run" "$hello" demo
tap_passes "hello says which pool it cannot reach" \
	check_refused "$hello" "cenote:///nothing?run_dir=$tmp/run"
uri="cenote:///demo?run_dir=$tmp/run"
examples=$(dirname "$hello")
tap_passes "transaction moves all or nothing" check_output "70 moved
not moved: 23514 CHECK constraint failed: money >= 0" "$examples/example_transaction" "$uri"
tap_passes "stream adds up" check_output 45000150000 "$examples/example_stream" "$uri"
tap_passes "pipeline skips behind an error" check_output "first
second
error: near \"nothing\": syntax error
skipped" "$examples/example_pipeline" "$uri"
tap_passes "cancel ends an endless statement" \
	check_output "CENOTE_ERR_SERVER 57014" timeout 20 "$examples/example_cancel" "$uri"

# The example cached_page keeps its results in files, which cenote-cache lists and removes.
pages=$tmp/pages
mkdir -m 700 "$pages"
fill_items() # NAME…
{
	python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("create table if not exists item (name text, price int)")
db.executemany("insert into item values (?, 9)", [[name] for name in sys.argv[2:]])
db.commit()' "$tmp/demo.db" "$@"
}
fill_items tea
tap_passes "cached_page asks the server" check_output "from the server:
tea 9" "$examples/example_cached_page" "$uri" "$pages"
fill_items rum
tap_passes "cached_page is answered by the file that another process wrote" check_output "from a file:
tea 9" "$examples/example_cached_page" "$uri" "$pages"
check_list() # WORD
{
	local out
	out=$("$cache" list "$pages") || echo "status $?"
	[[ $out =~ ^\ *[0-9]+s\ +$1\ +[0-9]+\ +[0-9a-f]{8}\ +select\ name,\ price ]] || echo "it said: $out"
}
tap_passes "cenote-cache lists it" check_list '[0-9]+s'
tap_passes "cenote-cache counts it" check_output "1 files, $(stat -c %s "$pages"/*) bytes; of these, 0 files, 0 bytes are too old or damaged" \
	"$cache" size "$pages"
tap_passes "cenote-cache removes nothing that is fresh" check_output "removed 0 files, 0 bytes" "$cache" clean "$pages"
# Let the file say that it was written in 1970. The list does not look at the checksum, which is wrong then.
for file in "$pages"/*; do
	printf '\1\0\0\0\0\0\0\0' | dd of="$file" bs=1 seek=16 conv=notrunc status=none
done
tap_passes "cenote-cache lists what is old" check_list old
tap_passes "cached_page asks the server again" check_output "from the server:
rum 9
tea 9" "$examples/example_cached_page" "$uri" "$pages"
: >"$pages/0123456789abcdef0123456789abcdef.res"
touch -d '1 hour ago' "$pages/0123456789abcdef0123456789abcdef.res".{1-2.tmp,of-the-user}
: >"$pages/0123456789abcdef0123456789abcdef.res.1-3.tmp"
: >"$pages/of-the-user"
tap_passes "cenote-cache removes what is damaged or was left" check_output "removed 2 files, 0 bytes" "$cache" clean "$pages"
tap_passes "cenote-cache removes all" \
	check_output "removed 1 files, $(stat -c %s "$pages"/????????????????????????????????.res) bytes" "$cache" clean --all "$pages"
check_left()
{
	[ "$(ls "$pages")" = "0123456789abcdef0123456789abcdef.res.1-3.tmp
0123456789abcdef0123456789abcdef.res.of-the-user
of-the-user" ] || ls "$pages"
}
tap_passes "cenote-cache leaves what is being written, and files of others" check_left
check_usage()
{
	"$cache" size --all "$pages" >/dev/null 2>&1
	[ $? = 2 ] || echo "size --all is allowed"
	"$cache" clean "$tmp/nowhere" 2>/dev/null && echo "a missing directory is no error"
	[ "$("$cache" --help | head -1)" = "usage: cenote-cache COMMAND DIRECTORY" ] || echo "there is no help"
}
tap_passes "cenote-cache says what is wrong" check_usage
write_readme_conf()
{
	# shellcheck disable=SC2016
	sed -n '/^```ini$/,/^```$/p' "$readme" | sed '/^```/d' >cenoted.conf
}

# As README has it: where the sockets are, and whose the workers are, is not said.
run_readme() # COMMAND…
{
	local i daemon out
	"$@" env CENOTE_BACKEND_DIR="$backends" "$cenoted" -c cenoted.conf >readme.log 2>&1 &
	daemon=$!
	for ((i = 0; i < 500; i++)); do
		out=$("$@" "$hello" cenote:///demo 2>&1) && break
		kill -0 $daemon 2>/dev/null || break
		sleep 0.02
	done
	[ "$out" = 42 ] || { echo "it said: $out" && cat readme.log; }
	kill $daemon 2>/dev/null
	wait $daemon || echo "cenoted ended with $?"
}

# Other users may be unable to reach the build directory.
copy_programs()
{
	mkdir -p "$tmp/copy/examples" "$tmp/copy/lib" && cp "$hello" "$tmp/copy/examples/" &&
		cp "${hello%/*}/../lib/libcenote.so.0" "$tmp/copy/lib/" &&
		cp "$cenoted" "$backends/cenoted-sqlite.so" "$tmp/copy/" && chmod -R a+rX "$tmp/copy" || exit 99
	hello=$tmp/copy/examples/hello
	cenoted=$tmp/copy/cenoted
	backends=$tmp/copy
}

check_readme_of() # UID
{
	mkdir -m 700 "$tmp/$1" "$tmp/$1/runtime" && cd "$tmp/$1" || return
	write_readme_conf
	export XDG_RUNTIME_DIR=$tmp/$1/runtime
	if [ "$(id -u)" = "$1" ]; then
		run_readme env
	else
		chown -R "$1" .
		run_readme setpriv --reuid "$1" --regid "$1" --clear-groups
	fi
}

# With a /run of its own: this machine's may be in use.
check_readme_of_root()
{
	export -f run_readme
	export cenoted backends hello
	mkdir "$tmp/root" && cd "$tmp/root" || return
	write_readme_conf
	unset XDG_RUNTIME_DIR
	unshare -m bash -c 'mount -t tmpfs none /run && run_readme env'
}

if [ "$(id -u)" != 0 ]; then
	tap_passes "README's pool is there for this user" check_readme_of "$(id -u)"
else
	chmod 711 "$tmp"
	copy_programs
	tap_passes "README's pool is there for a user" check_readme_of 65534
	! unshare -m mount -t tmpfs none /run 2>/dev/null ||
		tap_passes "README's pool is there for root" check_readme_of_root
fi
tap_result "the daemon logged no error" "$(grep -iE 'error|critical' "$tmp/log")"
tap_end
