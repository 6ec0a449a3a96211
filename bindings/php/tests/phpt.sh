#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: phpt.sh ON_POOL BACKEND PHP RUN_TESTS OPTION…
#
# Runs the .phpt tests beside it on a pool, and tells in TAP.

set -u
on_pool=$1 backend=$2 php=$3 run_tests=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# PHP's runner writes beside the tests.
cp -r "$(dirname "$0")" "$(dirname "$0")"/../{examples,README.md} "$work/" || exit 99
"$on_pool" "$backend" 8 "$php" "$run_tests" -p "$php" -q --offline --no-color "$@" \
	-W "$work/results" "$work/tests" >"$work/out.txt" 2>&1
n=0 passed=0 failed=0
while read -r result test; do
	n=$((n + 1)) name=$(basename "$test" .phpt)
	case $result in
	PASSED)
		echo "ok $n - $name"
		passed=$((passed + 1))
		;;
	SKIPPED) echo "ok $n - $name # SKIP not on $backend" ;;
	*)
		echo "not ok $n - $name"
		sed 's/^/# /' "$work/tests/$name.diff" 2>/dev/null
		failed=$((failed + 1))
		;;
	esac
done <"$work/results"
echo "1..$n"
# PHP's runner skips a test whose extension it could not load.
[ $passed -gt 0 ] || { sed 's/^/# /' "$work/out.txt" && exit 1; }
exit $((failed > 0))
