# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2034,SC2154
# mariadb.sh with the option --mysql: the server is MySQL's, of tests/versions, and the original is Oracle's library of the same release.
# Both are Debian sid's, and need its libc. So the suite's programs are started by sid's loader ("${loader[@]}"), in both runs.

shim_file=shims/libmysql/libmysqlclient.so.24
original_variable=CENOTE_LIBMYSQLCLIENT
server_name=MySQL
# no folders of the system, and no second protocol
server_options=(--secure-file-priv= --mysqlx=0)

find_original()
{
	local cache=$build/versions-cache root libraries=usr/lib/x86_64-linux-gnu
	"$source_root/tests/versions/get_server" "$cache" "mysql:$mysql_release" || not_run "no server of MySQL $mysql_release"
	cache=$(readlink -f "$cache")/mysql-$mysql_release
	root=$cache/root
	server_program=$cache/bin/mysqld
	client_program=$cache/bin/mysql
	private_suite=sid
	fetch_debs "$mysql_release.*" oracle libmysqlclient24 libmysqlclient-dev
	own_original=$work/oracle/$libraries/libmysqlclient.so.24
	system_library=$own_original
	build_env=(MYSQLCLIENT_CFLAGS="-I$work/oracle/usr/include -I$work/oracle/usr/include/mysql"
		MYSQLCLIENT_LDFLAGS="-L$work/oracle/$libraries -lmysqlclient")
	loader=("$root/$libraries/ld-linux-x86-64.so.2" --library-path "$root/$libraries:$work/oracle/$libraries")
}

# Its client: MariaDB's has another way to log in.
native_mariadb()
{
	"$client_program" --no-defaults --socket="$work/run/s" -u root
}

install_server()
{
	(cd "$work" && "${as[@]}" "$server_program" --no-defaults --initialize-insecure --datadir="$work/data")
}
