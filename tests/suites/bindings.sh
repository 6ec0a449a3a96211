# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# What the runners share that hold a binding against its ecosystem's own suites. There is no original to
# compare with: what fails must be in tests/suites/expected/SUITE, with the reason, and must fail.
#
#   binding_begin NAME "$@"           options, a temporary directory, what the build has to have
#   fetch_pypi, …                     the suite's source
#   on_pool BACKEND SESSIONS COMMAND… COMMAND on a pool of its own
#   binding_end LIST                  "pass|fail|skip TEST" lines: compare, say what came out, exit

# shellcheck source=tests/suites/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

binding_begin() # NAME ARGUMENT…
{
	suite_open "$@"
	ninja -C "$build" tests/support/on_pool >"$work/out/ninja.txt" 2>&1 ||
		not_run "$build has no tests/support/on_pool: meson setup -Dtests=enabled"
	unset "${!PG@}" "${!CENOTE_@}" LD_PRELOAD LD_LIBRARY_PATH
	export LC_ALL=C.UTF-8 TZ=UTC
}

on_pool() # BACKEND SESSIONS COMMAND…
{
	"$build/tests/support/on_pool" "$@"
}

binding_end() # LIST
{
	local out=$work/out known=$suites_dir/expected/$suite bad stale passed skipped
	[ -f "$known" ] || known=/dev/null
	sed -n 's/^fail \(.*[^ ]\)  *| .*/\1/p' "$known" | LC_ALL=C sort -u >"$out/known"
	with_status fail "$1" >"$out/fail"
	with_status pass "$1" >"$out/pass"
	minus "$out/fail" "$out/known" >"$out/bad"
	LC_ALL=C comm -12 "$out/pass" "$out/known" >"$out/stale"
	sed "s/^/$suite: fails: /" "$out/bad" | head -n 50
	sed "s/^/$suite: is expected to fail, and did not: /" "$out/stale"
	bad=$(wc -l <"$out/bad")
	stale=$(wc -l <"$out/stale")
	passed=$(wc -l <"$out/pass")
	skipped=$(($(with_status skip "$1" | wc -l) + $(wc -l <"$out/fail") - bad))
	[ "$passed" -gt 0 ] || { say "nothing passed" && bad=$((bad + 1)); }
	say "$passed passed, $bad failed, $skipped skipped or expected to fail"
	printf 'RESULT %s done %s %s %s\n' "$suite" "$passed" $((bad + stale)) "$skipped"
	[ $((bad + stale)) = 0 ] || { keep=1 && exit 1; }
	exit 0
}
