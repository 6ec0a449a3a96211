#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: test_install.sh SOURCE_ROOT BUILD_ROOT PREFIX
#
# What `meson install` puts down can be used as it is: the example, the pages, what systemd reads.

set -u
source_root=$1
build=$2
prefix=$3
cd "$(dirname "$0")" || exit 99
. ../abi/tap.sh
tmp=$(mktemp -d)
root=$tmp/root
trap 'rm -rf "$tmp"' EXIT

meson install -C "$build" --no-rebuild --destdir "$root" >"$tmp/log" 2>&1 || {
	cat "$tmp/log" >&2
	exit 99
}
conf=$(find "$root" -name cenoted.conf.example)
man=$root$prefix/share/man

check_files() # FILE…
{
	local file
	for file in "$@"; do
		[ -s "$root$prefix/$file" ] || echo "not installed: $file"
	done
}

# As installed, but for what is said of this machine: its users, and where the modules are.
check_example()
{
	local out
	sed "s|^user .*|user = $(id -un)\nbackend_dir = $(dirname \
		"$(find "$root" -name cenoted-sqlite.so)")|" "$conf" >"$tmp/cenoted.conf"
	out=$("$root$prefix/sbin/cenoted" --check -c "$tmp/cenoted.conf" 2>&1 >"$tmp/inforce") ||
		echo "it is refused"
	# it is for the user to say who may read the copy
	grep -v 'password' <<<"$out"
}

# A pool for every backend that is built, and a password file. The pool of a router is in a comment, since it needs two other pools.
check_pools()
{
	local module name
	for module in "$root$prefix"/lib/*/cenote/backends/cenoted-*.so \
		"$root$prefix"/lib/cenote/backends/cenoted-*.so; do
		[ -e "$module" ] || continue
		name=$(basename "$module" .so)
		grep -qE "^(; )?backend *= ${name#cenoted-}$" "$conf" || echo "no pool of ${name#cenoted-}"
	done
	grep -q 'passfile=' "$conf" || echo "no password file"
}

check_missing_backend()
{
	local out
	sed 's/^backend *= sqlite/backend = sqlight/' "$tmp/cenoted.conf" >"$tmp/wrong.conf"
	out=$("$root$prefix/sbin/cenoted" --check -c "$tmp/wrong.conf" 2>&1)
	grep -q 'there is no backend sqlight: file .* not found; installed: .*sqlite' <<<"$out" ||
		echo "it does not say what there is: $out"
}

# The tables of keys in the backends' options.c, and cenoted-backends(5).
keys_of() # BACKEND
{
	sed -nE 's/^	\{ "([a-z_0-9-]+)",.*/\1/p' \
		"$source_root/tools/cenoted/backends/$1/options.c"
}

check_keys() # PAGE
{
	local backend key
	for backend in freetds mysql odbc sqlite; do
		[ -n "$(keys_of "$backend")" ] || echo "no keys found in $backend/options.c"
		for key in $(keys_of "$backend"); do
			sed -n "/^\.Ss $backend/,/^\.S[sh] /p" "$1" |
				grep -E '^\.(Ss|It|Cm)' | grep -qE "[ .]$key( |\$)" ||
				echo "$backend: $key is not described"
		done
	done
}

# What the master keeps of root's capabilities, less what the unit leaves it.
check_capabilities() # UNIT
{
	local cap
	sed -n '/^static const uint8_t kept/,/^}/p' "$source_root/tools/cenoted/shared/priv.c" |
		grep -oE 'CAP_[A-Z_]+' | while read -r cap; do
		grep -E '^CapabilityBoundingSet=' "$1" | grep -qw "$cap" || echo "$cap is missing"
	done
}

check_unit() # UNIT
{
	grep -q "^ConditionPathExists=.*/cenoted.conf\$" "$1" || echo "no ConditionPathExists"
	check_capabilities "$1"
	# it looks for the program under its name
	sed "s|^ExecStart=|&$root|" "$1" >"$tmp/cenoted.service"
	command -v systemd-analyze >/dev/null || return 0
	# it also complains about the other units of the machine
	systemd-analyze verify --man=no "$tmp/cenoted.service" 2>&1 | grep -F cenoted
	systemd-analyze security --offline=yes --threshold=30 "$tmp/cenoted.service" >/dev/null ||
		echo "its exposure, as systemd counts it, is above 3.0"
}

check_users()
{
	systemd-sysusers --root="$tmp/users" "$1" >"$tmp/log" 2>&1 && grep -q '^cenote:' "$tmp/users/etc/passwd" ||
		echo "no user cenote"
}

tap_passes "README, LICENSE and the pages that README leads to are there" check_files \
	share/doc/cenote/README.md share/doc/cenote/LICENSE share/doc/cenote/docs/backends.md \
	share/man/man5/cenoted-backends.5
tap_passes "the example is taken as it is" check_example
tap_passes "where a backend is missing, those that there are are named" check_missing_backend
tap_passes "the example has a pool for each backend" check_pools
tap_passes "cenoted-backends(5) has every key" check_keys "$man/man5/cenoted-backends.5"
grep -v '^\.It Cm synchronous' "$man/man5/cenoted-backends.5" >"$tmp/page"
tap_catches "a key that is left out is caught" 'sqlite: synchronous' check_keys "$tmp/page"
unit=$root$prefix/lib/systemd/system/cenoted.service
if [ -e "$unit" ]; then
	tap_passes "the unit waits for a configuration, and is confined" check_unit "$unit"
	tap_passes "systemd knows the directories" check_files lib/tmpfiles.d/cenote.conf
	mkdir -p "$tmp/users/etc"
	! command -v systemd-sysusers >/dev/null || [ "$(id -u)" != 0 ] ||
		tap_passes "systemd makes the user cenote" check_users \
			"$root$prefix/lib/sysusers.d/cenote.conf"
fi
tap_end
