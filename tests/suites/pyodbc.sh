# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2034,SC2154
# What pyodbc and pyodbc_mariadb have in common: pyodbc's own tests of one server.

# shellcheck source=tests/suites/odbc.sh
. "$(dirname "${BASH_SOURCE[0]}")/odbc.sh"

build_pyodbc()
{
	fetch_pypi pyodbc 5.5.0 pyodbc
	say "building"
	{
		/usr/bin/python3 -m venv "$work/venv" &&
			"$work/venv/bin/pip" -q install pytest &&
			CC="ccache gcc" CXX="ccache g++" timeout 300 "$work/venv/bin/pip" -q install "$work/pyodbc"
	} >"$work/out/build.txt" 2>&1 ||
		{ tail -n 20 "$work/out/build.txt" && not_run "it does not build"; }
}

tests()
{
	(
		cd "$work/pyodbc" || exit
		as_user timeout 300 env "${way_env[@]}" "$pyodbc_variable=DSN=$way" \
			"$work/venv/bin/python" -B -m pytest -p no:cacheprovider -v -rA "tests/$pyodbc_file"
	) >"$work/out/$way.txt" 2>&1
	pytest_results "$work/out/$way.txt" >"$1"
}

run_pyodbc() # NAME ARGUMENT…
{
	suite_begin "$@"
	build_pyodbc
	start_odbc pyodbc
	run_both tests
	suite_end
}
