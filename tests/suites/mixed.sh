# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2034,SC2154
# Programs of many languages at the same time, on few sessions in transaction mode. Who sources it (behind common.sh) sets
#
#   programs       files in clients/; the place of each in the list is its tenant
#   ways           direct, cenote, and others to compare
#   needs          fails if something that the programs need is missing
#   prepare        starts the server and what each way needs
#   begin_way      WAY: makes the data new
#   environment    WAY: adds to way_env what the programs need to connect
#   left_by        ROUNDS: prints what the programs have left in the database
#
# and calls mixed_main "$@".
#
# Each program checks all answers that it gets, and stops at the first wrong one. On "cenote" all must finish. Times are
# printed and never a failure. On each way the programs run twice: with everything, and "simple", without
# what a client of a plain transaction pool cannot do, so that the times can be compared.

sessions=3
rounds=${MIXED_ROUNDS:-50}

suite_usage()
{
	cat <<USAGE
usage: tests/suites/${0##*/} [--build DIR] [--keep] [--help]

$about Prints the time of each on the pool, and for comparison on the server and on PgBouncer.

  --build DIR  the build to test (CENOTE_BUILD, or build)
  --keep       leave the temporary directory with all output

MIXED_ROUNDS is how often each program does everything (50).
Status: 0 all programs had right answers, 1 not, 3 something that it needs is missing: scripts/install-deps all.
USAGE
}

pool_lines()
{
	printf 'sessions = 1..%s\nmode = transaction\nqueue_timeout = 60s\n' "$1"
}

# The programs on the pool find neither the original library nor a server.
use_way() # WAY
{
	if [ "$1" = cenote ]; then
		use_shim preload
		way_env+=("$original_variable=/nonexistent" CENOTE_FALLBACK=)
	else
		use_native
	fi
	environment "$1"
}

# run_program PROGRAM TENANT KIND OUT WAY: "STATUS SECONDS" in OUT.time.
run_program()
{
	local began=$EPOCHREALTIME status=0 at_most=60
	[ "$5" != pgbouncer ] || at_most=30
	as_user timeout -k 5 $at_most env "${way_env[@]}" "$work/clients/$1" "$2" "$rounds" "${3#full}" \
		>"$4" 2>&1 </dev/null || status=$?
	printf '%s %s\n' $status "$((${EPOCHREALTIME/./} - ${began/./}))" >"$4.time"
}

# run_all WAY KIND: all programs at the same time.
run_all()
{
	local i pids=()
	begin_way "$1"
	use_way "$1"
	for i in "${!programs[@]}"; do
		run_program "${programs[i]}" $((i + 1)) "$2" "$work/out/$1.$2.$i" "$1" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

# The time in seconds, or why there is none.
outcome() # WAY KIND INDEX
{
	local status time
	read -r status time <"$work/out/$1.$2.$3.time"
	case $status in
	0) printf '%d.%d' $((time / 1000000)) $((time / 100000 % 10)) ;;
	124 | 137) printf 'hangs' ;;
	*) printf 'fails' ;;
	esac
}

report_kind() # KIND
{
	local i way
	printf '%-24s' "$1"
	printf '%12s' "${ways[@]}"
	echo
	for i in "${!programs[@]}"; do
		printf '%-24s' "${programs[i]}"
		for way in "${ways[@]}"; do
			printf '%12s' "$(outcome "$way" "$1" "$i")"
		done
		echo
	done
}

# What went wrong: on PgBouncer one line, elsewhere more.
report_failures() # KIND
{
	local i way out
	for way in "${ways[@]}"; do
		for i in "${!programs[@]}"; do
			case $(outcome "$way" "$1" "$i") in
			hangs | fails)
				out=$work/out/$way.$1.$i
				say "$1, $way: ${programs[i]}: $(grep -m 1 -iE 'got|error|^[<>]' "$out" | cut -c 1-150)"
				[ "$way" = pgbouncer ] || {
					failed=$((failed + 1))
					tail -n 20 "$out"
				}
				;;
			*) [ "$way" != cenote ] || passed=$((passed + 1)) ;;
			esac
		done
	done
}

mixed_main() # ARGUMENT…
{
	local kind way wanted ours original both passed=0 failed=0
	suite_begin "${0##*/}" "$@"
	# For debugging.
	[ -z "${MIXED_PROGRAMS:-}" ] || read -ra programs <<<"$MIXED_PROGRAMS"
	[ -z "${MIXED_WAYS:-}" ] || read -ra ways <<<"$MIXED_WAYS"
	needs >"$work/out/needs.txt" 2>&1 ||
		not_run "a library is missing (scripts/install-deps all): $(tail -n 1 "$work/out/needs.txt")"
	cp -r "$suites_dir/clients" "$work/clients"
	chmod -R a+rX "$work/clients"
	mkdir "$work/nowhere"
	prepare
	for kind in ${MIXED_KINDS:-simple full}; do
		for way in "${ways[@]}"; do
			say "running $kind on $way"
			run_all "$way" "$kind"
			[ "$way" != direct ] || wanted=$(left_by "$rounds")
			if [ "$way" = cenote ] && [ "$(left_by "$rounds")" != "$wanted" ]; then
				say "$kind: the programs left $(left_by "$rounds"), not $wanted"
				failed=$((failed + 1))
			fi
		done
		report_kind "$kind"
		report_failures "$kind"
	done
	read -r ours original both <<<"$(maps_of shim)"
	say "mapped: $ours processes the shim alone, $both the original too, $original only the original"
	[ "$original/$both" = 0/0 ] || failed=$((failed + 1))
	printf 'RESULT %s done %s %s 0\n' "$suite" "$passed" "$failed"
	[ $failed = 0 ] || { keep=1 && exit 1; }
}
