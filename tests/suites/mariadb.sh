# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2034
# common.sh for suites of libmariadb: the server is MariaDB's.

# shellcheck source=tests/suites/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

shim_file=shims/libmysql/libmariadb.so.3
shim_module=mysql
original_variable=CENOTE_LIBMARIADB
original_pattern='/lib\(mariadb\|mysqlclient\)[.-]'
server_name=MariaDB
# Whoever is not root: the user mysql comes with MariaDB's service, which nothing here needs.
server_user=mysql
id -u mysql >/dev/null 2>&1 || server_user=postgres
[ "$(id -u)" != 0 ] || as=(setpriv --reuid="$server_user" --regid="$server_user" --init-groups)
# Sources and tests of one release.
mariadb_version=10.11.18-0+deb12u1
test_password="test"

# Debian's program is linked statically: it is never on the shim.
native_mariadb()
{
	mariadb --no-defaults --socket="$work/run/s" -u root
}

make_certificates()
{
	local dir=$work/tls
	mkdir -p "$dir"
	{
		openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=Test CA" \
			-keyout "$dir/ca.key" -out "$dir/ca.pem" &&
			openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" \
				-keyout "$dir/key.pem" -out "$dir/csr.pem" &&
			openssl x509 -req -days 2 -in "$dir/csr.pem" -CA "$dir/ca.pem" \
				-CAkey "$dir/ca.key" -CAcreateserial -out "$dir/cert.pem"
	} >"$work/out/tls.txt" 2>&1 || not_run "no certificates"
	[ "$(id -u)" != 0 ] || chown -R "$server_user": "$dir"
}

# A free port: the server listens on the loopback, since suites want TCP as well.
free_port()
{
	/usr/bin/python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

install_server()
{
	mariadb-install-db --no-defaults --datadir="$work/data" --skip-test-db \
		--auth-root-authentication-method=normal ${as:+--user="$server_user"}
}

start_server() # DATABASE…
{
	local database
	[ "$pool_kind" != split ] || not_run "a split is for PostgreSQL only"
	say "starting $server_name"
	make_certificates
	my_port=$(free_port)
	install_server >"$work/out/install.txt" 2>&1 ||
		{ tail -n 5 "$work/out/install.txt" && not_run "the server cannot be installed"; }
	# In its own tmpdir: a server that starts removes the temporary tables of others.
	(cd "$work" && exec setsid bash -c 'exec "$@"' server "${as[@]}" "$server_program" --no-defaults \
		--datadir="$work/data" --tmpdir="$work/data" --socket="$work/run/s" --pid-file="$work/run/pid" \
		--port="$my_port" --bind-address=127.0.0.1 --local-infile=1 --skip-log-bin \
		--max-connections=300 --innodb-flush-log-at-trx-commit=0 \
		--ssl-ca="$work/tls/ca.pem" --ssl-cert="$work/tls/cert.pem" \
		--ssl-key="$work/tls/key.pem" "${server_options[@]}") >"$work/out/server.txt" 2>&1 &
	server_pid=$!
	wait_for server $server_pid native_mariadb
	server_pid=$(cat "$work/run/pid")
	{
		for database in "$@"; do
			echo "create database \`$database\`;"
		done
		echo "create user test@localhost identified by '$test_password';"
		echo "create user test@'127.0.0.1' identified by '$test_password';"
		echo "grant all on *.* to test@localhost with grant option;"
		echo "grant all on *.* to test@'127.0.0.1' with grant option;"
	} | native_mariadb || not_run "no databases"
}
server_program=mariadbd
server_options=()
server_keys=
my_port=

stop_server()
{
	stop_process "$server_pid" TERM
	server_pid=
}

# start_pool DATABASE:SESSIONS…: a cenoted with a pool for each database, of the user test, whose server line
# has $server_keys too. Everybody else goes to the original library.
start_pool()
{
	local entry i
	say "starting cenoted"
	{
		printf '[cenoted]\nrun_dir = %s\nbackend_dir = %s\nlog = %s\n' "$work/pool" \
			"$work/backends" "$work/out/cenoted.log"
		[ "$(id -u)" != 0 ] || echo "user = $server_user"
		for entry in "$@"; do
			put_pool "${entry%:*}" "${entry##*:}" mysql "socket=$work/run/s user=test password=$test_password dbname=${entry%:*} local_infile=yes $server_keys"
		done
	} >"$work/cenoted.conf"
	{
		echo "[mysql]"
		for entry in "$@"; do
			printf '%s = *:*/%s/test\n' "${entry%:*}" "${entry%:*}"
		done
		# who asks for another database, or none, chooses it in a session of the first pool
		printf '%s = *:*/*/test\n' "${1%:*}"
	} >"$work/client.conf"
	chmod 644 "$work/cenoted.conf" "$work/client.conf"
	(cd "$work" && exec "${as[@]}" "$work/bin/cenoted" -c "$work/cenoted.conf") \
		>"$work/out/cenoted.txt" 2>&1 &
	pool_pid=$!
	for ((i = 0; i < 300; i++)); do
		[ ! -S "$work/pool/${1%:*}.sock" ] || { start_crowd "${1%:*}" 'select sleep(0.002)' && return 0; }
		is_alive $pool_pid || break
		sleep 0.1
	done
	tail -n 20 "$work/out/cenoted.txt"
	not_run "cenoted does not start"
}
