#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_layers.sh SOURCE_ROOT BUILD_ROOT
#
# Includes only go down, lib/core and lib/protocol do no I/O and read no clock, and a function's
# prefix names its layer.

set -u
cd "$(dirname "$0")" || exit 99
. ./tap.sh
source_root=$1
build_root=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# ISO C headers that do no I/O by themselves (stdio.h: snprintf).
pure='assert|ctype|errno|float|inttypes|limits|math|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|stdatomic'
any='[a-zA-Z0-9_./-]+'

# One line per layer: the folder; folders in it that are layers of their own; then what it may
# include, as extended regular expressions: of ours, besides what is in its own folder; of
# <cenote/…>; of the system's. core/sql.h is pure (no I/O, no memory), so that sqlsh and the shims share it.
# Of the backends, only the router is a client of other pools.
# xxhash.h is for core/digest.c: what is compiled says that nothing else calls it. core/fibre.c makes stacks.
layers()
{
	cat <<TABLE
lib/include - - (types|cenote)\\.h std(def|int)\\.h
lib/core - core/$any types\\.h ($pure|xxhash|setjmp|ucontext|sys/mman|unistd|sanitizer/$any)\\.h
lib/protocol - (core|protocol)/$any types\\.h ($pure)\\.h
lib/crypto - (core|protocol|crypto)/$any types\\.h $any
lib core,protocol,crypto,include (core|protocol|crypto)/$any $any $any
tools/cenoted backends/router ((core|protocol|crypto)/$any|loan\\.h) types\\.h $any
tools/cenoted/backends/router - ((core|protocol)/$any|backends/(backend\\.h|common/$any)) cenote\\.h $any
tools/sqlsh - (core/sql|common/passfile)\\.h $any $any
tools/port - (csv|fields|output|progress|text|usage)\\.h cenote\\.h $any
tools/bench - - $any $any
tools/cache - core/$any $any $any
shims - core/(sql|fibre)\\.h cenote\\.h $any
bindings - - cenote\\.h $any
examples - - $any $any
TABLE
}

sources_of() # ROOT FOLDER EXCLUDED
{
	local prune=() d
	for d in ${3//,/ }; do
		[ "$d" = - ] || prune+=(-path "$1/$2/$d" -prune -o)
	done
	[ ! -d "$1/$2" ] || find "$1/$2" "${prune[@]}" -name '*.[ch]' -print
}

# Without comments, directives and strings kept.
plain()
{
	gcc -fpreprocessed -dD -E -P -x c "$1" 2>/dev/null
}

# Whether an include of FOLDER's file FILE is of that folder itself.
is_own() # FOLDER FILE NAME
{
	local found=${2%/*}/$3
	if [[ $3 != *..* ]]; then
		[ -f "$1/$3" ] || [ -f "$found" ]
	else
		[ -f "$found" ] && [[ $(realpath "$found") = "$(realpath "$1")"/* ]]
	fi
}

bad_includes_of() # FILE FOLDER OURS CENOTE SYSTEM
{
	local file=$1 inc name own=${1%"$2"/*}$2
	sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*([<"][^>"]*[>"]).*/\1/p' "$file" |
		while read -r inc; do
			name=${inc:1:-1}
			case $inc in
			\"*) [[ $name =~ ^($3)$ && $name != *..* ]] || is_own "$own" "$file" "$name" ;;
			\<cenote/*) [[ ${name#cenote/} =~ ^($4)$ ]] ;;
			*) [[ $name =~ ^($5)$ ]] ;;
			esac || echo "$file: may not include $inc"
		done
}

check_includes() # ROOT
{
	local folder excluded ours cenote system file
	while read -r folder excluded ours cenote system; do
		sources_of "$1" "$folder" "$excluded" | while read -r file; do
			bad_includes_of "$file" "$folder" "$ours" "$cenote" "$system"
		done
	done < <(layers)
}

# What would reach the world outside: by name in the source …
io='socket|bind|listen|accept4?|connect|send(to|msg)?|recv(from|msg)?|p?poll|select|epoll_[a-z0-9_]+'
io+='|read|readv|write|writev|pread|pwrite|open|openat|close|fcntl|ioctl|dup[23]?|pipe2?|fopen|fread'
io+='|fwrite|v?f?printf|f?puts|putchar|perror|fflush|time|clock_gettime|gettimeofday|clock|nanosleep'
io+='|usleep|sleep|getenv|getpid|fork|exit|_exit|abort|raise|kill|signal|sigaction|rand|random'
io+='|getrandom|localtime(_r)?|gmtime(_r)?|mktime|strftime|setlocale|malloc_usable_size|syslog'

check_calls() # ROOT
{
	local file
	for file in "$1"/lib/core/*.[ch] "$1"/lib/protocol/*.[ch]; do
		[ -f "$file" ] || continue
		plain "$file" | sed 's/"\([^"\\]\|\\.\)*"/""/g' |
			grep -nE "(^|[^A-Za-z0-9_.>])($io)[[:space:]]*\(" |
			sed "s|^[0-9]*:|$file: call of |"
	done
}

# … and by what the compiled code asks of others, which no macro can hide. Only this is allowed:
pure_calls='mem(cpy|move|set|cmp|chr|rchr|mem)|__mem(cpy|move|set)_chk|(str(len|nlen|cmp|ncmp|chr|rchr'
pure_calls+='|pbrk|spn|cspn|str))|strtod|strtol|strtoul|strtoll|strtoull|__isoc23_strto[a-z]+'
pure_calls+='|malloc|calloc|realloc|free|v?snprintf|__v?snprintf_chk|__stack_chk_fail'
pure_calls+='|explicit_bzero|__explicit_bzero_chk|_GLOBAL_OFFSET_TABLE_|qsort|bsearch|abs'
pure_calls+='|__assert_fail|__errno_location|__udivti3|__umodti3|floor|ldexp|frexp|pow|__ctype_[a-z_]+'

check_undefined() # ARCHIVE PREFIXES
{
	[ -f "$1" ] || { echo "$1 is not there" && return; }
	nm -u "$1" | awk '$1 == "U" { print $2 }' | sort -u |
		grep -vE "^($pure_calls|($2)_[a-zA-Z0-9_]+)$" |
		sed "s|^|${1##*/} uses |"
}

check_prefix() # ALLOWED OBJECT…
{
	local allowed=$1
	shift
	[ -f "$1" ] || { echo "nothing compiled at $1" && return; }
	nm -A -g --defined-only "$@" | awk '$(NF - 1) ~ /^[A-Z]$/ { print $1, $NF }' |
		grep -vE " ($allowed)$" | sed 's/$/: prefix of another layer/'
}

# SQL is divided into tokens in lib/core/sql.c alone: elsewhere no code compares with what opens or closes a comment, by
# which each scanner of SQL is known.
check_scanners() # ROOT
{
	local file
	grep -rlE --include='*.[ch]' "'/'|'-'|\"(/\\*|\\*/|--)\"" "$1"/{tools/cenoted,tools/sqlsh,shims} 2>/dev/null | sort |
		while read -r file; do
			plain "$file" | tr '\n' ' ' | tr ';' '\n' |
				grep -E "\"(/\\*|\\*/|--)\"|[!=]= '/'.*[!=]= '\\*'|[!=]= '\\*'.*[!=]= '/'|[!=]= '-'[^|]*&&[^|]*[!=]= '-'" |
				cut -c 1-100 | sed "s|^|$file scans SQL: |"
		done
}

# broken FILE TEXT: a tree with that file, and with others that it may not include.
broken()
{
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/lib/core" "$tmp/tree/${1%/*}"
	touch "$tmp/tree/lib/conn.h" "$tmp/tree/lib/core/buf.h"
	printf '%b\n' "$2" >"$tmp/tree/$1"
}

compile() # NAME TEXT
{
	echo "$2" | gcc -w -x c -c -o "$tmp/$1.o" - && ar cr "$tmp/$1.a" "$tmp/$1.o"
}

tap_passes "includes only go down" check_includes "$source_root"
tap_passes "lib/core/sql.c alone scans SQL" check_scanners "$source_root"
tap_passes "lib/core and lib/protocol call nothing that does I/O" check_calls "$source_root"
tap_passes "compiled lib/core needs nothing that does I/O" \
	check_undefined "$build_root/lib/core/libcnc.a" 'cnc'
[ ! -f "$build_root/lib/core/libcnc_digest.a" ] ||
	tap_passes "the digest needs XXH3 besides" \
		check_undefined "$build_root/lib/core/libcnc_digest.a" 'cnc|XXH3'
tap_passes "compiled lib/protocol needs nothing that does I/O" \
	check_undefined "$build_root/lib/protocol/libcnp.a" 'cnc|cnp'
tap_passes "lib/core defines cnc_ only" \
	check_prefix 'cnc_[a-z0-9_]+' "$build_root"/lib/core/libcnc.a.p/*.o
tap_passes "lib/protocol defines cnp_ only" \
	check_prefix 'cnp_[a-z0-9_]+' "$build_root"/lib/protocol/libcnp.a.p/*.o
tap_passes "lib defines cenote_ and cn_ only" \
	check_prefix '(cenote|cn)_[a-z0-9_]+' "$build_root"/lib/libcenote_objects.a.p/*.o
tap_passes "lib/crypto defines cn_ only" \
	check_prefix 'cn_[a-z0-9_]+' "$build_root"/lib/crypto/libcn_crypto.a.p/*.o
tap_passes "cenoted defines cnd_ only" check_prefix '(cnd_[a-z0-9_]+|main)' \
	"$build_root"/tools/cenoted/serving/libcnd_serving.a.p/*.o \
	"$build_root"/tools/cenoted/libcenoted.a.p/*.o "$build_root"/tools/cenoted/cenoted.p/*.o
[ ! -f "$build_root/tools/cenoted/borrower/cenote-loan.so" ] ||
	tap_passes "cenote-loan.so defines cnd_ only, and the function that libcenote calls" \
		check_prefix '(cnd_[a-z0-9_]+|cn_loan_get)' \
		"$build_root"/tools/cenoted/borrower/cenote-loan.so.p/*.o

broken lib/core/buf.h '#include "protocol/frame.h"'
tap_catches "an upward include is caught" 'buf.h: may not include "protocol/frame.h"' \
	check_includes "$tmp/tree"
broken lib/protocol/frame.h '#  include <sys/socket.h>'
tap_catches "a socket header in lib/protocol is caught" 'frame.h: may not include <sys/socket.h>' \
	check_includes "$tmp/tree"
broken lib/core/buf.h '#include <cenote/cenote.h>'
tap_catches "the public API in lib/core is caught" 'buf.h: may not include <cenote/cenote.h>' \
	check_includes "$tmp/tree"
broken tools/cenoted/backends/backend.h '#include <cenote/cenote.h>'
tap_catches "libcenote in cenoted is caught" 'backend.h: may not include <cenote/cenote.h>' \
	check_includes "$tmp/tree"
broken tools/sqlsh/broken.c '#include "core/buf.h"'
tap_catches "lib/core in sqlsh is caught" 'broken.c: may not include "core/buf.h"' \
	check_includes "$tmp/tree"
broken tools/sqlsh/broken.c '#include "../../lib/core/buf.h"'
tap_catches "a path with dots is caught" 'broken.c: may not include .*buf.h' check_includes "$tmp/tree"
broken shims/libpq/broken.c '#include "core/buf.h"'
tap_catches "lib/core in a shim is caught" 'broken.c: may not include "core/buf.h"' \
	check_includes "$tmp/tree"
broken shims/libpq/broken.c '#include "../../lib/conn.h"'
tap_catches "the inside of libcenote in a shim is caught" 'broken.c: may not include .*conn.h' \
	check_includes "$tmp/tree"
broken bindings/python/src/broken.c '#include "core/buf.h"'
tap_catches "lib/core in a binding is caught" 'broken.c: may not include .*buf.h' \
	check_includes "$tmp/tree"
for line in "p[0] == '-' && p[1] == '-'" "p[i - 1] == '*' && p[i] == '/'" 'follows(p, "/*")'; do
	broken shims/libpq/broken.c "int\nf(const char *p)\n{\n\treturn $line;\n}"
	tap_catches "a scanner of SQL in a shim is caught" 'broken.c scans SQL' check_scanners "$tmp/tree"
done
broken lib/core/broken.c 'int\nf(void)\n{\n\treturn read(0, 0, 0);\n}'
tap_catches "a read() in lib/core is caught" 'broken.c: call of' check_calls "$tmp/tree"
broken lib/core/broken.c \
	'/* read(0) */\nchar *s = "read(0)";\nint\nf(void)\n{\n\treturn cnc_read(x->read(1));\n}'
tap_passes "comments, strings and longer names are no calls" check_calls "$tmp/tree"
compile hidden 'long cnc_f(void) { return time(0); }'
tap_catches "a clock in the compiled code is caught" 'uses time' \
	check_undefined "$tmp/hidden.a" cnc
tap_catches "a foreign prefix is caught" 'cnc_f: prefix' \
	check_prefix 'cnp_[a-z0-9_]+' "$tmp/hidden.o"
tap_end
