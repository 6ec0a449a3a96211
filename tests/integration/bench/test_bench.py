# SPDX-License-Identifier: BSD-2-Clause
"""cenote-bench measures a real pool, and says what it measured. No figure is judged here.

usage: test_bench.py CENOTE_BENCH CENOTED [SHIM …] [cenote-crypto.so] [libcenoteodbc.so]
"""

import json
import os
import pty
import subprocess
import sys
import tempfile

BENCH, CENOTED = sys.argv[1:3]
LIBRARIES = {os.path.basename(path): path for path in sys.argv[3:]}
# Each with the target that uses it.
SHIMS = {
    target: LIBRARIES[name]
    for name, target in (("libpq.so.5", "shim"), ("libmariadb.so.3", "mysql-shim"))
    if name in LIBRARIES
}
SUMMARIES = ["wall_us", "p50_us", "p90_us", "p99_us", "p999_us", "cpu_us", "client_cpu_us"]


def run(*args, env=None):
    done = subprocess.run(
        [BENCH, *args], capture_output=True, text=True, timeout=120, env=env
    )
    return done.returncode, done.stdout, done.stderr


def targets_of_this_build():
    """Those that need no server: they are the default."""
    listed = run("--list")[1].split("Targets:")[1]
    names = [line.split()[0] for line in listed.strip().splitlines()]
    return [name for name in names if name in ("pooled", "direct")]


def short(*args, **more):
    return run(
        f"--cenoted={CENOTED}", "--rounds=2", "--operations=3", *args, **more
    )


def check_summary(summary, what):
    for key in ("median", "p25", "p75", "min"):
        assert summary[key] > 0, f"{what}: {key} is {summary[key]}"
    assert summary["min"] <= summary["p25"] <= summary["median"] <= summary["p75"], what


def check_series(series, name, what):
    assert series["target"] == name, what
    assert series["operations_per_round"] == 3, what
    for key in SUMMARIES:
        check_summary(series[key], f"{what} {key}")
    assert series["queries_per_second"] > 0, what
    assert series["cpu_known"] is True, what
    if name in ("pooled", "shim"):
        check_summary(series["cenoted_cpu_us"], f"{what} cenoted_cpu_us")


def json_has_every_case_with_all_its_figures():
    names = targets_of_this_build()
    status, out, err = short("--json", "--queries=1,3")
    assert status == 0, err
    report = json.loads(out)
    assert report["rounds"] == 2 and report["clients"] == 1
    assert isinstance(report["pinned_cpu"], int)
    cases = [(c["workload"], c["queries_per_connection"]) for c in report["cases"]]
    assert cases == [
        ("attach", 1),
        ("connect", 1),
        ("steady", None),
        ("crowd", None),
        ("crowd-row", None),
        ("prepared", None),
        ("pipelined", None),
        ("rows", 1),
        ("rows", 3),
        ("medium", None),
        ("large", None),
        ("medium-single", None),
        ("large-single", None),
        ("bound", None),
    ], cases
    for case in report["cases"]:
        # An SQLite file has no round trips: no pipelines, nothing to wait for.
        round_trips = ("crowd", "crowd-row", "pipelined", "medium-single", "large-single")
        can = ["pooled"] if case["workload"] in round_trips else names
        assert len(case["targets"]) == len(can), case["workload"]
        for at, (series, name) in enumerate(zip(case["targets"], can)):
            check_series(series, name, f"{case['workload']} {name}")
            assert [a["target"] for a in series["against"]] == can[at + 1 :]
            for against in series["against"]:
                for key in ("wall_ratio", "p50_ratio", "p99_ratio", "cpu_ratio"):
                    check_summary(against[key], key)


def text_names_every_target_and_gives_a_ratio():
    status, out, err = short("--workloads=connect", "--targets=pooled,pooled")
    assert status == 0, err
    assert "connect: connect, select 1, disconnect" in out
    assert out.count("\n  pooled ") == 3, out
    assert "pooled / pooled: wall" in out
    assert err == "", "progress belongs on a terminal only"


def every_suite_of_ciphers_is_measured_against_clear_text():
    status, out, err = short("tls", "--workloads=connect")
    assert status == 0, err
    told = dict(line.split(": ", 1) for line in out.splitlines() if ": TLSv1." in line)
    assert len(told) == 6, out
    for suite, agreed in told.items():
        assert suite in agreed, out
        assert f"\n  {suite} / clear: wall" in out, out
    assert "\nclear: no TLS\n" in out, out
    # each with clear text only
    assert out.count(" / ") == 6, out
    assert short("ssl")[0] == 2


def shim_is_measured(target, path):
    env = dict(os.environ, CENOTE_SHIM_DIR=os.path.dirname(path))
    status, out, err = short(
        "--json", "--workloads=connect,medium,prepared", f"--targets={target},pooled", env=env
    )
    assert status == 0, err
    for case in json.loads(out)["cases"]:
        for series, name in zip(case["targets"], [target, "pooled"]):
            check_series(series, name, f"{case['workload']} {name}")
    env = dict(os.environ, CENOTE_SHIM_DIR="/nonexistent")
    status, out, err = short(f"--targets={target}", "--workloads=steady", env=env)
    missing = "/nonexistent/" + os.path.basename(path)
    assert status == 1 and missing in err, (status, err)


def shims_are_measured_where_they_are_named():
    for target, path in SHIMS.items():
        shim_is_measured(target, path)


def the_odbc_driver_is_measured():
    env = dict(os.environ, CENOTE_ODBC_DRIVER=LIBRARIES["libcenoteodbc.so"])
    status, out, err = short("odbc", "--json", "--targets=odbc,pooled", env=env)
    assert status == 0, err
    cases = json.loads(out)["cases"]
    assert [c["workload"] for c in cases] == ["attach", "large", "bound"], out
    for case in cases:
        for series, name in zip(case["targets"], ["odbc", "pooled"]):
            check_series(series, name, f"{case['workload']} {name}")
    env = dict(os.environ, CENOTE_ODBC_DRIVER="/nonexistent.so")
    status, out, err = short("odbc", env=env)
    assert status == 1 and "/nonexistent.so" in err, (status, err)
    status, out, err = short("--targets=odbc-native")
    assert status == 2 and "needs --odbc" in err, (status, err)


def several_clients_work_at_the_same_time():
    status, out, err = short(
        "--json", "--workloads=steady,connect", "--targets=pooled", "--clients=4",
        "--no-pin",
    )
    assert status == 0, err
    report = json.loads(out)
    assert report["clients"] == 4 and report["pinned_cpu"] is None
    for case in report["cases"]:
        check_series(case["targets"][0], "pooled", case["workload"])


def a_crowd_works_and_thinks():
    targets = ["shim", "pooled"] if "shim" in SHIMS else ["pooled"]
    env = dict(os.environ)
    if "shim" in SHIMS:
        env["CENOTE_SHIM_DIR"] = os.path.dirname(SHIMS["shim"])
    args = ["--workloads=crowd", "--targets=" + ",".join(targets), "--clients=20",
            "--sessions=24", "--think=30", "--no-pin"]
    status, out, err = short("--json", *args, env=env)
    assert status == 0, err
    for series, name in zip(json.loads(out)["cases"][0]["targets"], targets):
        check_series(series, name, "crowd")
        # Three queries each, and two pauses at least; the wall time is of 60 queries.
        assert series["wall_us"]["min"] * 60 > 2 * 30000, series
        # The pause is no part of the time of a query.
        assert series["p50_us"]["min"] < 30000, series
        assert series["p50_us"]["median"] <= series["p99_us"]["median"], series
    status, out, err = short(*args, env=env)
    assert status == 0 and out.count("    p50 ") == len(targets), (out, err)


def workloads_that_are_named_are_measured():
    status, out, err = short(
        "--json", "--workloads=think,idle,bulk,pipeline", "--depth=1,7", "--targets=pooled",
        "--clients=5", "--think=5", "--no-pin",
    )
    assert status == 0, err
    cases = json.loads(out)["cases"]
    assert [(c["workload"], c["pipeline_depth"]) for c in cases] == [
        ("think", None), ("idle", None), ("bulk", None), ("pipeline", 1), ("pipeline", 7)]
    for case in cases:
        series = case["targets"][0]
        check_series(series, "pooled", case["workload"])
        assert ("memory_kib" in series) == (case["workload"] == "idle"), series
    # the processes of a pool need a megabyte at least
    assert cases[1]["targets"][0]["memory_kib"]["min"] > 1024, cases[1]


def a_transaction_works_in_the_mode_transaction():
    args = ["--json", "--workloads=transaction", "--targets=pooled", "--sessions=1",
            "--mode=transaction", "--no-pin"]
    status, out, err = short(*args, "--clients=4", "--processes=2")
    assert status == 0, err
    check_series(json.loads(out)["cases"][0]["targets"][0], "pooled", "transaction")
    # Only PostgreSQL has COPY.
    status, out, err = short("--workloads=copy", "--targets=pooled")
    assert status == 1 and "no copy was begun" in err, (status, err)


def progress_is_shown_on_a_terminal():
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [BENCH, f"--cenoted={CENOTED}", "--rounds=2", "--operations=3", "--targets=pooled",
         "--workloads=steady,medium"],
        stdout=subprocess.PIPE, stderr=theirs, text=True,
    ) as bench:
        os.close(theirs)
        shown = b""
        try:
            while more := os.read(ours, 4096):
                shown += more
        except OSError:  # the other end is closed
            pass
        out = bench.stdout.read()
    os.close(ours)
    assert bench.returncode == 0, out
    lines = [line.removesuffix("\x1b[K") for line in shown.decode().split("\r")[1:]]
    # What it does is there before it is done, and nothing stays.
    assert lines == [
        "starting cenoted",
        "pooled: making a table",
        "",
        "[1/2] steady: pooled, warming up",
        "[1/2] steady: pooled, round 1 of 2",
        "[1/2] steady: pooled, round 2 of 2",
        "",
        "[2/2] medium: pooled, warming up",
        "[2/2] medium: pooled, round 1 of 2",
        "[2/2] medium: pooled, round 2 of 2",
        "",
    ], lines


def lines_fit_100_columns():
    for args in (["--list"], ["--help"]):
        status, out, err = run(*args)
        assert status == 0, err
        assert max(len(line) for line in out.splitlines()) <= 100, out
    tries = [["--workloads=steady,crowd,large,rows", "--queries=30"]]
    if "cenote-crypto.so" in LIBRARIES:
        two = "ECDHE-RSA-AES256-GCM-SHA384,TLS_CHACHA20_POLY1305_SHA256"
        tries += [["tls", "--workloads=steady,large"],
                  ["tls", "--workloads=steady", f"--targets={two}"]]
    for args in tries:
        status, out, err = short(*args)
        assert status == 0, err
        # Nobody chose the name of this machine's CPU.
        assert max(len(line) for line in out.splitlines()[1:]) <= 100, out


def the_list_is_aligned():
    lines = [line for line in run("--list")[1].splitlines() if line.startswith("  ")]
    begins = {line.index(line.split(maxsplit=1)[1]) for line in lines}
    assert len(begins) == 1, lines


def nothing_is_left_behind():
    with tempfile.TemporaryDirectory(prefix="cnb", dir="/tmp") as tmp:
        env = dict(os.environ, TMPDIR=tmp)
        status, _, err = short("--workloads=rows", "--queries=1", env=env)
        assert status == 0, err
        assert os.listdir(tmp) == []


def a_wrong_option_is_said_and_gives_2():
    for args in (
        ["--frobnicate"],
        ["--workloads=nonsense"],
        ["--rounds=0"],
        ["--time=-1"],
        ["--queries=1,,2"],
        ["--daemon-pid=1"],
        ["--server-pid=0"],
        ["--clients=8193"],
        ["--depth=0"],
        ["--processes=0"],
        ["--rows=1"],
        ["--mode=statement"],
        ["--think=-1"],
        ["--think=soon"],
        ["--targets=nonsense"],
        ["--uri=x", "--targets=pooled,nonsense"],
        ["argument"],
    ):
        status, out, err = run(*args)
        assert status == 2, (args, status)
        assert out == "" and "Try: cenote-bench --help" in err, (args, out, err)


def what_cannot_be_reached_gives_1_and_a_reason():
    status, out, err = run(
        "--uri=cenote:///bench?run_dir=/nonexistent", "--targets=pooled",
        "--workloads=connect",
    )
    assert status == 1, (status, out)
    assert "/nonexistent" in err, err
    status, out, err = run("--cenoted=/nonexistent", "--targets=pooled")
    assert status == 1 and "/nonexistent" in err, (status, err)
    status, out, err = run("--cenoted=/bin/false", "--targets=pooled")
    assert status == 1 and "cenoted ended at once" in err, (status, err)


def help_and_version_are_answers():
    status, out, err = run("--help")
    assert status == 0 and "--workloads=LIST" in out and err == ""
    status, out, err = run("--version")
    assert status == 0 and out.startswith("cenote-bench ") and err == ""


TESTS = [
    json_has_every_case_with_all_its_figures,
    text_names_every_target_and_gives_a_ratio,
    several_clients_work_at_the_same_time,
    a_crowd_works_and_thinks,
    workloads_that_are_named_are_measured,
    a_transaction_works_in_the_mode_transaction,
    progress_is_shown_on_a_terminal,
    lines_fit_100_columns,
    the_list_is_aligned,
    nothing_is_left_behind,
    a_wrong_option_is_said_and_gives_2,
    what_cannot_be_reached_gives_1_and_a_reason,
    help_and_version_are_answers,
]
if "cenote-crypto.so" in LIBRARIES:
    TESTS.append(every_suite_of_ciphers_is_measured_against_clear_text)
if "libcenoteodbc.so" in LIBRARIES:
    TESTS.append(the_odbc_driver_is_measured)
if SHIMS:
    TESTS.append(shims_are_measured_where_they_are_named)

print(f"1..{len(TESTS)}", flush=True)
for number, test in enumerate(TESTS, 1):
    try:
        test()
        print(f"ok {number} - {test.__name__}", flush=True)
    except Exception as reason:  # a broken test is a failed test
        for line in f"{type(reason).__name__}: {reason}".splitlines():
            print(f"# {line}")
        print(f"not ok {number} - {test.__name__}", flush=True)
