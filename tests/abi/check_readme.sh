#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_readme.sh SOURCE_ROOT
#
# README shows a program that is in examples/ as well, where it is compiled and run; every link to
# a file leads somewhere; and docs/options.md has every build option.

set -u
cd "$(dirname "$0")" || exit 99
. ./tap.sh
source_root=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

check_program() # README PROGRAM
{
	# shellcheck disable=SC2016
	sed -n '/^```c$/,/^```$/p' "$1" | sed '1d;$d' >"$tmp/shown.c"
	sed 1d "$2" | diff "$tmp/shown.c" -
}

check_links() # FILE…
{
	local file link
	for file in "$@"; do
		grep -oE '\]\([^)#]+' "$file" | sed 's/^](//' | grep -v '^https\?:' |
			while read -r link; do
				[ -e "$(dirname "$file")/$link" ] || echo "$file: no file $link"
			done
	done
}

check_options() # PAGE OPTIONS
{
	local option
	sed -nE "s/^option\\('([a-z_]+)'.*/\\1/p" "$2" | while read -r option; do
		grep -q "^| [^|]*\`$option\`" "$1" || echo "option $option is not in ${1##*/}"
	done
}

readme=$source_root/README.md
tap_passes "the program in README is examples/hello.c" \
	check_program "$readme" "$source_root/examples/hello.c"
tap_passes "links in the documents lead to files" check_links "$source_root"/*.md \
	"$source_root"/docs/*.md
options=$source_root/docs/options.md
tap_passes "docs/options.md has every option" check_options "$options" "$source_root/meson_options.txt"
tap_passes "README is no longer than 150 lines" \
	awk 'NR == 151 { print "it is longer" }' "$readme"

sed 's/6 \* 7/6 * 8/' "$source_root/examples/hello.c" >"$tmp/hello.c"
tap_catches "another program is caught" '6 \* 8' check_program "$readme" "$tmp/hello.c"
echo '[x](nowhere.md)' >"$tmp/x.md"
tap_catches "a link to nothing is caught" 'no file nowhere.md' check_links "$tmp/x.md"
echo "option('new_one', type: 'boolean')" >"$tmp/options"
tap_catches "a new option is caught" 'option new_one is not in options.md' \
	check_options "$options" "$tmp/options"
tap_end
