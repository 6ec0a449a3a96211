#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_noexit.sh BUILD_ROOT NDEBUG
#
# libcenote does nothing to the process it is in: it does not end it, print, log, touch signals,
# locale, environment or limits, start threads or processes, and has no variables. Assertions, which
# are for our own bugs, may be in it only where it was built with them (NDEBUG false): for tests.

set -u
cd "$(dirname "$0")" || exit 99
. ./tap.sh
build_root=$1
ndebug=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

forbidden='_?exit|_Exit|quick_exit|atexit|at_quick_exit|on_exit|abort'
forbidden+='|(__)?v?[fd]?printf(_chk)?|f?puts|f?putc|putchar|_IO_putc|perror|fwrite|fflush|stdout|stderr'
forbidden+='|v?syslog|openlog|v?warnx?|v?errx?|error'
forbidden+='|signal|sigaction|sigprocmask|pthread_sigmask|raise|kill|alarm|setitimer|sigaltstack'
forbidden+='|setlocale|uselocale|newlocale|setenv|putenv|unsetenv|clearenv|umask|chdir|fchdir|setrlimit'
forbidden+='|prctl|nice|setpriority|set[re]*[ug]id|v?fork|clone3?|posix_spawnp?|system|popen|exec[lv]p?e?'
forbidden+='|pthread_create|thrd_create|pthread_key_create|srand|srandom|strtok|localtime|gmtime'

assertions='__assert(_fail|_perror_fail)?'

check_imports() # SHARED_LIBRARY NDEBUG
{
	local forbidden=$forbidden
	[ "$2" = false ] || forbidden+="|$assertions"
	[ -f "$1" ] || { echo "$1 is not there" && return; }
	nm -D -u "$1" | awk '{ sub(/@.*/, "", $2); print $2 }' | grep -xE "$forbidden" |
		sed 's/$/ is used/'
}

# One module is opened, by the file that finds it, and nothing else.
check_opened() # OBJECT…
{
	[ -f "$1" ] || { echo "nothing compiled at $1" && return; }
	nm -A -u "$@" | grep -E ' (dlopen|dlmopen)$' | grep -v '/module\.c\.o:' |
		sed 's/$/: a library is opened here/'
}

# Only constants: no section that can be written, that of relocated constants aside.
check_variables() # OBJECT…
{
	[ -f "$1" ] || { echo "nothing compiled at $1" && return; }
	objdump -t "$@" | awk '
		/file format/ { file = $1 }
		/ \.(data|bss|tdata|tbss)/ && !/ d / && !/\.data\.rel\.ro/ { print file, $NF }' |
		sed 's/$/ is a variable/'
}

compile() # NAME TEXT
{
	echo "$2" | gcc -w -fPIC -x c -c -o "$tmp/$1.o" - &&
		gcc -shared -o "$tmp/$1.so" "$tmp/$1.o"
}

library=$(find "$build_root/lib" -maxdepth 1 -name 'libcenote.so.*.*' -type f | head -n 1)
tap_passes "libcenote uses nothing that acts on its process" \
	check_imports "${library:-$build_root/lib/libcenote.so}" "$ndebug"
tap_passes "libcenote has no variables" check_variables "$build_root"/lib/core/libcnc.a.p/*.o \
	"$build_root"/lib/protocol/libcnp.a.p/*.o "$build_root"/lib/libcenote_objects.a.p/*.o

# The module for lent sessions runs in the same process.
loan=$build_root/tools/cenoted/borrower/cenote-loan.so
if [ -f "$loan" ]; then
	tap_passes "cenote-loan.so uses nothing that acts on its process" check_imports "$loan" "$ndebug"
	tap_passes "cenote-loan.so has no variables" check_variables "$loan".p/*.o \
		"$build_root"/tools/cenoted/serving/libcnd_serving.a.p/*.o
fi

tap_passes "libcenote opens its module for TLS, and no other" \
	check_opened "$build_root"/lib/libcenote_objects.a.p/*.o
compile bad 'void *dlopen(const char *, int); void *f(void) { return dlopen("x", 2); }'
tap_catches "another library that is opened is caught" 'a library is opened here' \
	check_opened "$tmp/bad.o"

for call in 'exit(1)' 'abort()' 'printf("%d", 1)' 'puts("x")' 'syslog(1, "x")' 'sigaction(1, 0, 0)' \
	'setlocale(1, "")' 'fork()' 'pthread_create(0, 0, 0, 0)'; do
	compile bad "int f(void) { $call; return 0; }"
	tap_catches "$call is caught" "${call%%(*} is used\|putchar is used" check_imports "$tmp/bad.so" true
done
compile bad '#include <assert.h>
int f(int x) { assert(x); return 0; }'
tap_catches "an assertion is caught" '__assert_fail is used' check_imports "$tmp/bad.so" true
compile bad 'static int counter; int f(void) { return counter++; }'
tap_catches "a static variable is caught" 'counter is a variable' check_variables "$tmp/bad.o"
compile bad 'static __thread int last = 1; int f(void) { return last++; }'
tap_catches "a thread's variable is caught" 'last is a variable' check_variables "$tmp/bad.o"
compile good 'static const char *const names[] = {"a", "b"}; const char *f(int i) { return names[i]; }'
tap_passes "a table of constants is none" check_variables "$tmp/good.o"
tap_end
