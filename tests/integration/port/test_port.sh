#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: on_pools test_port.sh BUILD_ROOT
#
# cenote-export and cenote-import: rows go from server to server without a change, and a run that was killed continues.

set -u
build=$1
cd "$(dirname "$0")" || exit 99
. ../../abi/tap.sh
sleep 10000
tap_end
