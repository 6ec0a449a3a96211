#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_headers.sh SOURCE_ROOT
#
# Each public header compiles alone, in every language a program may be in; each internal one alone
# in ours.

set -u
cd "$(dirname "$0")" || exit 99
. ./tap.sh
source_root=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

check_header() # COMPILER_AND_FLAGS INCLUDE
{
	# shellcheck disable=SC2086
	printf '#include %s\ntypedef int not_empty;\n' "$2" | $1 -fsyntax-only -pedantic -Wall -Wextra -Werror -
}

strict_c='-Wstrict-prototypes -Wmissing-prototypes -Wc++-compat'
compilers=("gcc -x c -std=c99 $strict_c" "gcc -x c -std=c11 $strict_c" "g++ -x c++ -std=c++11"
	"g++ -x c++ -std=c++20 -Wold-style-cast")
if command -v clang >/dev/null; then
	compilers+=("clang -x c -std=c99 -Weverything -Wno-padded -Wno-reserved-identifier -Wno-documentation-unknown-command"
		"clang++ -x c++ -std=c++17")
fi
for compiler in "${compilers[@]}"; do
	for header in types.h cenote.h; do
		tap_passes "$header alone: ${compiler%% -W*}" check_header \
			"$compiler -I $source_root/lib/include" "<cenote/$header>"
	done
done
for header in "$source_root"/lib/core/*.h "$source_root"/lib/protocol/*.h; do
	name=${header#"$source_root/lib/"}
	tap_passes "$name alone" check_header \
		"gcc -x c -std=c11 -D_GNU_SOURCE -I $source_root/lib -I $source_root/lib/include" \
		"\"$name\""
done

mkdir "$tmp/cenote"
cp "$source_root"/lib/include/cenote/*.h "$tmp/cenote"
sed -i 's/^#include <stdint.h>//' "$tmp/cenote/types.h"
tap_catches "a header that is not complete is caught" 'error' check_header \
	"gcc -x c -std=c99 -I $tmp" '<cenote/types.h>'
cp "$source_root/lib/include/cenote/types.h" "$tmp/cenote"
sed -i 's/^CENOTE_API uint32_t cenote_version(void);/&\nint cenote_new(int class);/' "$tmp/cenote/cenote.h"
tap_catches "a word of C++ as a name is caught" 'error' check_header \
	"g++ -x c++ -std=c++11 -I $tmp" '<cenote/cenote.h>'
tap_end
