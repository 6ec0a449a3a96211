# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154
# What the tables of real programs on a shim have in common. Who sources it (behind common.sh) sets
#
#   page           the document in docs that has the table
#   programs       "NAME|what the table calls it"; NAME+NAME are one line of it, and run_NAME runs one
#   run_arguments  what run_begin needs beyond $work and $host
#   run_begin      ARGUMENT…: before the first program; the server is in the directory $host
#   prepare        starts server and pool; a directory $work/nowhere has no server
#
# and calls coverage_main "$@". The table goes between "<!-- NAME: begin -->" and "end" in docs/$page,
# where NAME is the script's.

suite_usage()
{
	cat <<USAGE
usage: tests/suites/${0##*/} [--check] [--build DIR] [--keep] [--help]

Runs real programs of $server_name on the original library, with the shim preloaded, and with the
shim's directory in LD_LIBRARY_PATH, and writes what came out into docs/$page. "works": the same output
as on the original, byte for byte, with the shim mapped, the original not, and no server where the
program was told to look for one.

  --check      change nothing; status 1 if docs/$page says something else
  --build DIR  the build to test (CENOTE_BUILD, or build)
  --keep       leave the temporary directory with all output

Status: 0 done, 1 see --check, 3 something that it needs is missing: scripts/install-deps all.
USAGE
}

# On the shim there is no original library to go to, and no server where the program looks for one:
# whoever is answered was answered by the pool.
run_one() # PROGRAM
{
	local host=$work/run
	[ "$way" = native ] || host=$work/nowhere
	rm -f "$work/maps/$way".*
	as_user timeout 100 env "${way_env[@]}" "$original_variable=/nonexistent" CENOTE_FALLBACK= \
		"$work/bin/${0##*/}" --run "$1" "$work" "$host" "${run_arguments[@]}"
}

# What a program did on one way in: "works", or why it does not.
verdict() # PROGRAM WAY
{
	local ours original both
	use_shim "$2"
	if ! run_one "$1" >"$work/out/$1.$2" 2>"$work/out/$1.$2.err"; then
		echo "no"
	elif ! cmp -s "$work/out/$1.native" "$work/out/$1.$2"; then
		echo "differs"
	else
		read -r ours original both <<<"$(maps_of shim)"
		case $original/$both/$ours in
		0/0/[1-9]*) echo "works" ;;
		0/[1-9]*) echo "works; its own copy is loaded, and idle" ;;
		*) echo "no" ;;
		esac
	fi
}

table()
{
	local entry program
	echo "| program | preloaded | by its soname |"
	echo "|---|---|---|"
	for entry in "${programs[@]}"; do
		program=${entry%%|*}
		use_native
		if ! run_one "$program" >"$work/out/$program.native" \
			2>"$work/out/$program.native.err" || [ ! -s "$work/out/$program.native" ]; then
			say "$program fails natively" >&2
			return 1
		fi
		echo "| ${entry#*|} | $(verdict "$program" preload) | $(verdict "$program" soname) |"
	done
}

# The lines of FILE with the table in place of what is between the markers of this program's name.
with_table() # FILE TABLE
{
	awk -v table="$2" -v mark="<!-- ${0##*/}: " '
	index($0, mark "end") == 1 { skip = 0 }
	!skip { print }
	index($0, mark "begin") == 1 { skip = 1; while ((getline line < table) > 0) print line }' "$1"
}

run_programs() # PROGRAM WORK HOST ARGUMENT…
{
	local program programs=$1
	work=$2 host=$3
	shift 3
	run_begin "$@"
	for program in ${programs//+/ }; do
		"run_$program" || return
	done
}

# Write the table into the document, or compare them when CHECK is 1.
publish() # CHECK
{
	local document=$source_root/docs/$page rows=${#programs[@]}
	cat "$work/out/table.md"
	with_table "$document" "$work/out/table.md" >"$work/out/$page"
	if cmp -s "$work/out/$page" "$document"; then
		printf 'RESULT %s done %s 0 0\n' "$suite" "$rows"
	elif [ "$1" = 1 ]; then
		diff -u "$document" "$work/out/$page"
		printf 'RESULT %s done 0 1 0\n' "$suite"
		return 1
	else
		cp "$work/out/$page" "$document"
		say "docs/$page has the new table"
	fi
}

coverage_main() # ARGUMENT…
{
	local check=0
	if [ "${1:-}" = --run ]; then
		shift
		run_programs "$@"
		return
	fi
	if [ "${1:-}" = --check ]; then
		check=1
		shift
	fi
	suite_begin "${0##*/}" "$@"
	# The programs run as the server's user, who may not be able to read this directory.
	cp "$suites_dir/${0##*/}" "$suites_dir"/*.sh "$work/bin/"
	prepare
	if ! table >"$work/out/table.md"; then
		tail -qn 5 "$work"/out/*.native.err
		not_run "a program fails natively; is all of scripts/install-deps all there?"
	fi
	publish $check
}
