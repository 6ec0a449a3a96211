# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2034,SC2154
# common.sh for suites of ODBC: on the server's own driver, then on ours and a pool of the same server. A runner
# sets odbc_server (postgresql or mariadb) before it sources this file. The data sources, native and shim, are
# named as the ways.

if [ "${odbc_server:=postgresql}" = mariadb ]; then
	# shellcheck source=tests/suites/mariadb.sh
	. "$(dirname "${BASH_SOURCE[0]}")/mariadb.sh"
	original_file=odbc/libmaodbc.so
	original_pattern='/libmaodbc[.]so'
else
	# shellcheck source=tests/suites/common.sh
	. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
	original_file=odbc/psqlodbcw.so
	original_pattern='/psqlodbcw[.]so'
fi
shim_file=shims/odbc/libcenoteodbc.so

use_native()
{
	way=native
	way_env=(CENOTE_WITNESS="$work/maps/native" LD_PRELOAD="$work/lib/witness.so" ODBCSYSINI="$work/odbc")
}

use_shim() # …
{
	way=shim
	way_env=(CENOTE_WITNESS="$work/maps/shim" LD_PRELOAD="$work/lib/witness.so" ODBCSYSINI="$work/odbc")
}

# The witness looks when the program ends: drivers stay in it until then.
write_drivers()
{
	cat <<INI
[cenote]
Driver = $work/lib/libcenoteodbc.so
DontDLClose = 1

[original]
Driver = $system_library
DontDLClose = 1
INI
}

write_sources() # DATABASE
{
	echo "[native]"
	echo "Driver = original"
	echo "Database = $1"
	if [ "$odbc_server" = mariadb ]; then
		echo "Socket = $work/run/s"
		echo "User = test"
		echo "Password = $test_password"
	else
		echo "Servername = $work/run"
		echo "Port = $pg_port"
		echo "Username = postgres"
	fi
	cat <<INI

[shim]
Driver = cenote
Server = unix:$work/pool
Pool = $1
INI
}

# start_odbc DATABASE: the server, a pool of it and the data sources.
start_odbc()
{
	start_server "$1"
	start_pool "$1:20"
	mkdir -p "$work/odbc"
	write_drivers >"$work/odbc/odbcinst.ini"
	write_sources "$1" >"$work/odbc/odbc.ini"
}
