# SPDX-License-Identifier: BSD-2-Clause
"""cenote-bench report and compare: the directory with its page, JSON and CSV. No figure is judged here.

usage: test_report.py CENOTE_BENCH CENOTED [libcenoteodbc.so]
"""

import csv
import html.parser
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET

BENCH, CENOTED = sys.argv[1:3]
TARGETS = {"pooled", "direct"}
if len(sys.argv) > 3:
    os.environ["CENOTE_ODBC_DRIVER"] = sys.argv[3]
    TARGETS.add("odbc")
VOID = {"meta", "br", "hr", "img", "link", "input"}
SHORT = ["--quick", "--rounds=2", "--time=0.01", "--servers=sqlite", f"--cenoted={CENOTED}"]


def run(*args, env=None):
    done = subprocess.run([BENCH, *args], capture_output=True, text=True, timeout=200, env=env)
    return done.returncode, done.stdout, done.stderr


def child_of(parent, name):
    """The process of this program that the parent started."""
    with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as f:
        children = f.read().split()
    for child in children:
        with open(f"/proc/{child}/comm", encoding="ascii") as f:
            if f.read().strip() == name:
                return int(child)
    raise AssertionError(f"{parent} has no child {name}: {children}")


class Page(html.parser.HTMLParser):
    """Checks that each element ends, and that no two elements have the same name."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.seen, self.links = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                assert value not in self.ids, f"two elements are named {value}"
                self.ids.add(value)
            if name in ("src", "href", "xlink:href"):
                self.links.append(value)
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-5:])
        self.open.pop()


def check_page(path, n_pictures):
    page = Page()
    with open(path, encoding="utf-8") as f:
        page.feed(f.read())
    assert page.open == [], page.open
    assert page.seen.count("svg") == n_pictures, page.seen.count("svg")
    # The page needs no other file.
    for link in page.links:
        assert link[0] == "#" and link[1:] in page.ids, link


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def same(cell, value):
    if value is None:
        return cell == ""
    return cell == value if isinstance(value, str) else float(cell) == value


def check_tables(directory):
    """CSV and JSON say the same. Returns the figures."""
    with open(f"{directory}/report.json", encoding="utf-8") as f:
        report = json.load(f)
    rows = read_csv(f"{directory}/figures.csv")
    assert len(rows) == len(report["figures"]) > 0
    for row, figure in zip(rows, report["figures"]):
        assert list(row) == list(figure), row
        assert all(same(row[name], figure[name]) for name in row), (row, figure)
    return report


def a_report_of_sqlite_is_complete():
    with tempfile.TemporaryDirectory(prefix="cnr", dir="/tmp") as tmp:
        env = dict(os.environ, TMPDIR=tmp)
        out = f"{tmp}/report"
        status, text, err = run("report", out, *SHORT, "--sets=queries,work", "--no-plots", env=env)
        assert status == 0, err
        assert max(len(line) for line in text.splitlines()) <= 100, text
        report = check_tables(out)
        assert report["is_complete"] == 1 and report["is_quick"] == 1, report
        points = {f["x"] for f in report["figures"] if f["set"] == "queries"}
        assert points == {1, 3, 10, 30}, points
        assert {f["target"] for f in report["figures"] if f["set"] == "queries"} == TARGETS
        for f in report["figures"]:
            assert f["p50_us"] <= f["p90_us"] <= f["p99_us"] <= f["p999_us"], f
            assert f["queries_per_s"] > 0 and f["cpu_us"] > 0, f
            if f["target"] != "direct":
                assert f["base"] == "direct" and f["wall_ratio"] > 0, f
        check_page(f"{out}/report.html", 0)
        # Neither its servers nor half-written files are left.
        assert os.listdir(tmp) == ["report"]
        assert sorted(os.listdir(out)) == ["figures.csv", "report.html", "report.json"]


def the_pictures_are_drawn():
    with tempfile.TemporaryDirectory(prefix="cnr", dir="/tmp") as tmp:
        out = f"{tmp}/report"
        status, _, err = run("report", out, *SHORT, "--sets=queries,work")
        assert status == 0, err
        for name in ("queries-sqlite", "cpu-sqlite"):
            assert ET.parse(f"{out}/{name}.svg").getroot().tag.endswith("svg")
            with open(f"{out}/{name}.png", "rb") as f:
                assert f.read(8) == b"\x89PNG\r\n\x1a\n"
        check_page(f"{out}/report.html", 2)
        with open(f"{out}/queries-sqlite.svg", encoding="utf-8") as f:
            drawn = f.read()
        os.remove(f"{out}/queries-sqlite.svg")
        os.remove(f"{out}/report.html")
        status, _, err = run("report", out, "--redraw")
        assert status == 0, err
        check_page(f"{out}/report.html", 2)
        with open(f"{out}/queries-sqlite.svg", encoding="utf-8") as f:
            assert f.read() == drawn


def without_gnuplot_it_says_which_package_is_missing():
    with tempfile.TemporaryDirectory(prefix="cnr", dir="/tmp") as tmp:
        env = dict(os.environ, PATH=tmp)
        status, out, err = run("report", f"{tmp}/report", *SHORT, env=env)
        assert status == 1 and "gnuplot-nox" in err and "--no-plots" in err, (status, err)


def an_interrupted_report_has_what_was_measured():
    with tempfile.TemporaryDirectory(prefix="cnr", dir="/tmp") as tmp:
        out = f"{tmp}/report"
        args = ["--rounds=3", "--time=0.3", "--servers=sqlite", f"--cenoted={CENOTED}", "--no-plots",
                "--sets=queries"]
        with subprocess.Popen([BENCH, "report", out, *args], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as bench:
            for line in bench.stdout:
                if line.startswith("sqlite"):
                    break
            bench.send_signal(signal.SIGINT)
            bench.communicate(timeout=60)
        assert bench.returncode == -signal.SIGINT, bench.returncode
        report = check_tables(out)
        assert report["is_complete"] == 0 and 0 < len(report["figures"]) < 7 * len(TARGETS), report
        with open(f"{out}/report.html", encoding="utf-8") as f:
            assert "not complete" in f.read()


def a_case_that_fails_makes_the_report_incomplete():
    with tempfile.TemporaryDirectory(prefix="cnr", dir="/tmp") as tmp:
        out = f"{tmp}/report"
        args = ["--rounds=3", "--time=0.3", "--servers=sqlite", f"--cenoted={CENOTED}", "--no-plots",
                "--sets=work"]
        with subprocess.Popen([BENCH, "report", out, *args], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as bench:
            for line in bench.stdout:
                if line.startswith("sqlite"):
                    break
            os.kill(child_of(bench.pid, "cenoted"), signal.SIGKILL)
            _, err = bench.communicate(timeout=60)
        assert bench.returncode == 1 and "1 of the cases" in err, (bench.returncode, err)
        report = check_tables(out)
        assert report["is_complete"] == 0, report
        notes = [f["note"] for f in report["figures"] if f["queries_per_s"] is None]
        assert len(notes) == 1 and notes[0].startswith("not measured: "), notes


def a_file_that_cannot_be_written_is_reported_and_the_figures_are_printed():
    with tempfile.TemporaryDirectory(prefix="cnr", dir="/tmp") as tmp:
        out = f"{tmp}/report"
        os.makedirs(f"{out}/.report.json.new/full")
        status, text, err = run("report", out, *SHORT, "--sets=queries", "--no-plots")
        assert status == 1 and f"{out}/report.json" in err, (status, err)
        assert text.count("\nsqlite ") == 4 * len(TARGETS), text


def changed(path, new_path, change):
    with open(path, encoding="utf-8") as f:
        report = json.load(f)
    for figure in report["figures"]:
        change(figure)
    with open(new_path, "w", encoding="utf-8") as f:
        json.dump(report, f)


def compare_tells_a_regression_from_noise():
    with tempfile.TemporaryDirectory(prefix="cnr", dir="/tmp") as tmp:
        out = f"{tmp}/report"
        status, _, err = run("report", out, *SHORT, "--rounds=3", "--sets=work", "--no-plots")
        assert status == 0, err
        old = f"{out}/report.json"
        status, text, err = run("compare", old, old)
        assert status == 0 and " 0 worse, 0 better" in text, (status, text, err)

        def slow(figure):
            if figure["workload"] == "connect" and figure["wall_ratio"] is not None:
                much = 1000 * figure["wall_ratio"]
                for name in ("wall_ratio_p25", "wall_ratio_p75", "wall_ratio"):
                    figure[name] = much

        changed(old, f"{tmp}/slow.json", slow)
        status, text, err = run("compare", old, f"{tmp}/slow.json")
        assert status == 3 and "WORSE" in text and "sqlite, connect" in text, (status, text, err)
        status, text, err = run("compare", f"{tmp}/slow.json", old)
        assert status == 0 and "better" in text, (status, text, err)


def wrong_arguments_are_reported():
    for args, status, part in (
        (["report"], 2, "report DIR"),
        (["report", "/tmp/x", "--sets=nonsense"], 2, "--sets=nonsense"),
        (["report", "/tmp/x", "--servers=oracle"], 2, "--servers=oracle"),
        (["report", "/nonexistent/x", "--no-plots"], 1, "/nonexistent/x"),
        (["compare", "/nonexistent/a", "/nonexistent/b"], 1, "/nonexistent/a"),
        (["compare", "/dev/null", "/dev/null"], 1, "at byte 0"),
        (["compare", "one"], 2, "compare OLD.json NEW.json"),
    ):
        got, out, err = run(*args)
        assert got == status and part in err, (args, got, err)


TESTS = [
    a_report_of_sqlite_is_complete,
    an_interrupted_report_has_what_was_measured,
    a_case_that_fails_makes_the_report_incomplete,
    a_file_that_cannot_be_written_is_reported_and_the_figures_are_printed,
    compare_tells_a_regression_from_noise,
    wrong_arguments_are_reported,
]
if shutil.which("gnuplot"):
    TESTS.append(the_pictures_are_drawn)
else:
    TESTS.append(without_gnuplot_it_says_which_package_is_missing)

print(f"1..{len(TESTS)}", flush=True)
for number, test in enumerate(TESTS, 1):
    try:
        began = time.monotonic()
        test()
        print(f"ok {number} - {test.__name__} # {time.monotonic() - began:.1f} s", flush=True)
    except Exception as reason:  # a broken test is a failed test
        for line in f"{type(reason).__name__}: {reason}".splitlines():
            print(f"# {line}")
        print(f"not ok {number} - {test.__name__}", flush=True)
