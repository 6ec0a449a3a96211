#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_circles.sh SOURCE_ROOT BUILD_ROOT
#
# Files that call each other in a circle can only be understood together. So no circle has more
# than four files, in a library, a shim, a backend, or a folder of the daemon.

set -u
cd "$(dirname "$0")" || exit 99
. ./tap.sh
source_root=$1
build_root=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# A group of files a line: the folder, the objects' folder under the build directory, and how many
# files a circle may have.
groups()
{
	cat <<TABLE
lib lib/libcenote_objects.a.p 4
lib/core lib/core/libcnc.a.p 4
lib/protocol lib/protocol/libcnp.a.p 4
lib/crypto lib/crypto/libcn_crypto.a.p 4
tools/cenoted/serving tools/cenoted/serving/libcnd_serving.a.p 4
tools/cenoted/borrower tools/cenoted/borrower/cenote-loan.so.p 4
tools/cenoted/backends/postgresql tools/cenoted/backends/postgresql/libcnd_pg_requests.a.p 4
shims/libpq shims/libpq/libpq.so.5.p 4
shims/libmysql shims/libmysql/libmariadb.so.3.p 4
shims/odbc shims/odbc/libcod_parts.a.p 4
TABLE
	local backend role
	for backend in freetds/libcnd_tds.a mysql/libcnd_mysql.a odbc/libcnd_odbc.a \
		postgresql/cenoted-postgresql.so router/cenoted-router.so \
		sqlite/cenoted-sqlite.so; do
		echo "tools/cenoted/backends/${backend%/*} tools/cenoted/backends/$backend.p 4"
	done
	for role in master door worker stats auth config query shared; do
		echo "tools/cenoted/$role tools/cenoted/libcenoted.a.p/${role}_ 4"
	done
}

# The objects of a group whose source is still there: a build directory keeps old ones.
objects_of() # FOLDER OBJECTS
{
	local object name
	for object in "$build_root/$2"*.c.o "$build_root/$2"/*.c.o; do
		[ -f "$object" ] || continue
		name=${object##*/}
		name=${name%.o}
		case $1 in
		tools/cenoted/backends/*) ;;
		tools/cenoted/*) name=${name#*_} ;;
		esac
		if [ -f "$source_root/$1/$name" ] || [ -f "$source_root/$1/${name/_//}" ]; then
			echo "$object"
		fi
	done
}

# A line for each circle of more than MOST files among the objects on standard input.
long_circles() # MOST
{
	xargs -r nm -A | awk -v most="$1" '
	{
		split($0, part, ":")
		file = part[1]; sub(/.*\//, "", file); sub(/\.o$/, "", file)
		kind = $(NF - 1); name = $NF
		if (kind == "U") uses[file SUBSEP name]
		else if (kind ~ /^[TDBRV]$/) owner[name] = file
		files[file]
	}
	END {
		for (use in uses) {
			split(use, part, SUBSEP)
			if (part[2] in owner && owner[part[2]] != part[1])
				reach[part[1], owner[part[2]]]
		}
		for (k in files) for (i in files) if ((i, k) in reach)
			for (j in files) if ((k, j) in reach) reach[i, j]
		for (i in files) {
			n = 0; circle = ""
			if (i in told) continue
			for (j in files) if (i == j || ((i, j) in reach && (j, i) in reach)) {
				told[j]; n++; circle = circle " " j
			}
			if (n > most) print "circle of " n " files:" circle
		}
	}'
}

check_group() # FOLDER OBJECTS MOST
{
	objects_of "$1" "$2" | long_circles "$3"
}

while read -r folder objects most; do
	[ -z "$(objects_of "$folder" "$objects")" ] ||
		tap_passes "$folder: no circle of more than $most files" \
			check_group "$folder" "$objects" "$most"
done < <(groups)

for i in 1 2 3 4 5; do
	printf 'void f%d(void);\nvoid f%d(void);\nvoid f%d(void) { f%d(); }\n' \
		"$i" $((i % 5 + 1)) "$i" $((i % 5 + 1)) >"$tmp/f$i.c"
	gcc -c "$tmp/f$i.c" -o "$tmp/f$i.c.o"
done
find_circle() { printf '%s\n' "$tmp"/*.o | long_circles 4; }
tap_catches "a circle of five files is caught" 'circle of 5 files' find_circle
tap_end
