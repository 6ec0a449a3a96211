# SPDX-License-Identifier: BSD-2-Clause
# What the export tests of the shims share. To be sourced, behind tests/abi/tap.sh; they set $allowed,
# which of the $forbidden functions may be used, and $tmp.
# shellcheck shell=bash disable=SC2154

check_same() # EXPORTED REVIEWED
{
	[ -s "$1" ] || echo "nothing is exported"
	LC_ALL=C comm -23 "$1" "$2" | sed 's/$/: exported, but not in the list/'
	LC_ALL=C comm -13 "$1" "$2" | sed 's/$/: in the list, but not exported/'
}

check_superset() # OURS ORIGINAL
{
	[ -s "$2" ] || echo "the original exports nothing"
	LC_ALL=C comm -13 "$1" "$2" | sed 's/$/: the original has it/'
}

check_soname()
{
	local a b
	a=$(objdump -p "$1" | awk '/SONAME/ { print $2 }')
	b=$(objdump -p "$2" | awk '/SONAME/ { print $2 }')
	[ -n "$a" ] && [ "$a" = "$b" ] || echo "soname '$a' is not '$b'"
}

# What acts on the process that the library is in.
forbidden='_?exit|_Exit|quick_exit|atexit|at_quick_exit|on_exit|abort|(__)?v?printf(_chk)?|puts'
forbidden+='|putchar|perror|v?syslog|openlog|v?warnx?|v?errx?|error|raise|kill|alarm|setitimer'
forbidden+='|signal|sigaltstack|setlocale|uselocale|newlocale|setenv|putenv|unsetenv|clearenv|umask'
forbidden+='|chdir|fchdir|setrlimit|prctl|nice|setpriority|set[re]*[ug]id|v?fork|clone3?|posix_spawnp?'
forbidden+='|system|exec[lv]p?e?|pthread_create|thrd_create|pthread_key_create|srand|srandom|strtok'
forbidden+='|localtime|gmtime|getpwuid|getpwnam|gethostbyname|strerror'
check_imports() # SHARED_LIBRARY
{
	nm -D -u "$1" | awk '{ sub(/@.*/, "", $2); print $2 }' | grep -xE "$forbidden" |
		grep -vxE "$allowed" | sed 's/$/ is used/'
}

# What it exports it calls without asking who else has that name: the original may be there as well.
check_bound() # SHARED_LIBRARY LIST
{
	readelf -rW "$1" | awk '{ sub(/@.*/, "", $5); print $5 }' | LC_ALL=C sort -u >"$tmp/asked"
	awk '$2 == "function" { print $1 }' "$2" | LC_ALL=C comm -12 "$tmp/asked" - |
		sed 's/$/: another library of that name would be called/'
}
