#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: on_pool postgresql 1 test_getting_started.sh SOURCE_ROOT BUILD_ROOT
#
# The commands of docs/getting-started.md do what it says, with the server of on_pool in place of the machine's.

set -u
source_root=$1
build=$(realpath "$2")
cd "$(dirname "$0")" || exit 99
. ../abi/tap.sh
tmp=$(mktemp -d)
port=$((20000 + $$ % 10000))

clean_up()
{
	# the page's server; and cenoted, if a step failed
	[ ! -s "$tmp/user/php.pid" ] || kill "$(cat "$tmp/user/php.pid")"
	[ ! -S "$tmp/user/runtime/cenote/admin.sock" ] || check_end
	rm -rf "$tmp"
}
trap clean_up EXIT

# The commands below a heading.
commands_of() # HEADING
{
	awk -v heading="## $1" '/^## / { on = $0 == heading } on && /^```$/ { code = 0 } on && code; on && /^```sh$/ { code = 1 }' \
		"$source_root/docs/getting-started.md" |
		sed "s|^server  = .*|server  = $CENOTE_TEST_SERVER|; s|8080|$port|g; s|page.php &\$|& echo \$! >$tmp/user/php.pid|"
}

# As a user without rights, in a directory of its own. What was printed is in out: a pipe would stay open with the page's server.
run_as_user() # HEADING
{
	local as=()
	[ "$(id -u)" != 0 ] || as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	commands_of "$1" >"$tmp/commands.sh"
	"${as[@]}" env -u LD_LIBRARY_PATH -u LD_PRELOAD HOME="$tmp/user" XDG_RUNTIME_DIR="$tmp/user/runtime" PATH="$tmp/bin:$PATH" \
		CENOTE_BACKEND_DIR="$build/tools/cenoted/backends/postgresql" CENOTE_SHIM_DIR="$build/shims/libpq" \
		CENOTE_CLIENT_CONF=/nonexistent timeout 20 bash -e -c "cd $tmp/user && . $tmp/commands.sh" >"$tmp/out" 2>"$tmp/err" </dev/null
}

check_psql()
{
	run_as_user "A pooled psql" || echo "status $?"
	grep -q '^ *42$' "$tmp/out" || cat "$tmp/out" "$tmp/err"
}

check_page()
{
	run_as_user "A pooled PHP page" || echo "status $?"
	[[ $(uniq -c "$tmp/out") =~ ^\ *2\ Session\ of\ process\ [0-9]+$ ]] || cat "$tmp/out" "$tmp/err"
}

check_end()
{
	"$build/tools/cenotectl/cenotectl" -r "$tmp/user/runtime/cenote" drain >/dev/null
}

chmod 711 "$tmp"
mkdir -m 700 "$tmp/user" "$tmp/user/runtime"
mkdir "$tmp/bin"
ln -s "$build/tools/cenoted/cenoted" "$build/shims/run/cenote-run" "$tmp/bin"
[ "$(id -u)" != 0 ] || chown 65534:65534 "$tmp/user" "$tmp/user/runtime"
chmod 755 "$tmp"
tap_passes "psql asks the pool" check_psql
tap_passes "two requests of a PHP page get one session" check_page
tap_passes "cenotectl drain ends cenoted" check_end
tap_end
