#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_exports.sh SOURCE_ROOT OUR_DIRECTORY ORIGINAL_LIBMARIADB
#
# The shims export what shims/libmysql/exports-*.txt say and nothing else, each symbol with its version, the
# hidden ones too. The list of MariaDB's is compared with the library that is installed. What they take from
# the C library does not act on the process that they are in.

set -u
. "$1/tests/abi/tap.sh"
. "$1/tests/shims/exports.sh"
lists=$1/shims/libmysql
ours=$2
original=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# NAME@VERSION function|data
exported() # SHARED_LIBRARY
{
	nm -D --defined-only "$1" |
		awk '$2 != "A" { print $3, $2 ~ /[TW]/ ? "function" : "data" }' | LC_ALL=C sort -u
}

reviewed() # LIST
{
	sed -e '/^#/d' "$1"
}

check_list() # LIST
{
	reviewed "$1" | LC_ALL=C sort -c 2>&1
	reviewed "$1" | grep -vE '^[a-z_0-9]+@@?lib(mariadb|mysql)[a-z_0-9.]+ (function|data)$'
}

names() # LIST
{
	sed 's/@[^ ]*//' "$1" | LC_ALL=C sort -u
}

# The original is opened; the fork is looked for, never made.
allowed='dlopen'

# One library of ours against its list.
check_library() # LIBRARY LIST
{
	exported "$ours/$1" | grep -v '^cenote_shim_mysql@' >"$tmp/$1"
	names "$tmp/$1" >"$tmp/names"
	tap_passes "$1: exports are those of the list" check_same "$tmp/$1" "$2"
	tap_passes "$1: nothing that is used acts on the process" check_imports "$ours/$1"
	tap_passes "$1: its own functions are bound to itself" check_bound "$ours/$1" "$tmp/names"
	tap_result "$1: the soname is its name" \
		"$(objdump -p "$ours/$1" | grep -q "SONAME *$1\$" || echo "it is another")"
	tap_result "$1: it says whose it is" \
		"$(nm -D --defined-only "$ours/$1" | grep -q ' cenote_shim_mysql@' || echo "no cenote_shim_mysql")"
}

reviewed "$lists/exports-mariadb.txt" >"$tmp/mariadb"
reviewed "$lists/exports-oracle.txt" >"$tmp/oracle"
sed 's/@@libmysqlclient_24\.0/@@libmysqlclient_21.0/' "$tmp/oracle" >"$tmp/oracle21"
exported "$original" >"$tmp/original"

tap_passes "the list of MariaDB's is sorted and well formed" check_list "$lists/exports-mariadb.txt"
tap_passes "the list of Oracle's is sorted and well formed" check_list "$lists/exports-oracle.txt"
tap_passes "the list of MariaDB's is what is installed" check_same "$tmp/original" "$tmp/mariadb"
check_library libmariadb.so.3 "$tmp/mariadb"
check_library libmysqlclient.so.24 "$tmp/oracle"
check_library libmysqlclient.so.21 "$tmp/oracle21"

grep -v '^mysql_query@@' "$tmp/mariadb" >"$tmp/less"
tap_catches "an export that is not in the list is caught" 'mysql_query@@.*: exported' \
	check_same "$tmp/libmariadb.so.3" "$tmp/less"
tap_catches "a lost export is caught" 'mysql_query@@.*: in the list' check_same "$tmp/less" "$tmp/mariadb"
sed 's/^mysql_query@@libmysqlclient_18/mysql_query@@libmariadb_3/' "$tmp/mariadb" >"$tmp/wrong"
tap_catches "another version is caught" 'mysql_query@@libmysqlclient_18 function: in the list' \
	check_same "$tmp/wrong" "$tmp/mariadb"
tap_end
