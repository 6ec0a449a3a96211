#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_exports.sh SOURCE_ROOT OUR_LIBRARY ORIGINAL_LIBRARY OUR_LIBRARY_FOR_RED_HAT
#
# The shim exports what shims/libpq/exports.txt says and nothing else, has the original's soname, and has
# everything that the original has, functions as functions and data as data. What it takes from the C
# library does not act on the process it is in; the few exceptions are libpq's own.

set -u
. "$1/tests/abi/tap.sh"
. "$1/tests/shims/exports.sh"
list=$1/shims/libpq/exports.txt
ours=$2
original=${CNT_ORIGINAL_LIBPQ:-$3}
redhat=$4
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# NAME function|data
exported() # SHARED_LIBRARY
{
	nm -D --defined-only "$1" | awk '$2 != "A" {
		sub(/@.*/, "", $3); print $3, $2 ~ /[TW]/ ? "function" : "data" }' | LC_ALL=C sort -u
}

reviewed() # LIST
{
	sed -e 's/#.*//' -e '/^$/d' "$1" | awk '{ print $1, $3 }'
}

check_list() # LIST
{
	sed -e 's/#.*//' -e '/^$/d' "$1" | LC_ALL=C sort -c 2>&1
	sed -e 's/#.*//' -e '/^$/d' "$1" | grep -vE '^[A-Za-z_0-9]+ (9\.6|1[02346-8]) (function|data)$'
}

# NAME NODE, as the list says and as a library has it: one default version for each name.
listed_nodes() # LIST
{
	sed -e 's/#.*//' -e '/^$/d' "$1" | awk '{ print $1 "@@RHPG_" $2 }' | LC_ALL=C sort
}

nodes_of() # SHARED_LIBRARY
{
	nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' |
		grep -v '^cenote_shim_libpq$' | LC_ALL=C sort
}

check_nodes() # LIBRARY LISTED
{
	nodes_of "$1" | diff "$2" - | grep '^[<>]' | sed 's/^</missing:/; s/^>/not in the list:/'
}

# A libpq with Red Hat's nodes and nothing behind them, and a program that was linked with it: the loader
# finds what it needs in ours.
check_loads() # NODES LIBRARY MAP
{
	mkdir -p "$tmp/lib" "$tmp/stead"
	cut -d @ -f 1 "$1" | sed 's/.*/int &; /' >"$tmp/lib.c"
	gcc -w -shared -fPIC -Wl,-soname,libpq.so.5 -Wl,--version-script="$3" \
		-o "$tmp/lib/libpq.so.5" "$tmp/lib.c" || return
	cat >"$tmp/program.c" <<'PROGRAM'
int PQlibVersion(void), PQencryptPasswordConn(void), PQsendFlushRequest(void);
int main(int argc, char **argv)
{
	return argc > 9 ? PQencryptPasswordConn() + PQsendFlushRequest() : PQlibVersion() == 0;
}
PROGRAM
	gcc -w -o "$tmp/program" "$tmp/program.c" "$tmp/lib/libpq.so.5" || return
	cp "$2" "$tmp/stead/libpq.so.5"
	LD_BIND_NOW=1 LD_LIBRARY_PATH=$tmp/stead "$tmp/program" 2>&1
}

# Not in it: fprintf() to stderr, which the default notice processor does; PQprint() and its relatives
# write to the FILE they are given, and to a pager; the original is opened; pqsignal() is an export.
# Used by PQprint() alone, around its pager, as in libpq.
allowed='sigaction|sigprocmask|pthread_sigmask|popen|pclose|dlopen'

exported "$ours" | grep -v '^cenote_shim_libpq data$' >"$tmp/ours"
exported "$original" >"$tmp/original"
reviewed "$list" >"$tmp/list"

tap_passes "the list is sorted and well formed" check_list "$list"
tap_passes "exports are those of the list" check_same "$tmp/ours" "$tmp/list"
tap_passes "everything of the installed original is there" check_superset "$tmp/ours" "$tmp/original"
tap_passes "the soname is the original's" check_soname "$ours" "$original"
tap_passes "nothing that is used acts on the process" check_imports "$ours"
tap_passes "its own functions are bound to itself" check_bound "$ours" "$tmp/list"
listed_nodes "$list" >"$tmp/nodes"
awk -f "$1/shims/libpq/nodes.awk" "$list" >"$tmp/map"
tap_passes "Red Hat's flavour has a node for each name" check_nodes "$redhat" "$tmp/nodes"
tap_passes "Red Hat's flavour has the same soname" check_soname "$redhat" "$original"
tap_passes "a program of Red Hat's starts with it" check_loads "$tmp/nodes" "$redhat" "$tmp/map"
tap_catches "a program of Red Hat's wants the nodes" 'no version information' \
	check_loads "$tmp/nodes" "$ours" "$tmp/map"
sed 's/^PQexec@@RHPG_9.6/PQexec@@RHPG_10/' "$tmp/nodes" >"$tmp/wrong"
tap_catches "a wrong node is caught" 'missing: PQexec@@RHPG_10' check_nodes "$redhat" "$tmp/wrong"
tap_result "it says whose it is" \
	"$(nm -D --defined-only "$ours" | grep -q ' cenote_shim_libpq$' || echo "no cenote_shim_libpq")"

grep -v '^PQexec ' "$tmp/list" >"$tmp/less"
tap_catches "an export that is not in the list is caught" 'PQexec function: exported' \
	check_same "$tmp/ours" "$tmp/less"
tap_catches "a lost export is caught" 'PQexec function: the original' \
	check_superset "$tmp/less" "$tmp/original"
sed 's/^pgresStatus data$/pgresStatus function/' "$tmp/list" >"$tmp/wrong"
tap_catches "data as a function is caught" 'pgresStatus data: the original' \
	check_superset "$tmp/wrong" "$tmp/original"
echo 'void f(void); void _exit(int); void f(void) { _exit(1); }' |
	gcc -w -shared -fPIC -x c -o "$tmp/bad.so" -
tap_catches "_exit is caught" '_exit is used' check_imports "$tmp/bad.so"
echo 'void PQclear(void); void PQexec(void); void PQclear(void) {} void PQexec(void) { PQclear(); }' |
	gcc -w -shared -fPIC -x c -o "$tmp/open.so" -
tap_catches "a call that others can catch is caught" 'PQclear: another library' \
	check_bound "$tmp/open.so" "$tmp/list"
tap_end
