#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_exports.sh SOURCE_ROOT BUILD_ROOT
#
# What libcenote exports is what lib/cenote.abi, the reviewed list, says, and what <cenote/cenote.h>
# declares; and the other way round.

set -u
cd "$(dirname "$0")" || exit 99
. ./tap.sh
source_root=$1
build_root=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The version node itself is listed by nm as well, as an absolute symbol.
exported() # SHARED_LIBRARY
{
	nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u
}

reviewed() # LIST
{
	sed -e 's/#.*//' -e 's/[[:space:]].*//' -e '/^$/d' "$1" | sort -u
}

# What is inline there is in nobody's library.
declared() # INCLUDE_FOLDER
{
	local text
	text=$(echo '#include <cenote/cenote.h>' | gcc -E -P -I "$1" -x c - | tr '\n' ' ')
	comm -23 <(functions <<<"$text") <(grep -oE 'static inline [a-z0-9_ *]+\(' <<<"$text" | functions)
}

functions()
{
	grep -oE 'cenote_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u
}

check_same() # WHAT_A LIST_A WHAT_B LIST_B
{
	[ -s "$2" ] || echo "nothing is $1"
	comm -23 "$2" "$4" | sed "s/\$/: $1, but not $3/"
	comm -13 "$2" "$4" | sed "s/\$/: $3, but not $1/"
}

library=$(find "$build_root/lib" -maxdepth 1 -name 'libcenote.so.*.*' -type f | head -n 1)
exported "${library:-$build_root/lib/libcenote.so}" >"$tmp/exported"
reviewed "$source_root/lib/cenote.abi" >"$tmp/reviewed"
declared "$source_root/lib/include" >"$tmp/declared"
tap_passes "exports are as reviewed in lib/cenote.abi" \
	check_same exported "$tmp/exported" reviewed "$tmp/reviewed"
tap_passes "exports are as declared in cenote.h" \
	check_same exported "$tmp/exported" declared "$tmp/declared"

grep -v '^cenote_query$' "$tmp/reviewed" >"$tmp/less"
tap_catches "an export that was not reviewed is caught" \
	'cenote_query: exported, but not reviewed' \
	check_same exported "$tmp/exported" reviewed "$tmp/less"
{ cat "$tmp/declared" && echo cenote_zzz; } >"$tmp/more"
tap_catches "a declaration without a function is caught" \
	'cenote_zzz: declared, but not exported' \
	check_same exported "$tmp/exported" declared "$tmp/more"
: >"$tmp/none"
tap_catches "a library that exports nothing is caught" 'nothing is exported' \
	check_same exported "$tmp/none" declared "$tmp/none"
tap_end
