# SPDX-License-Identifier: BSD-2-Clause
"""cenote-bench report with PostgreSQL: other pools, those that it starts and one that the command line names.

usage: on_pool postgresql N test_report_peers.py CENOTE_BENCH CENOTED
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

BENCH, CENOTED = sys.argv[1:3]
SERVER = os.environ["CENOTE_TEST_SERVER"]


def program(name):
    return shutil.which(name) or shutil.which(name, path="/usr/sbin")


def report(sets, peer):
    """The targets of each workload, and what the report says on stderr."""
    with tempfile.TemporaryDirectory(prefix="cnr", dir="/tmp") as tmp:
        done = subprocess.run(
            [BENCH, "report", f"{tmp}/report", "--quick", "--rounds=1", "--time=0.01", "--no-plots",
             "--servers=postgresql", f"--sets={sets}", f"--cenoted={CENOTED}", f"--peer-postgresql={peer}"],
            capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        with open(f"{tmp}/report/report.json", encoding="utf-8") as f:
            figures = json.load(f)["figures"]
    for f in figures:
        assert f["queries_per_s"] > 0, f
    targets = {}
    for f in figures:
        targets.setdefault(f["workload"], []).append(f["target"])
    return targets, done.stderr


def a_pool_of_the_command_line_is_measured():
    targets, err = report("pipeline", SERVER)
    assert "without peer-postgresql" not in err, err
    seen = targets["steady"]
    assert seen[0] == "pooled" and seen[-2:] == ["peer-postgresql", "postgresql"], seen
    for name in ("pgbouncer", "pgpool"):
        assert (name in seen) == (program(name) is not None), (name, seen, err)
    # pgpool answers no pipelines
    assert "pgpool" not in targets["pipeline"], targets


def a_pool_that_does_not_answer_is_left_out():
    # this set measures nothing of PostgreSQL
    targets, err = report("tls", "host=/nonexistent dbname=app")
    assert "without peer-postgresql: " in err and "/nonexistent" in err, err
    assert not targets, targets


TESTS = [a_pool_of_the_command_line_is_measured, a_pool_that_does_not_answer_is_left_out]

print(f"1..{len(TESTS)}", flush=True)
for number, test in enumerate(TESTS, 1):
    try:
        test()
        print(f"ok {number} - {test.__name__}", flush=True)
    except Exception as reason:  # a broken test is a failed test
        for line in f"{type(reason).__name__}: {reason}".splitlines():
            print(f"# {line}")
        print(f"not ok {number} - {test.__name__}", flush=True)
