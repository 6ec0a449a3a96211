#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_packaging.sh SOURCE_ROOT
#
# libcenote as README has it built (for release, with LTO) is used by programs that are built otherwise: with
# another compiler, without LTO, with CMake; and `man` finds each function.

set -u
source_root=$1
cd "$(dirname "$0")" || exit 99
. ./tap.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/prefix

build_release()
{
	meson setup "$tmp/build" "$source_root" --prefix="$prefix" \
		--buildtype=release -Db_lto=true -Dtests=disabled -Dtools=disabled \
		-Derlang_binding=disabled -Dphp_binding=disabled -Dpython_binding=disabled \
		-Druby_binding=disabled && meson install -C "$tmp/build"
}

if ! build_release >"$tmp/log" 2>&1; then
	cat "$tmp/log" >&2
	exit 99
fi
archive=$(find "$prefix" -name libcenote.a)

# It runs as far as it can without a pool: it names the one that is not there.
check_runs() # PROGRAM
{
	"$1" "cenote:///nothing?run_dir=$tmp" 2>&1 | grep -q nothing || echo "it does not run"
}

check_static() # CC…
{
	"$@" "$source_root/examples/hello.c" -I"$prefix/include" "$archive" -ldl \
		-o "$tmp/hello" && check_runs "$tmp/hello"
}

check_cmake() # LIBRARY VERSION
{
	rm -rf "$tmp/cmake"
	mkdir "$tmp/cmake"
	cat >"$tmp/cmake/CMakeLists.txt" <<-CMAKE
		cmake_minimum_required(VERSION 3.16)
		project(hello C)
		find_package(cenote $2 REQUIRED)
		add_executable(hello $source_root/examples/hello.c)
		target_link_libraries(hello PRIVATE $1)
	CMAKE
	# shellcheck disable=SC2015
	cmake -S "$tmp/cmake" -B "$tmp/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$tmp/log" 2>&1 &&
		cmake --build "$tmp/cmake" >>"$tmp/log" 2>&1 &&
		check_runs "$tmp/cmake/hello" || cat "$tmp/log"
}

check_pages() # SYMBOLS
{
	grep -v '^#' "$1" | while read -r name; do
		[ -s "$prefix/share/man/man3/$name.3" ] || echo "man $name finds nothing"
	done
}

for compiler in "gcc -fno-lto" clang; do
	# shellcheck disable=SC2086
	! command -v ${compiler%% *} >/dev/null ||
		tap_passes "libcenote.a is linked by $compiler" check_static $compiler
done
if command -v cmake >/dev/null; then
	tap_passes "CMake finds it" check_cmake cenote::cenote 0.1
	tap_passes "CMake finds the archive" check_cmake cenote::cenote_static ""
	tap_catches "a version of another ABI is not taken" "none of the versions\|compatible" \
		check_cmake cenote::cenote 0.0.9
fi
tap_passes "man finds every function" check_pages "$source_root/lib/cenote.abi"
echo cenote_nothing >"$tmp/symbols"
tap_catches "a function without a page is caught" 'man cenote_nothing' check_pages "$tmp/symbols"
tap_end
