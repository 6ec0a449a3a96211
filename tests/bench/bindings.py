#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The bindings against the drivers of their languages that log in to the server themselves.

    build/tests/support/on_pool BACKEND 8 tests/bench/bindings.py [--build DIR] [--rounds N] [--seconds S] [LANGUAGE…]

Each driver is a process of its own (tests/bench/fetch) with a session that it holds, and fetches 256 rows of
16 texts of 32 bytes as its language's values. Each round measures all of them in turn, on one CPU: the CPU of all
processes that on_pool has started, in microseconds for each query, and what of it is the program's own. Medians of
the rounds [middle half]; ratios are those of the same round.
"""

import argparse
import glob
import os
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BACKEND = os.environ["CENOTE_TEST_BACKEND"]


def c_command(build):
    return [os.path.join(build, "tests/bench/fetch-c")]


def python_command(build):
    # before what is there, which may be other versions of the peers
    paths = [os.path.join(build, "bindings/python"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return ["/usr/bin/python3", os.path.join(HERE, "fetch/fetch.py")]


def ruby_command(build):
    lib = os.path.join(HERE, "../../bindings/ruby/lib")
    os.environ["RUBYLIB"] = os.path.join(build, "bindings/ruby") + ":" + lib
    return ["ruby", os.path.join(HERE, "fetch/fetch.rb")]


def php_command(build):
    module = os.path.join(build, "bindings/php/pdo_cenote.so")
    return [shutil.which("php8.2") or "php", "-d", "extension=" + module, os.path.join(HERE, "fetch/fetch.php")]


def erlang_command(build):
    os.environ["ERL_LIBS"] = os.path.join(build, "bindings/erlang") + ":" + os.environ.get("ERL_LIBS", "")
    # it has its threads before it is told where to run
    cpu = str(max(os.sched_getaffinity(0)))
    return ["taskset", "-c", cpu, "escript", os.path.join(HERE, "fetch/fetch.escript")]


# How a language's program is started, and what the binding is compared with.
LANGUAGES = {
    "c": (c_command, {}),
    "python": (python_command, {"postgresql": ["psycopg2", "psycopg"], "mysql": ["mysqlclient"]}),
    "ruby": (ruby_command, {"postgresql": ["pg"], "mysql": ["mysql2"]}),
    "php": (php_command, {"postgresql": ["pdo_pgsql"], "mysql": ["pdo_mysql"]}),
    "erlang": (erlang_command, {"postgresql": ["epgsql"]}),
}


def is_below(pid, top, parents):
    while pid > 1:
        if pid == top:
            return True
        pid = parents.get(pid, 0)
    return False


def processes():
    """on_pool's, with all that it started, but for this one."""
    parents = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                pid, rest = f.read().split(" ", 1)
        except OSError:
            continue
        parents[int(pid)] = int(rest.rsplit(") ", 1)[1].split()[1])
    return [pid for pid in parents if pid != os.getpid() and is_below(pid, os.getppid(), parents)]


def cpu_ns(pids):
    total = 0
    for pid in pids:
        for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
            try:
                with open(path, encoding="utf-8") as f:
                    total += int(f.read().split()[0])
            except OSError:
                pass
    return total


class Client:
    """A program that fetches for as long as it is told, and says how often it did."""

    def __init__(self, language, driver, command):
        self.language, self.driver = language, driver
        self.total, self.own = [], []
        self.process = subprocess.Popen(
            [*command, driver], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.is_ready = self.process.stdout.readline() == "ready\n"

    def run(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def measure(self, seconds):
        self.run(seconds / 10)
        pids, own = processes(), [self.process.pid]
        before, own_before = cpu_ns(pids), cpu_ns(own)
        n = self.run(seconds)
        self.total.append((cpu_ns(pids) - before) / n / 1000)
        self.own.append((cpu_ns(own) - own_before) / n / 1000)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def start(languages, build):
    """The clients there are; of what is not installed its program has said so."""
    clients = []
    for language in languages:
        make_command, peers = LANGUAGES[language]
        command = make_command(build)
        clients += [Client(language, name, command) for name in ["cenote", *peers.get(BACKEND, [])]]
    for client in clients:
        if not client.is_ready:
            print(f"{client.language}: {client.driver} is left out", file=sys.stderr)
            client.end()
    return [client for client in clients if client.is_ready]


def middle_half(figures, digits):
    low, middle, high = statistics.quantiles(figures, n=4)
    return f"{middle:,.{digits}f} [{low:,.{digits}f}..{high:,.{digits}f}]"


def show(client, base):
    ratio = ""
    if client.driver != "cenote":
        ratio = middle_half([a / b for a, b in zip(base.total, client.total)], 2)
    print(
        f"| {client.language} | {client.driver} | {middle_half(client.total, 0)} "
        f"| {statistics.median(client.own):,.0f} | {ratio} |"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help=" ".join(LANGUAGES))
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    subprocess.run([*python_command(build), "make"], check=True)
    clients = start(args.languages or LANGUAGES, build)
    for pid in processes():
        os.sched_setaffinity(pid, {max(os.sched_getaffinity(0))})
    for _ in range(args.rounds):
        for client in clients:
            client.measure(args.seconds)
    print("| language | driver | µs a query | the program's own | cenote / this |\n|---|---|--:|--:|--:|")
    base = {client.language: client for client in clients if client.driver == "cenote"}
    for client in clients:
        show(client, base[client.language])
        client.end()


if __name__ == "__main__":
    main()
