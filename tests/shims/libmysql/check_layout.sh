#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_layout.sh SOURCE_ROOT OURS_MARIADB OURS_ORACLE REAL_MARIADB
#
# The public structures of shims/libmysql/abi.h are laid out as those of the originals: each program is
# layout.c, of one flavour or of the real headers, and what it prints is compared with what was recorded
# of the real headers of 64-bit machines.

set -u
. "$1/tests/abi/tap.sh"
here=$1/tests/shims/libmysql
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

check_layout() # RECORDED PROGRAM
{
	"$2" >"$tmp/now" || echo "it failed"
	diff "$1" "$tmp/now"
}

tap_passes "MariaDB's, of ours" check_layout "$here/layout-mariadb.txt" "$2"
tap_passes "Oracle's, of ours" check_layout "$here/layout-oracle.txt" "$3"
tap_passes "MariaDB's, of the installed headers" check_layout "$here/layout-mariadb.txt" "$4"
tap_catches "the flavours differ, and it shows" 'MYSQL_TIME 40' check_layout "$here/layout-oracle.txt" "$2"
tap_end
