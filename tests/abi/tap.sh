# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# TAP in bash, for the checks in this folder. A check is a function that prints what is wrong, a
# line each, and nothing when all is well.

tap_n=0
tap_failed=0

# tap_result NAME PROBLEMS: passed when PROBLEMS is empty.
tap_result()
{
	tap_n=$((tap_n + 1))
	if [ -z "$2" ]; then
		echo "ok $tap_n - $1"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_n - $1"
		sed 's/^/# /' <<<"$2"
	fi
}

# tap_passes NAME CHECK ARG…: CHECK finds nothing.
tap_passes()
{
	local name=$1
	shift
	tap_result "$name" "$("$@" 2>&1)"
}

# tap_catches NAME PATTERN CHECK ARG…: CHECK, on something broken on purpose, says PATTERN. It is
# how a check shows that it can fail.
tap_catches()
{
	local name=$1 pattern=$2 out
	shift 2
	out=$("$@" 2>&1)
	if grep -q -e "$pattern" <<<"$out"; then
		tap_result "$name" ""
	else
		tap_result "$name" "not caught; the check said: '$out'"
	fi
}

tap_end()
{
	echo "1..$tap_n"
	[ $tap_failed = 0 ]
}
