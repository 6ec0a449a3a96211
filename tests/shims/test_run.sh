#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: test_run.sh SOURCE_ROOT CENOTE_RUN SHIM_LIBRARY
#
# cenote-run: what it sets, what it ends with, and that a program finds the shim by either way.

set -u
. "$1/tests/abi/tap.sh"
completion=$1/tools/completion/cenote-run
run=$2
shim=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset LD_PRELOAD LD_LIBRARY_PATH CENOTE_POOL CENOTE_SERVER CENOTE_FALLBACK CENOTE_CLIENT_CONF
mkdir "$tmp/shims"
ln -s "$shim" "$tmp/shims/libpq.so.5"
export CENOTE_SHIM_DIR=$tmp/shims
echo 'exit 3' >"$tmp/not-executable"

# What a command says, or ends with, is this.
check_said() # EXPECTED COMMAND…
{
	local expected=$1 out
	shift
	out=$("$@" 2>&1) || echo "status $?"
	[ "$out" = "$expected" ] || echo "it said: $out"
}

check_status() # STATUS PATTERN COMMAND…
{
	local status=$1 pattern=$2 out
	shift 2
	out=$("$@" 2>&1)
	local got=$?
	[ "$got" = "$status" ] || echo "status $got"
	grep -q -e "$pattern" <<<"$out" || echo "it said: $out"
}

check_mapped() # PATH COMMAND…
{
	local path=$1
	shift
	"$@" | grep -q -F "$path" || echo "$path is not in the process"
}

# shellcheck disable=SC2016
tap_passes "the pool, the server and the fallback go to the program" \
	check_said 'p unix:/x direct' "$run" --pool=p --server unix:/x --fallback=direct \
	sh -c 'echo "$CENOTE_POOL $CENOTE_SERVER $CENOTE_FALLBACK"'
# shellcheck disable=SC2016
tap_passes "what was set before stays behind" check_said "$tmp/shims:/there" \
	env LD_LIBRARY_PATH=/there "$run" sh -c 'echo "$LD_LIBRARY_PATH"'
tap_passes "the library is in the process" \
	check_mapped "$(realpath "$shim")" "$run" cat /proc/self/maps
ln -s libpq.so.5 "$tmp/shims/libpq.so"
tap_passes "it is also found by the name without a number" \
	check_mapped 'the shim' "$run" /usr/bin/python3 -c "
import ctypes
ctypes.CDLL('libpq.so')
maps = open('/proc/self/maps').read().split()
libraries = {line for line in maps if '/libpq.so' in line}
print('the shim' if libraries == {'$(realpath "$shim")'} else libraries)"
rm "$tmp/shims/libpq.so"
tap_passes "arguments stay whole" check_said 'a  b|*|' "$run" -- printf '%s|%s|\n' 'a  b' '*'
tap_passes "the program's status is its own" check_status 7 '' "$run" sh -c 'exit 7'
tap_passes "what is not there: 127" check_status 127 'not found' "$run" no-such-program
tap_passes "no such path: 127" check_status 127 'not found' "$run" "$tmp/nothing"
tap_passes "what cannot be run: 126" check_status 126 'cannot run' "$run" "$tmp/not-executable"
tap_passes "a directory: 126" check_status 126 'cannot run' "$run" "$tmp"
tap_passes "an unknown option: 125" check_status 125 "unknown option '--pol'" "$run" --pol x
tap_passes "no program: 125" check_status 125 'the program is missing' "$run" --pool=x
tap_passes "an option without a value: 125" check_status 125 'needs a value' "$run" --pool
tap_passes "a wrong fallback: 125" check_status 125 'not direct or fail' "$run" --fallback=no true
tap_passes "a wrong server: 125" check_status 125 'is not unix:DIR' "$run" --server=/x true
tap_passes "no library: 125" check_status 125 "no library in $tmp" \
	env CENOTE_SHIM_DIR="$tmp" "$run" true
tap_passes "the list" check_said "$tmp/shims/libpq.so.5	instead of libpq.so.5" "$run" --list
tap_passes "help" check_status 0 'usage: cenote-run' "$run" --help

psql=$(find /usr/lib/postgresql/*/bin/psql /usr/bin/psql 2>/dev/null | head -n 1)
for way in preload soname; do
	command=(env CENOTE_CLIENT_CONF=/nonexistent "$run" --pool=none --server="unix:$tmp" "$psql")
	[ $way = preload ] ||
		command=(env LD_LIBRARY_PATH="$tmp/shims" CENOTE_POOL=none CENOTE_SERVER="unix:$tmp" "$psql")
	if [ -n "$psql" ]; then
		tap_passes "psql asks the pool, by $way" \
			check_status 2 "connection to pool \"none\" failed:.*$tmp" "${command[@]}" -c 'select 1'
	else
		tap_n=$((tap_n + 1))
		echo "ok $tap_n - psql by $way # SKIP psql is not installed"
	fi
done

# shellcheck disable=SC1090
. "$completion"
COMP_WORDS=(cenote-run --)
COMP_CWORD=1
_cenote_run
tap_result "completion offers every option" "$(diff \
	<(printf '%s\n' "${COMPREPLY[@]}" | sort) \
	<("$run" --help | grep -oE -- '--[a-z]+' | sort -u))"
COMP_WORDS=(cenote-run --fallback "=" d)
COMP_CWORD=3
_cenote_run
tap_result "completion knows the fallbacks" "$([ "${COMPREPLY[*]}" = direct ] || echo "${COMPREPLY[*]}")"
tap_end
