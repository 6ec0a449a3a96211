#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compare two builds of Cenote on the same PostgreSQL, in rounds that take turns.

    tests/bench/versions.py BUILD OLD_BUILD

Each build has its own cenoted, libcenote and cenote-bench. Build both the same way. The ratios are
those of one round; above 1, BUILD is faster than OLD_BUILD.
"""

import argparse
import os
import statistics
import sys

import compare

# Title, pool, workload of cenote-bench, clients.
WORKS = [
    ("1 client, `select 1`, 8 sessions", "pg8", "steady", 1),
    ("1 client, connect + `select 1` + disconnect, 8 sessions", "pg8", "connect", 1),
    ("1 client, `select 1`, transaction mode, 8 sessions", "tx8", "steady", 1),
    ("64 clients, `select 1`, the same", "tx8", "crowd", 64),
    ("64 clients, a row, the same", "tx8", "crowd-row", 64),
]


def start(build, pg, pg_pid):
    s = compare.Servers(build)
    if pg is None:
        pg = compare.start_postgresql(s)
    else:
        s.pids["postgresql"] = pg_pid
    run, _ = compare.start_cenoted(s, pg, None, None, True)
    return s, pg, run


def once(s, options, run, work, cpus):
    """Queries per second, and CPU per query of all processes."""
    _, pool, workload, clients = work
    binding = f"--cpu={max(cpus)}" if clients == 1 else "--no-pin"
    report = compare.measure(s, options, "pooled", workload, binding, f"--clients={clients}",
                             uri=f"cenote:///{pool}?run_dir={run}")
    target = report["cases"][0]["targets"][0]
    return target["queries_per_second"], target["cpu_us"]["median"]


def cell(ratios):
    if len(ratios) < 4:
        return f"{statistics.median(ratios):.3f}"
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.3f} [{low:.3f}..{high:.3f}]"


def compare_work(sides, options, work, rounds):
    cpus = os.sched_getaffinity(0)
    for s, _ in sides:
        for _, child in s.running:
            compare.bind_family(child.pid, {max(cpus)} if work[3] == 1 else cpus)
    figures = ([], [])
    for n in range(rounds):
        for i in (0, 1) if n % 2 == 0 else (1, 0):
            figures[i].append(once(sides[i][0], options, sides[i][1], work, cpus))
    rates = [new[0] / old[0] for new, old in zip(*figures)]
    costs = [old[1] / new[1] for new, old in zip(*figures)]
    both = [statistics.median(f[k] for f in side) for k in (0, 1) for side in figures]
    print(f"| {work[0]} | {both[0]:,.0f} | {both[1]:,.0f} | {cell(rates)} "
          f"| {both[2]:.1f} | {both[3]:.1f} | {cell(costs)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("old_build")
    parser.add_argument("--time", type=float, default=1, help="seconds for each measurement (1)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds that take turns (9)")
    parser.add_argument("--only", default="", help="only works whose title has this text")
    options = parser.parse_args()
    # cenote-bench has one round each time it is called.
    rounds, options.rounds, options.cpu, options.limit = options.rounds, 1, None, 120
    load = os.getloadavg()[0]
    started = []
    try:
        s, pg, run = start(options.build, None, None)
        started.append((s, run))
        s, _, run = start(options.old_build, pg, s.pids["postgresql"])
        started.append((s, run))
        print("| work | queries/s | old | ratio | CPU, µs | old | old / new |\n|---|" + "--:|" * 6)
        for work in (w for w in WORKS if options.only in w[0]):
            compare_work(started, options, work, rounds)
    except compare.Failure as reason:
        print(f"versions: {reason}", file=sys.stderr)
        return 1
    finally:
        for s, _ in reversed(started):
            s.stop()
    print(f"\nMedian of {rounds} rounds of {options.time} s; load at the begin and end {load:.1f} "
          f"and {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
