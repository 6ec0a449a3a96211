# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# What the runners of other people's test suites have in common. A runner sets the variable `about`,
# sources this file and calls, in this order,
#
#   suite_begin NAME "$@"             options, a temporary directory $work, the build's programs
#   fetch_debian, fetch_pypi, …       the suite's source, never kept in this repository
#   start_server, start_pool          a PostgreSQL server and a cenoted of its own
#   run_both FUNCTION                 FUNCTION LIST: run the suite, with "${way_env[@]}" in its
#                                     environment, and write "pass|fail|skip TEST" lines to LIST
#   suite_end                         compare, say what came out, exit
#
# Exit status: 0 the gate holds, 1 it does not, 3 the suite could not run (no source, no server).

set -uo pipefail

suites_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(cd "$suites_dir/../.." && pwd)
suite=
build=
work=
keep=0
pool_kind=plain
crowd_pids=()
suites_cache=${CENOTE_SUITES_CACHE:-}
server_pid=
standby_pid=
pool_pid=
way_env=()
setup_seconds=0
pg_bin=/usr/lib/postgresql/15/bin
pg_share=
pg_port=5432
# Another release of PostgreSQL: --postgresql. Then libpq is built from its source, and is the original.
pg_release=15
# MySQL in place of MariaDB: --mysql, for a suite that sets mysql_releases. Then mysql.sh is read, and Oracle's library is the original.
mysql_release=
mysql_releases=
# An original that is not the system's.
own_original=
# What stands in for what: mariadb.sh has others. Where the original is named otherwise, original_file is its file, below the
# system's directories of libraries.
original_file=
shim_file=shims/libpq/libpq.so.5
shim_module=postgresql
original_variable=CENOTE_LIBPQ
original_pattern='/libpq[.-]'
server_name=PostgreSQL
server_user=postgres

suite_usage()
{
	cat <<USAGE
usage: tests/suites/${0##*/} [--build DIR] [--pool KIND] [--postgresql 15|17|18] [--mysql 9.7] [--keep] [--help]

${about:-}

Runs it first on the original library, then on the shim, on one $server_name server that is started for
it. What fails on the shim and not on the original must be in tests/suites/expected/${0##*/}, with the
reason; no test may be skipped or go missing on the shim only.

  --build DIR  the build to test (CENOTE_BUILD, or build)
  --pool KIND  lent: the pool lends its sessions; contended: mode = transaction with three sessions, which
               four other clients want all the time; router: a router with one target is in front of the
               pool; split (PostgreSQL): a router sends reads to a standby. Differences of such a pool
               alone are in tests/suites/expected/${0##*/}.KIND.
  --postgresql RELEASE  the tests, the server and libpq of that release (only libpq_pipeline and libpq_api)
  --mysql RELEASE  MySQL's server and library of that release (only mysqlclient)
  --keep       leave the temporary directory with all logs

CENOTE_SUITES_CACHE names a directory where fetched sources are kept for the next run.
Status: 0 all is well, 1 there are differences without an explanation, 3 it could not run.
USAGE
}

say()
{
	printf '%s: %s\n' "${suite:-${0##*/}}" "$*"
}

# The suite could not run: that is no success.
not_run()
{
	say "not run: $*"
	printf 'RESULT %s not-run 0 0 0\n' "$suite"
	exit 3
}

is_alive() # PID
{
	[ -n "$1" ] && [ -r "/proc/$1/stat" ] && ! grep -qs ') Z ' "/proc/$1/stat"
}

stop_process() # PID SIGNAL
{
	local i
	is_alive "$1" || return 0
	kill "-$2" "$1" 2>/dev/null
	for ((i = 0; i < 150; i++)); do
		is_alive "$1" || return 0
		sleep 0.1
	done
	kill -KILL "$1" 2>/dev/null
}

stop_pool()
{
	local pid
	for pid in "${crowd_pids[@]}"; do
		stop_process "$pid" TERM
	done
	crowd_pids=()
	stop_process "$pool_pid" TERM
	pool_pid=
}

# pool_lines SESSIONS: a pool of the kind that --pool asks for.
pool_lines()
{
	case $pool_kind in
	plain | router | split) printf 'sessions = 1..%s\n' "$1" ;;
	lent) printf 'sessions = 1..%s\nlend = auto\n' "$1" ;;
	contended) printf 'sessions = 1..3\nmode = transaction\nqueue_timeout = 60s\n' ;;
	esac
}

# put_pool NAME SESSIONS BACKEND SERVER [STANDBY]: the sections of a pool. A router and its targets have as many sessions.
put_pool()
{
	local target targets=() i=4
	case $pool_kind in
	router) targets=(primary) ;;
	split) targets=(primary replica) ;;
	*) printf '\n[pool %s]\nbackend = %s\nserver = %s\n' "$1" "$3" "$4" ;;
	esac
	for target in "${targets[@]}"; do
		printf '\n[pool %s-%s]\nbackend = %s\nserver = %s\n' "$1" "$target" "$3" "${!i}"
		pool_lines "$2"
		[ $pool_kind = router ] || printf 'read_own_writes = 10s\n'
		i=$((i + 1))
	done
	[ ${#targets[@]} = 0 ] || printf '\n[pool %s]\nbackend = router\nserver =' "$1"
	for target in "${targets[@]}"; do
		printf ' %s=%s-%s' "$target" "$1" "$target"
	done
	[ $pool_kind != split ] || printf '\nrule = class=read in_tx=no -> pool replica'
	printf '\n'
	pool_lines "$2"
	printf 'auth = trust\n'
}

# start_crowd POOL SQL: other clients, which always want a session.
start_crowd()
{
	[ "$pool_kind" = contended ] || return 0
	local i
	for i in 1 2 3 4; do
		yes "$2;" | LD_LIBRARY_PATH=$build/lib "$build/tools/sqlsh/sqlsh" -n -q -o /dev/null \
			"cenote:///$1?run_dir=$work/pool&connect_timeout=60s" 2>"$work/out/crowd.$i.txt" &
		crowd_pids+=($!)
	done
}

stop_server()
{
	stop_process "$standby_pid" INT
	stop_process "$server_pid" INT
	standby_pid=
	server_pid=
}

suite_clean_up()
{
	local status=$?
	trap - EXIT
	stop_pool
	stop_server
	if [ -n "$work" ]; then
		if [ $keep = 1 ]; then
			say "logs are in $work"
		else
			rm -rf "$work"
		fi
	fi
	exit $status
}

# A server refuses to run as root, and what it made belongs to its user.
as_user()
{
	if [ "$(id -u)" = 0 ]; then
		runuser -u "$server_user" -- "$@"
	else
		"$@"
	fi
}

# What every runner begins with: options, and the temporary directory.
suite_open() # NAME ARGUMENT…
{
	build=${CENOTE_BUILD:-$source_root/build}
	suite=$1
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		--build) [ $# -gt 1 ] || { suite_usage >&2 && exit 2; } && build=$2 && shift ;;
		--pool) [[ ${2:-} = @(plain|lent|contended|router|split) ]] || { suite_usage >&2 && exit 2; } && pool_kind=$2 && shift ;;
		--postgresql) [[ ${2:-} = 1[578] ]] || { suite_usage >&2 && exit 2; } && pg_release=$2 && shift ;;
		--mysql) [[ ${2:-} && ${2:-} = "$mysql_releases" ]] || { suite_usage >&2 && exit 2; } && mysql_release=$2 && shift ;;
		--keep) keep=1 ;;
		-h | --help) suite_usage && exit 0 ;;
		*) suite_usage >&2 && exit 2 ;;
		esac
		shift
	done
	trap suite_clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	work=$(mktemp -d "${TMPDIR:-/tmp}/cenote-$suite.XXXXXX") || exit 1
	mkdir -p "$work/out"
}

find_original()
{
	local original=${original_file:-${shim_file##*/}}
	system_library=$(readlink -f "/usr/lib/"*"/$original" "/usr/lib64/$original" 2>/dev/null |
		head -n 1)
	[ -f "$system_library" ] || not_run "no $original of the system"
}

suite_begin() # NAME ARGUMENT…
{
	suite_open "$@"
	# shellcheck source=tests/suites/mysql.sh
	[ -z "$mysql_release" ] || . "$suites_dir/mysql.sh"
	mkdir -p "$work"/{bin,backends,lib,maps,run,pool,home}
	# Copies: the user that the server runs as may not be able to read the build directory.
	{
		cp "$build/$shim_file" "$work/lib/" &&
			cp "$build/tools/cenoted/cenoted" "$work/bin/" &&
			cp "$build/tools/cenoted/borrower/cenote-loan.so" "$work/lib/" &&
			cp "$build/tools/cenoted/backends/$shim_module/cenoted-$shim_module.so" \
				"$build/tools/cenoted/backends/router/cenoted-router.so" "$work/backends/"
	} ||
		not_run "$build has no shim, cenoted or backend $shim_module: meson compile -C $build"
	${CC:-gcc} -shared -fPIC -O1 -o "$work/lib/witness.so" "$suites_dir/witness.c" ||
		not_run "the witness of what is mapped could not be built"
	find_original
	[ "$(id -u)" != 0 ] || chown -R "$server_user": "$work"
	chmod 755 "$work"
	chmod 1777 "$work/maps" "$work/out" "$work/run"
	unset "${!PG@}" "${!CENOTE_@}" LD_PRELOAD LD_LIBRARY_PATH
	export LC_ALL=C.UTF-8 TZ=UTC HOME=$work/home
}

# ---------------------------------------------------------------------------- sources

# The machine's own package lists stay as they are.
private_suite=bookworm
private_apt()
{
	local lists=$fetch_dir/apt-$private_suite
	if [ -z "$(find "$lists" -maxdepth 0 -mtime -1 2>/dev/null)" ]; then
		rm -rf "$lists"
		mkdir -p "$lists"/{lists/partial,cache/archives/partial,parts}
		# sid has neither updates nor the security archive
		cat >"$lists/parts/debian.sources" <<LIST
Types: deb deb-src
URIs: http://deb.debian.org/debian
Suites: $private_suite $([ "$private_suite" = sid ] || echo "$private_suite-updates")
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
LIST
		[ "$private_suite" = sid ] || cat >>"$lists/parts/debian.sources" <<LIST

Types: deb deb-src
URIs: http://deb.debian.org/debian-security
Suites: $private_suite-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
LIST
		apt_private -qq update || { rm -rf "$lists" && return 1; }
	fi
}

apt_private()
{
	timeout 300 apt-get -o Dir::Etc::SourceList=/dev/null \
		-o Dir::Etc::SourceParts="$fetch_dir/apt-$private_suite/parts" \
		-o Dir::State::Lists="$fetch_dir/apt-$private_suite/lists" \
		-o Dir::Cache="$fetch_dir/apt-$private_suite/cache" \
		-o Acquire::Retries=3 -o APT::Sandbox::User=root "$@"
}

fetch_dir=
# Suites that run at the same time share the sources: what one fetches, the others wait for. fetch_end lets them.
fetch_begin()
{
	if [ -z "$fetch_dir" ]; then
		fetch_dir=${suites_cache:-$work/fetch}
		mkdir -p "$fetch_dir" || not_run "$fetch_dir cannot be made"
	fi
	exec 9>"$fetch_dir/lock" && flock 9
}

fetch_end()
{
	exec 9>&-
}

# fetch_source SOURCE VERSION: the Debian source package's files, in $fetch_dir.
fetch_source()
{
	local source=$1 version=$2
	fetch_begin
	if [ ! -f "$fetch_dir/${source}_${version#*:}.dsc" ]; then
		say "fetching the source package $source $version"
		(private_apt && cd "$fetch_dir" &&
			apt_private -qq --download-only source "$source=$version") >"$work/out/fetch.txt" 2>&1 ||
			{ tail -n 5 "$work/out/fetch.txt" && not_run "no source package $source=$version"; }
	fi
	fetch_end
}

# fetch_debian SOURCE VERSION DIR: unpacks the Debian source package in $work/DIR.
fetch_debian()
{
	local dsc=$1_${2#*:}.dsc
	fetch_source "$1" "$2"
	(cd "$work" && dpkg-source -x "$fetch_dir/$dsc" "$3") >"$work/out/unpack.txt" 2>&1 ||
		{ tail -n 5 "$work/out/unpack.txt" && not_run "$dsc cannot be unpacked"; }
}

# fetch_debian_part SOURCE VERSION DIR FOLDER…: only these folders of its upstream source, where the
# whole is large and Debian's patches do not matter.
fetch_debian_part()
{
	local source=$1 version=$2 dir=$3 tarball
	shift 3
	fetch_source "$source" "$version"
	version=${version#*:}
	tarball=$(compgen -G "$fetch_dir/${source}_${version%-*}.orig.tar.?z")
	mkdir -p "$work/$dir"
	tar -xf "$tarball" -C "$work/$dir" --strip-components=1 --wildcards "${@/#/*/}" \
		>"$work/out/unpack.txt" 2>&1 ||
		{ tail -n 5 "$work/out/unpack.txt" && not_run "$tarball cannot be unpacked"; }
}

# fetch_upstream SOURCE VERSION DIR: unpacks the upstream source of the Debian source package alone.
fetch_upstream()
{
	local file=$1_$2.orig.tar.gz
	fetch_begin
	if [ ! -f "$fetch_dir/$file" ]; then
		say "fetching $file"
		(private_apt && cd "$fetch_dir" &&
			apt_private -qq --download-only --tar-only source "$1") >"$work/out/fetch.txt" 2>&1
		[ -f "$fetch_dir/$file" ] ||
			{ tail -n 5 "$work/out/fetch.txt" && not_run "no source of $1 $2"; }
	fi
	fetch_end
	mkdir -p "$work/$3"
	tar -xzf "$fetch_dir/$file" -C "$work/$3" --strip-components=1 ||
		not_run "$file cannot be unpacked"
}

# fetch_debs VERSION DIR PACKAGE…: unpacks Debian packages below $work/DIR, installs nothing.
fetch_debs()
{
	local version=$1 dir=$2 package deb
	shift 2
	fetch_begin
	for package in "$@"; do
		# an epoch's colon is %3a in the file's name
		deb=$(compgen -G "$fetch_dir/${package}_${version/:/%3a}_*.deb")
		if [ -z "$deb" ]; then
			say "fetching the package $package $version"
			(private_apt && cd "$fetch_dir" &&
				apt_private -qq download "$package=$version") >"$work/out/fetch.txt" 2>&1 ||
				{ tail -n 5 "$work/out/fetch.txt" && not_run "no package $package=$version"; }
			deb=$(compgen -G "$fetch_dir/${package}_${version/:/%3a}_*.deb")
		fi
		dpkg -x "$deb" "$work/$dir" || not_run "$deb cannot be unpacked"
	done
	fetch_end
}

# fetch_pypi NAME VERSION DIR: unpacks the sdist in $work/DIR.
fetch_pypi()
{
	local file=$1-$2.tar.gz
	fetch_begin
	if [ ! -f "$fetch_dir/$file" ]; then
		say "fetching the sdist $file"
		timeout 300 /usr/bin/python3 -m pip -q download --no-deps --no-binary "$1" \
			-d "$fetch_dir" "$1==$2" >"$work/out/fetch.txt" 2>&1 ||
			{ tail -n 5 "$work/out/fetch.txt" && not_run "no sdist of $1 $2"; }
	fi
	fetch_end
	mkdir -p "$work/$3"
	{ tar -xzf "$fetch_dir/$file" -C "$work/$3" --strip-components=1 && chmod -R a+rX "$work/$3"; } ||
		not_run "$file cannot be unpacked"
}

# build_venv PACKAGE…: Python packages, directories of sources among them, in $work/venv.
build_venv()
{
	say "building"
	{
		/usr/bin/python3 -m venv "$work/venv" &&
			CC="ccache gcc" timeout 600 "$work/venv/bin/pip" -q install "$@"
	} >"$work/out/build.txt" 2>&1 ||
		{ tail -n 20 "$work/out/build.txt" && not_run "it does not build"; }
}

# The tests must be of the server's release: take both from the same version's packages.
pg_version=15.18-0+deb12u1

# postgresql_source TARGET…: PostgreSQL's source in $work/postgresql, configured, with make run in
# each of the directories, and the server of that very version as $pg_bin.
postgresql_source()
{
	local target
	if [ "$pg_release" = 15 ]; then
		fetch_debian postgresql-15 $pg_version postgresql
		fetch_debs $pg_version inst postgresql-15 postgresql-client-15
		pg_bin=$work/inst/usr/lib/postgresql/15/bin
		pg_share=$work/inst/usr/share/postgresql/15
	else
		fetch_release
	fi
	say "building"
	(
		cd "$work/postgresql" &&
			CC="ccache gcc" ./configure -q --with-openssl --without-readline --without-zlib --without-icu &&
			for target in ${own_original:+src/interfaces/libpq} "$@"; do
				make -s -j "$(nproc)" -C "$target" || exit 1
			done
	) >"$work/out/build.txt" 2>&1 ||
		{ tail -n 20 "$work/out/build.txt" && not_run "it does not build"; }
	[ "$(id -u)" != 0 ] || chown -R postgres: "$work/postgresql"
}

# The newest source of $pg_release in the suite of Debian that has it, and a server of tests/versions.
fetch_release()
{
	local dsc cache
	private_suite=sid
	[ "$pg_release" != 17 ] || private_suite=trixie
	fetch_begin
	dsc=$(compgen -G "$fetch_dir/postgresql-${pg_release}_*.dsc" | sort -V | tail -n 1)
	if [ -z "$dsc" ]; then
		say "fetching the source package postgresql-$pg_release"
		(private_apt && cd "$fetch_dir" &&
			apt_private -qq --download-only source "postgresql-$pg_release") >"$work/out/fetch.txt" 2>&1 ||
			{ tail -n 5 "$work/out/fetch.txt" && not_run "no source package postgresql-$pg_release"; }
		dsc=$(compgen -G "$fetch_dir/postgresql-${pg_release}_*.dsc" | sort -V | tail -n 1)
	fi
	fetch_end
	(cd "$work" && dpkg-source -x "$dsc" postgresql) >"$work/out/unpack.txt" 2>&1 ||
		{ tail -n 5 "$work/out/unpack.txt" && not_run "$dsc cannot be unpacked"; }
	cache=$build/versions-cache
	"$source_root/tests/versions/get_server" "$cache" "postgresql:$pg_release" ||
		not_run "no server of PostgreSQL $pg_release"
	pg_bin=$(readlink -f "$cache")/postgresql-$pg_release/bin
	own_original=$work/postgresql/src/interfaces/libpq/libpq.so.5
	system_library=$own_original
}

# prove_results FILE: what "prove -v" wrote, as "pass|fail|skip TEST" lines.
prove_results()
{
	awk '
	/^t\/[^ ]+\.t \.+ *$/ { file = $1; next }
	/^t\/[^ ]+\.t \.+ skipped/ { print "skip " $1; next }
	/^(not )?ok [0-9]+/ {
		ok = $1 == "ok"; n = ok ? $2 : $3
		kind = ok ? "pass" : "fail"
		if (/# *(SKIP|skip)/) kind = "skip"
		else if (!ok && /# *TODO/) kind = "skip"
		print kind " " file ": " n
	}
	/^ok$/ { print "pass " file ": runs to its end" }
	/^(Dubious|Failed)/ { print "fail " file ": runs to its end" }
	' "$1"
}

# pytest_results FILE: what "pytest -v" wrote, as "pass|fail|skip TEST" lines. A test's name may hold blanks.
pytest_results()
{
	sed -nE 's/ +\[ *[0-9]+%\]$//
		s/^(tests[^ ]+::.+) (PASSED|XFAIL|XPASS)( \(.*\))?$/pass \1/p
		s/^(tests[^ ]+::.+) (FAILED|ERROR)$/fail \1/p
		s/^(tests[^ ]+::.+) SKIPPED( \(.*\))?$/skip \1/p' "$1"
}

# unittest_results FILE: what Python's "unittest -v" wrote, as "pass|fail|skip TEST" lines: "test (module.Class.test)",
# or with a first line of documentation in between; warnings may come before the verdict.
unittest_results()
{
	awk '
	match($0, /^test[A-Za-z0-9_]+ \([A-Za-z0-9_.]+\)/) {
		name = substr($0, RSTART, RLENGTH); sub(/ /, "", name)
	}
	name == "" { next }
	/ok$/ { print "pass " name; name = "" }
	/(FAIL|ERROR|unexpected success)$/ { print "fail " name; name = "" }
	/expected failure$|skipped / { print "skip " name; name = "" }
	' "$1"
}

# regress_results FILE: what pg_regress and its relatives wrote, as "pass|fail TEST" lines.
regress_results()
{
	sed -nE 's/^(test)? +([a-z_0-9./-]+) +\.\.\. ok .*/pass \2/p
		s/^(test)? +([a-z_0-9./-]+) +\.\.\. .*FAILED.*/fail \2/p' "$1"
}

# ---------------------------------------------------------------------------- servers

wait_for() # WHAT PID COMMAND…
{
	local what=$1 pid=$2 i
	shift 2
	for ((i = 0; i < 300; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		is_alive "$pid" || break
		sleep 0.1
	done
	tail -n 20 "$work/out/$what.txt"
	not_run "$what does not start"
}

native_psql() # ARGUMENT…
{
	as_user "$pg_bin/psql" -X -q -v ON_ERROR_STOP=1 -h "$work/run" -p "$pg_port" -U postgres "$@"
}

start_server() # DATABASE…
{
	local database
	say "starting PostgreSQL"
	(cd "$work" && as_user "$pg_bin/initdb" -D "$work/data" -U postgres -A trust --locale=C -E UTF8 \
		${pg_share:+-L "$pg_share"}) >"$work/out/initdb.txt" 2>&1 ||
		{ tail -n 5 "$work/out/initdb.txt" && not_run "initdb fails"; }
	as_user tee -a "$work/data/postgresql.conf" >/dev/null <<CONF
listen_addresses = ''
unix_socket_directories = '$work/run'
port = $pg_port
fsync = off
max_connections = 200
wal_level = logical
max_prepared_transactions = 10
max_wal_senders = 10
dynamic_library_path = '${pg_bin%/bin}/lib:\$libdir'
CONF
	(cd "$work" && exec setsid bash -c 'exec "$@"' server "${as[@]}" "$pg_bin/postgres" \
		-D "$work/data") >"$work/out/server.txt" 2>&1 &
	server_pid=$!
	wait_for server $server_pid native_psql -c 'select 1' postgres
	server_pid=$(head -n 1 "$work/data/postmaster.pid")
	for database in "$@"; do
		native_psql -c "create database \"$database\" template template0" postgres ||
			not_run "no database $database"
	done
}

# A standby of the server. Its socket is in $work/standby.
start_standby()
{
	say "starting a standby"
	rm -rf "$work/standby"
	as_user mkdir "$work/standby"
	{
		as_user "$pg_bin/pg_basebackup" -h "$work/run" -p "$pg_port" -U postgres \
			-D "$work/standby/data" -R -c fast &&
			echo "unix_socket_directories = '$work/standby'" |
			as_user tee -a "$work/standby/data/postgresql.conf"
	} >"$work/out/basebackup.txt" 2>&1 ||
		{ tail -n 5 "$work/out/basebackup.txt" && not_run "no standby"; }
	(cd "$work" && exec setsid bash -c 'exec "$@"' server "${as[@]}" "$pg_bin/postgres" \
		-D "$work/standby/data") >"$work/out/standby.txt" 2>&1 &
	standby_pid=$!
	wait_for standby $standby_pid as_user "$pg_bin/psql" -X -q -h "$work/standby" \
		-p "$pg_port" -U postgres -c 'select 1' postgres
	standby_pid=$(head -n 1 "$work/standby/data/postmaster.pid")
}

# fresh_server DATABASE…: without what another run left in the cluster.
fresh_server()
{
	local start=$SECONDS
	stop_pool
	[ -z "$server_pid" ] || stop_server
	rm -rf "$work/data"
	start_server "$@"
	setup_seconds=$((setup_seconds + SECONDS - start))
}

# What starts a program as the server's user without a process in between that signals stop at.
as=()
[ "$(id -u)" != 0 ] || as=(setpriv --reuid="$server_user" --regid="$server_user" --init-groups)

# start_pool DATABASE:SESSIONS…: a cenoted with a pool for each database (of the user postgres).
# Everything else goes to the original library.
start_pool()
{
	local entry line start=$SECONDS
	[ "$pool_kind" != split ] || start_standby
	say "starting cenoted"
	{
		printf '[cenoted]\nrun_dir = %s\nbackend_dir = %s\nlog = %s\n' "$work/pool" \
			"$work/backends" "$work/out/cenoted.log"
		[ "$(id -u)" != 0 ] || echo "user = postgres"
		for entry in "$@"; do
			line="port=$pg_port user=postgres dbname=${entry%:*}"
			put_pool "${entry%:*}" "${entry##*:}" postgresql "host=$work/run $line" \
				"host=$work/standby $line"
		done
	} >"$work/cenoted.conf"
	{
		echo "[libpq]"
		for entry in "$@"; do
			printf '%s = *:*/%s/postgres\n' "${entry%:*}" "${entry%:*}"
		done
	} >"$work/client.conf"
	chmod 644 "$work/cenoted.conf" "$work/client.conf"
	(cd "$work" && exec "${as[@]}" "$work/bin/cenoted" -c "$work/cenoted.conf") \
		>"$work/out/cenoted.txt" 2>&1 &
	pool_pid=$!
	use_shim preload
	wait_for cenoted $pool_pid as_user env "${way_env[@]}" "$pg_bin/psql" -X -h "$work/run" \
		-p "$pg_port" -U postgres -c 'select 1' "${1%:*}"
	rm -f "$work"/maps/shim.*
	for entry in "$@"; do
		start_crowd "${entry%:*}" 'select pg_sleep(0.002)'
	done
	setup_seconds=$((setup_seconds + SECONDS - start))
}

# ---------------------------------------------------------------------------- running

use_native()
{
	way=native
	way_env=(CENOTE_WITNESS="$work/maps/native" LD_PRELOAD="$work/lib/witness.so")
	[ -z "$own_original" ] || way_env+=(LD_LIBRARY_PATH="${own_original%/*}")
}

use_shim() # preload|soname
{
	way=shim
	way_env=(CENOTE_SERVER="unix:$work/pool" CENOTE_CLIENT_CONF="$work/client.conf"
		CENOTE_FALLBACK=direct "$original_variable=$system_library"
		CENOTE_WITNESS="$work/maps/shim")
	[ "$pg_release" = 15 ] || way_env+=(CENOTE_LIBPQ_VERSION="${pg_release}0000")
	if [ "$1" = preload ]; then
		way_env+=(LD_PRELOAD="$work/lib/${shim_file##*/} $work/lib/witness.so")
	else
		way_env+=(LD_LIBRARY_PATH="$work/lib" LD_PRELOAD="$work/lib/witness.so")
	fi
}

# run_way FUNCTION LIST: how long it took, without what starting servers took, is in run_seconds.
run_way()
{
	local start=$SECONDS
	setup_seconds=0
	"$@"
	run_seconds=$((SECONDS - start - setup_seconds))
}

native_seconds=0
shim_seconds=0
run_both() # FUNCTION
{
	say "running natively"
	use_native
	run_way "$1" "$work/out/native.list"
	native_seconds=$run_seconds
	say "running on the shim"
	use_shim preload
	run_way "$1" "$work/out/shim.list"
	shim_seconds=$run_seconds
}

with_status() # STATUS LIST: the names
{
	sed -n "s/^$1 //p" "$2" | LC_ALL=C sort -u
}

minus() # LIST LIST
{
	LC_ALL=C comm -23 "$1" "$2"
}

# Libraries of the other kind do not count: a program may use both.
originals_in() # FILE
{
	grep -v "^$work/lib/\|^#" "$1" | grep -c "$original_pattern"
}

# maps_of WAY: "OURS ORIGINAL BOTH", the number of processes that had them mapped at their end.
maps_of()
{
	local file ours=0 original=0 both=0
	for file in "$work/maps/$1".*; do
		[ -f "$file" ] || continue
		case $(grep -c "^$work/lib/" "$file")/$(originals_in "$file") in
		0/0) ;;
		*/0) ours=$((ours + 1)) ;;
		0/*) original=$((original + 1)) ;;
		*) both=$((both + 1)) ;;
		esac
	done
	echo "$ours $original $both"
}

# A process that has the original mapped as well was sent there: by CENOTE_FALLBACK or because no
# pool covers what it wanted. Only a suite that says so in its file of expected differences may.
check_maps()
{
	local ours original both
	read -r ours original both <<<"$(maps_of native)"
	if [ $((ours + both)) != 0 ] || [ "$original" = 0 ]; then
		say "the native run was none: $ours processes on the shim, $original on the original"
		return 1
	fi
	if [ -n "$own_original" ] && cat "$work"/maps/native.* | grep "^/.*$original_pattern" | grep -qvF "${own_original%.*}"; then
		say "the native run had another library than $own_original"
		return 1
	fi
	read -r ours original both <<<"$(maps_of shim)"
	say "mapped: $ours processes the shim alone, $both the original too, $original only the original"
	if [ "$original" != 0 ] || [ $((ours + both)) = 0 ]; then
		say "processes without the shim in the run on the shim"
		return 1
	fi
	if [ "$both" != 0 ] && ! grep -q '^maps ' "$expected"; then
		say "processes that opened the original library, and no reason for it in $expected"
		return 1
	fi
}

suite_end()
{
	local out=$work/out failed=0 bad=0 kind explained passed skipped total
	expected=$out/expected
	cat "$suites_dir/expected/$suite" "$suites_dir/expected/$suite.$pool_kind" >"$expected" 2>/dev/null
	for way in native shim; do
		[ -f "$out/$way.list" ] || : >"$out/$way.list"
		for kind in pass fail skip; do
			with_status $kind "$out/$way.list" >"$out/$way.$kind"
		done
		cut -d ' ' -f 2- "$out/$way.list" | LC_ALL=C sort -u >"$out/$way.all"
	done
	minus "$out/native.all" "$out/shim.all" >"$out/new.missing"
	minus "$out/shim.fail" "$out/native.fail" >"$out/new.fail"
	minus "$out/shim.skip" "$out/native.skip" >"$out/new.skip"
	explained=0
	for kind in fail skip missing; do
		# "KIND NAME | reason"
		sed -n "s/^$kind \(.*[^ ]\)  *| .*/\1/p" "$expected" | LC_ALL=C sort -u >"$out/known.$kind"
		minus "$out/new.$kind" "$out/known.$kind" >"$out/bad.$kind"
		bad=$((bad + $(wc -l <"$out/bad.$kind")))
		explained=$((explained + $(LC_ALL=C comm -12 "$out/new.$kind" "$out/known.$kind" | wc -l)))
		sed "s/^/$suite: on the shim only, $kind: /" "$out/bad.$kind" | head -n 50
		[ $kind = missing ] || minus "$out/known.$kind" "$out/new.$kind" |
			sed "s/^/$suite: expected to $kind on the shim, and did not: /"
	done
	total=$(wc -l <"$out/native.all")
	passed=$(wc -l <"$out/shim.pass")
	skipped=$(($(wc -l <"$out/shim.skip") + explained))
	[ "$total" -gt 0 ] || { say "nothing ran natively" && failed=1; }
	check_maps || failed=1
	say "native: $total tests, $(wc -l <"$out/native.fail") failed," \
		"$(wc -l <"$out/native.skip") skipped, $native_seconds s;" \
		"shim: $(wc -l <"$out/shim.all") tests, $(wc -l <"$out/shim.fail") failed," \
		"$(wc -l <"$out/shim.skip") skipped, $shim_seconds s;" \
		"$explained differences explained, $bad not"
	printf 'RESULT %s done %s %s %s %s %s %s\n' "$suite" "$passed" $((bad + failed)) "$skipped" \
		"$total" "$native_seconds" "$shim_seconds"
	[ $((bad + failed)) = 0 ] || { keep=1 && exit 1; }
	exit 0
}
