# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2034,SC2154
# What dbd_odbc and dbd_odbc_mariadb have in common: the tests of DBD::ODBC (Perl) on one server.

# shellcheck source=tests/suites/odbc.sh
. "$(dirname "${BASH_SOURCE[0]}")/odbc.sh"

build_dbd()
{
	fetch_upstream libdbd-odbc-perl 1.61 dbd
	say "building"
	(
		cd "$work/dbd" && perl Makefile.PL -o /usr && make -s CC="ccache gcc"
	) >"$work/out/build.txt" 2>&1 ||
		{ tail -n 20 "$work/out/build.txt" && not_run "it does not build"; }
	[ "$(id -u)" != 0 ] || chown -R "$server_user": "$work/dbd"
}

tests()
{
	(
		cd "$work/dbd" || exit
		as_user timeout 500 env "${way_env[@]}" DBI_DSN="dbi:ODBC:$way" DBI_USER="$dbd_user" \
			DBI_PASS="$dbd_password" prove -v -b t/*.t
	) >"$work/out/$way.txt" 2>&1
	prove_results "$work/out/$way.txt" >"$1"
}

run_dbd() # NAME ARGUMENT…
{
	suite_begin "$@"
	build_dbd
	start_odbc dbd
	run_both tests
	suite_end
}
