#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_exports.sh SOURCE_ROOT DRIVER SETUP PROGRAM
#
# What the ODBC driver exports, what it says of itself by SQLGetFunctions() (PROGRAM prints that), and the
# table in docs/odbc.md are the same; and nothing that it uses acts on the process it is in.

set -u
. "$1/tests/abi/tap.sh"
. "$1/tests/shims/exports.sh"
docs=$1/docs/odbc.md
driver=$2
setup=$3
program=$4
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

exported() # SHARED_LIBRARY
{
	nm -D --defined-only "$1" | awk '{ print $3 }' | LC_ALL=C sort -u
}

# "`SQLTables` *W*" is two names. The backquotes are the page's.
# shellcheck disable=SC2016
documented() # PAGE
{
	sed -n '/functions: begin/,/functions: end/p' "$1" | grep -o '`SQL[A-Za-z]*`\( \*W\*\)\?' |
		sed -E 's/`(.*)` \*W\*/\1\n\1W/; s/`//g' | LC_ALL=C sort -u
}

# Data sources are the installer library's: it is asked for them. The clock is the time limit's.
allowed='none'

exported "$driver" >"$tmp/exported"
documented "$docs" >"$tmp/documented"
"$program" "$driver" | LC_ALL=C sort -u >"$tmp/claimed"
grep -v 'W$' "$tmp/exported" >"$tmp/narrow"

tap_passes "what is exported is in the page's table" check_same "$tmp/exported" "$tmp/documented"
tap_passes "what is exported is claimed" check_same "$tmp/narrow" "$tmp/claimed"
tap_passes "nothing that is used acts on the process" check_imports "$driver"
exported "$setup" >"$tmp/setup"
tap_result "the setup library has its two functions" \
	"$(printf 'ConfigDSN\nConfigDriver\n' | diff - "$tmp/setup")"

grep -v '^SQLFetch$' "$tmp/claimed" >"$tmp/less"
tap_catches "an export that is not claimed is caught" 'SQLFetch: exported' \
	check_same "$tmp/narrow" "$tmp/less"
grep -v '^SQLTablesW$' "$tmp/exported" >"$tmp/less"
tap_catches "a lost export is caught" 'SQLTablesW: in the list' \
	check_same "$tmp/less" "$tmp/documented"
tap_end
