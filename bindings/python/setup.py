# SPDX-License-Identifier: BSD-2-Clause
"""The extension, against the libcenote that pkg-config knows. All else is in pyproject.toml."""

import glob
import os
import shlex
import subprocess
import sys
import sysconfig

from setuptools import Extension, setup

# The headers of a free-threaded Python have no stable ABI: a wheel for that version alone.
IS_STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")


def pkg_config(*options):
    command = [os.environ.get("PKG_CONFIG", "pkg-config"), *options, "cenote >= 0.1"]
    try:
        return shlex.split(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    except FileNotFoundError:
        sys.exit(f"{command[0]} is not installed: it tells where the C library libcenote is")
    except subprocess.CalledProcessError:
        sys.exit(
            "The C library libcenote is not found. Install it and its headers first (meson install), "
            "or name the directory of its cenote.pc in PKG_CONFIG_PATH."
        )


setup(
    ext_modules=[
        Extension(
            "cenote._cenote",
            sorted(glob.glob("src/*.c")),
            depends=sorted(glob.glob("src/*.h")),
            define_macros=[("_GNU_SOURCE", None)] + [("Py_LIMITED_API", "0x03090000")] * IS_STABLE,
            extra_compile_args=["-std=c11", "-fvisibility=hidden", *pkg_config("--cflags")],
            extra_link_args=pkg_config("--libs"),
            py_limited_api=IS_STABLE,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp39"}} if IS_STABLE else {},
)
