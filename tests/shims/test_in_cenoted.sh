#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: test_in_cenoted.sh SOURCE_ROOT CENOTED BACKEND_MODULE SHIM_LIBRARY
#
# cenoted itself must not have the shim: its PostgreSQL backend would log in to a pool.

set -u
. "$1/tests/abi/tap.sh"
cenoted=$2
module=$3
shim=$4
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset LD_PRELOAD LD_LIBRARY_PATH
mkdir "$tmp/backends"
ln -s "$module" "$tmp/backends/"
cat >"$tmp/cenoted.conf" <<END
[cenoted]
user = $(id -un)
run_dir = $tmp/run
backend_dir = $tmp/backends
[pool main]
backend = postgresql
server = host=$tmp dbname=app
END

# cenoted --check ends so, with this on its standard error.
check_ends() # STATUS PATTERN [NAME=VALUE…]
{
	local status=$1 pattern=$2 out
	shift 2
	out=$(env "$@" "$cenoted" --check -c "$tmp/cenoted.conf" 2>&1 >"$tmp/out")
	local got=$?
	[ "$got" = "$status" ] || echo "status $got"
	grep -q -e "$pattern" <<<"$out" || echo "it said: $out"
}

refused="cenoted.conf:7: server: this process has Cenote's libpq shim in place of libpq"
tap_passes "with libpq itself it starts" check_ends 0 '^$'
tap_passes "with the shim in LD_LIBRARY_PATH it does not" \
	check_ends 1 "$refused" LD_LIBRARY_PATH="$(dirname "$shim")"
tap_passes "with the shim in LD_PRELOAD it does not" check_ends 1 "$refused" LD_PRELOAD="$shim"
tap_end
