#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: test_completion.sh COMPLETION_FOLDER SQLSH CENOTED CENOTE_BENCH CENOTECTL CENOTE_CACHE CENOTE_EXPORT CENOTE_IMPORT
#
# What bash offers for the programs, as they are: every option that --help names, and values.

set -u
folder=$1 sqlsh=$2 cenoted=$3 bench=$4 ctl=$5 cache=$6 export=$7 import=$8
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0

# The words that FUNCTION offers for a command line, sorted; the last word is being typed.
offered() # FUNCTION WORD...
{
    local function=$1
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    "$function" "$1"
    printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
}

check() # NAME GOT EXPECTED
{
    n=$((n + 1))
    if [[ $2 == "$3" ]]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        echo "# got      $2"
        echo "# expected $3"
    fi
}

for program in sqlsh cenoted cenote-bench cenotectl cenote-cache cenote-export; do
    # shellcheck disable=SC1090
    . "$folder/$program" || exit 99
done

for pair in "_sqlsh $sqlsh" "_cenoted $cenoted" "_cenote_bench $bench" "_cenotectl $ctl" "_cenote_cache $cache" \
	"_cenote_port $export" "_cenote_port $import"; do
    read -r function program <<<"$pair"
    options=$("$program" --help | grep -oE -- '--[a-z][a-z-]*' | sort -u | tr '\n' ' ')
    check "${program##*/}: every option of --help" "$(offered "$function" "$program" --)" \
        "${options:-there are none }"
done
check "sqlsh: formats" "$(offered _sqlsh "$sqlsh" --format = '')" \
    "csv expanded json table tsv unaligned "
check "sqlsh: a format's beginning" "$(offered _sqlsh "$sqlsh" --format = ta)" "table "
check "sqlsh: what to do on errors" "$(offered _sqlsh "$sqlsh" --on-error = '')" "continue stop "
touch "$tmp/some.sql"
check "sqlsh: files" "$(offered _sqlsh "$sqlsh" -f "$tmp/s")" "$tmp/some.sql "
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$tmp/inventory.sock"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$tmp/admin.sock"
export CENOTE_SERVER=unix:$tmp
check "sqlsh: pools" "$(offered _sqlsh "$sqlsh" '')" "inventory "
check "cenote-export: formats" "$(offered _cenote_port "$export" --format = j)" "json json.zst "
check "cenote-import: servers" "$(offered _cenote_port "$import" --dialect = m)" "mariadb mysql "
check "cenote-import: pools" "$(offered _cenote_port "$import" '')" "inventory "
check "cenoted: files" "$(offered _cenoted "$cenoted" -c "$tmp/s")" "$tmp/some.sql "
check "cenote-bench: workloads" "$(offered _cenote_bench "$bench" -w con)" "connect "
check "cenote-bench: targets" "$(offered _cenote_bench "$bench" --targets = poo)" "pooled "
check "cenote-bench: commands" "$(offered _cenote_bench "$bench" co)" "compare "
check "cenote-bench: sets" "$(offered _cenote_bench "$bench" report dir --sets = re)" "retail "
check "cenote-cache: commands" "$(offered _cenote_cache "$cache" "")" "clean list size "
mkdir "$tmp/pages"
check "cenote-cache: directories" "$(offered _cenote_cache "$cache" clean --all "$tmp/pa")" "$tmp/pages "
check "cenotectl: commands" "$(offered _cenotectl "$ctl" p)" "pause pins pools "
touch "$tmp/pgbouncer.ini"
check "cenotectl: files to convert" "$(offered _cenotectl "$ctl" convert "$tmp/pg")" "$tmp/pgbouncer.ini "
check "cenotectl: levels" "$(offered _cenotectl "$ctl" log-level e)" "error "
check "cenotectl: pools, without a daemon" "$(offered _cenotectl "$ctl" -r "$tmp" pause --wait '')" "all "
check "cenotectl: formats" "$(offered _cenotectl "$ctl" --format = c)" "csv "
echo "1..$n"
