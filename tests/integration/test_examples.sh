#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: test_examples.sh HELLO CENOTED BACKEND_DIR
#
# The program in README does what README says, on a pool as README configures one.

set -u
hello=$(realpath "$1")
cenoted=$(realpath "$2")
backends=$3
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
tap_result "the daemon logged no error" "$(grep -iE 'error|critical' "$tmp/log")"
tap_end
