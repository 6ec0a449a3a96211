# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

require "mkmf"

# libcenote of the system, or where PKG_CONFIG_PATH says.
pkg_config("cenote") || abort("cenote.pc is not found: install libcenote, or set PKG_CONFIG_PATH")
have_header("cenote/cenote.h") || abort("cenote/cenote.h is not found")
append_cflags(["-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-fvisibility=hidden"])
create_makefile("cenote/cenote_ext")
