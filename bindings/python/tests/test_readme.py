#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""README's program is examples/fish.py, and does what README says."""

import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))


def text_of(name):
    with open(os.path.join(here, "..", name), encoding="utf-8") as f:
        return f.read()


assert text_of("examples/fish.py") in text_of("README.md"), "README shows another program"
said = subprocess.run(
    [sys.executable, os.path.join(here, "../examples/fish.py"), os.environ["CENOTE_TEST_URI"]],
    check=True,
    stdout=subprocess.PIPE,
    text=True,
).stdout
expected = "cave fish: 8.25 cm\n"
assert said == expected, f"it said {said!r}"
