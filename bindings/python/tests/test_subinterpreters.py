#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Interpreters with a lock of their own, each with sessions: on_pool BACKEND 8 test_subinterpreters.py

Needs Python 3.12 or later, and looks for one where Debian, pyenv and uv have them.
"""

import glob
import os
import subprocess
import sys
import threading

SKIPPED = 77

# In each interpreter; what it answers goes through a pipe.
SCRIPT = """
import datetime, decimal, os, sys
sys.path[:0] = {path!r}
import cenote
for i in range(20):
    with cenote.connect({uri!r}, autocommit=True) as connection:
        row = connection.execute("select %s, 1.5, null", (str(i),)).fetchone()
        assert row[0] == str(i) and float(row[1]) == 1.5 and row[2] is None, row
        try:
            connection.execute("select nothing_like_it")
        except cenote.Error as e:
            assert e.sqlstate
        else:
            raise AssertionError
os.write({fd}, b".")
"""


def pythons():
    """Those of 3.12 and later, the latest first."""
    home = os.path.expanduser("~")
    places = [os.environ.get("PYENV_ROOT", home + "/.pyenv") + "/versions/3.*/bin/python3"]
    places += [home + "/.local/share/uv/python/*/bin/python3", "/usr/bin/python3.1[2-9]", "/usr/local/bin/python3.1[2-9]"]
    found = {}
    for path in (path for place in places for path in glob.glob(place)):
        ask = [path, "-c", "import sys; print(sys.version_info[1])"]
        minor = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
        if minor.isdigit() and int(minor) >= 12:
            found[int(minor)] = path
    return [path for _, path in sorted(found.items(), reverse=True)]


def interpreters():
    if sys.version_info >= (3, 13):
        import _interpreters

        return _interpreters
    import _xxsubinterpreters

    return _xxsubinterpreters


def run_in_another(n_done):
    module = interpreters()
    read_end, write_end = os.pipe()
    script = SCRIPT.format(path=sys.path, uri=os.environ["CENOTE_TEST_URI"], fd=write_end)
    interpreter = module.create()
    try:
        error = module.run_string(interpreter, script)
        assert error is None, error
    finally:
        module.destroy(interpreter)
        os.close(write_end)
    n_done.append(os.read(read_end, 1) == b".")
    os.close(read_end)


def main():
    import cenote

    n_done = []
    with cenote.connect(os.environ["CENOTE_TEST_URI"]) as connection:
        for _ in range(5):
            threads = [threading.Thread(target=run_in_another, args=(n_done,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert connection.execute("select 1").fetchone()[0] in (1, "1")
    assert n_done == [True] * 20, n_done
    print(f"Python {sys.version.split()[0]}: 20 interpreters")


if __name__ == "__main__":
    if sys.argv[1:] == ["here"]:
        main()
    elif not pythons():
        print("no Python of 3.12 or later is here")
        sys.exit(SKIPPED)
    else:
        sys.exit(any([subprocess.run([path, __file__, "here"], check=False).returncode for path in pythons()]))
