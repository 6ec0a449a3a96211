#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Put the figures and pictures of a report of cenote-bench into docs/performance.md.

usage: tests/bench/performance.py DIR

DIR is what `cenote-bench report DIR` wrote. Only the parts of the page between "<!-- figures: NAME -->"
and "<!-- end -->" change, and the pictures in docs/performance.
"""

import json
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/performance.md"
PICTURES = ROOT / "docs/performance"
MAX_BYTES = 60_000
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "mariadb": "MariaDB"}
DIRECT = ("direct", "postgresql", "mariadb")


def number(v, digits=3):
    """A number with three digits, and commas between thousands."""
    if v is None:
        return ""
    if v >= 100:
        rounded = float(f"{v:.{digits}g}")
        return f"{rounded:,.0f}"
    return f"{v:.{digits}g}"


def table(heads, rows):
    """The first column is text."""
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 1)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


class Report:
    def __init__(self, directory):
        with open(directory / "report.json", encoding="utf-8") as f:
            self.head = json.load(f)
        self.figures = self.head["figures"]

    def of(self, **wanted):
        return [f for f in self.figures if all(f[k] == v for k, v in wanted.items())]

    def servers(self, name):
        return [s for s in NAMES if self.of(set=name, server=s)]

    def targets(self, name, server):
        return list(dict.fromkeys(f["target"] for f in self.of(set=name, server=server)
                                  if f["target"] != "all"))


def machine(r):
    head = r.head
    kind = "A quick run" if head["is_quick"] else "A whole run"
    busy = (" Other work ran on the machine, so the figures are rough. Trust the ratios more, and those of CPU time most."
            if head["load"] > head["n_cpus"] else "")
    return [f"{kind} of {head['started'][:10]}, Cenote {head['version']}: {head['cpu']}, "
            f"{head['n_cpus']:.0f} CPUs, {head['kernel']}; {head['servers']}. "
            f"The load of the machine at the start was {head['load']:.1f}.{busy}"]


def ratio_rows(r):
    for server in r.servers("queries"):
        for f in r.of(set="queries", server=server, target="pooled"):
            base = r.of(set="queries", server=server, target=f["base"], x=f["x"])
            if not base:
                continue
            gain = 1 / f["wall_ratio"]
            low, high = 1 / f["wall_ratio_p75"], 1 / f["wall_ratio_p25"]
            yield [f"{NAMES[server]}, {f['x']:.0f}", number(f["queries_per_s"]),
                   number(base[0]["queries_per_s"]), f"{gain:.2f} [{low:.2f}..{high:.2f}]",
                   "yes" if gain >= 1 else "no",
                   f"{f['cpu_ratio']:.2f} [{f['cpu_ratio_p25']:.2f}..{f['cpu_ratio_p75']:.2f}]"]


def queries(r):
    return table(["server, queries per connection", "pooled, queries/s", "direct",
                  "pooled / direct", "at or above", "CPU, pooled / direct"], ratio_rows(r))


def cpu(r):
    rows = []
    for server in r.servers("work"):
        targets = r.targets("work", server)
        works = list(dict.fromkeys(f["workload"] for f in r.of(set="work", server=server)))
        rows.append([f"**{NAMES[server]}**"] + [f"**{t}**" for t in targets] + [""] * (4 - len(targets)))
        for work in works:
            cells = [r.of(set="work", server=server, workload=work, target=t) for t in targets]
            cells = [number(c[0]["cpu_us"]) if c else "" for c in cells]
            rows.append([work] + cells + [""] * (4 - len(targets)))
    return table(["CPU per query, µs", "", "", "", ""], rows)


def by_clients(r, name, *columns):
    rows = []
    for server in r.servers(name):
        for f in r.of(set=name, server=server):
            cells = [number(f[c] / scale if f[c] is not None else None) for c, scale in columns]
            rows.append([f"{NAMES[server]}, {f['clients']:,.0f}, {f['target']}"] + cells)
    return rows


def clients(r):
    return table(["server, clients, target", "transactions/s", "p50, ms", "p99, ms", "p99.9, ms", "CPU, µs"],
                 by_clients(r, "clients", ("queries_per_s", 1), ("p50_us", 1000), ("p99_us", 1000),
                            ("p999_us", 1000), ("cpu_us", 1)))


def think(r):
    return table(["server, clients, target", "queries/s", "p50, ms", "p99, ms", "CPU, µs"],
                 by_clients(r, "think", ("queries_per_s", 1), ("p50_us", 1000), ("p99_us", 1000),
                            ("cpu_us", 1)))


def pipeline(r):
    rows = []
    for server in r.servers("pipeline"):
        for f in r.of(set="pipeline", server=server):
            work = f"depth {f['x']:.0f}" if f["workload"] == "pipeline" else "not pipelined"
            rows.append([f"{f['target']}, {work}", number(f["queries_per_s"]), number(f["cpu_us"])])
    return table(["PostgreSQL: target, requests at once", "queries/s", "CPU, µs"], rows)


def idle(r):
    return table(["server, attached clients, target", "memory, MiB", "p50 of the busy one, ms", "p99, ms"],
                 by_clients(r, "idle", ("memory_kib", 1024), ("p50_us", 1000), ("p99_us", 1000)))


def tls(r):
    works = list(dict.fromkeys(f["workload"] for f in r.of(set="tls") if f["target"] != "all"))
    rows = []
    for target in r.targets("tls", "sqlite"):
        cells = [r.of(set="tls", target=target, workload=w) for w in works]
        rows.append([target] + [number(c[0]["cpu_us"]) if c else "" for c in cells])
    return table(["CPU per query, µs"] + works, rows)


def retail(r):
    """For each target: its most operations per second, the users that this takes, and its figures with most users."""
    rows = []
    for server in r.servers("retail"):
        for target in r.targets("retail", server):
            figures = r.of(set="retail", server=server, target=target)
            last = max(figures, key=lambda f: f["clients"])
            figures = [f for f in figures if f["queries_per_s"]]
            if not figures:
                continue
            most = max(f["queries_per_s"] for f in figures)
            first = next(f for f in figures if f["queries_per_s"] >= 0.95 * most)
            rows.append([f"{NAMES[server]}, {target}", number(most), f"{first['clients']:,.0f}",
                         number(last["queries_per_s"]),
                         number(last["p99_us"] / 1000 if last["p99_us"] else None),
                         number(last["refused"]) or "0", last["note"].split(":")[0]])
    return table(["server, target", "most operations/s", "reached with users", "with 5,250 users",
                  "their p99, ms", "refused", "limited by"], rows)


def replace_parts(text, r):
    parts = {f.__name__: f for f in (machine, queries, cpu, clients, think, pipeline, idle, tls, retail)}

    def new(match):
        body = "\n".join(parts[match[1]](r))
        return f"<!-- figures: {match[1]} -->\n{body}\n<!-- end -->"

    return re.sub(r"<!-- figures: (\w+) -->\n.*?<!-- end -->", new, text, flags=re.S)


def copy_pictures(directory, text):
    PICTURES.mkdir(exist_ok=True)
    for name in re.findall(r"\(performance/([\w-]+\.(?:svg|png))\)", text):
        if not (directory / name).exists():
            print(f"performance: {name} is not in this report", file=sys.stderr)
            continue
        if (directory / name).stat().st_size > MAX_BYTES:
            sys.exit(f"performance: {name} has more than {MAX_BYTES} bytes")
        shutil.copy(directory / name, PICTURES / name)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    directory = pathlib.Path(sys.argv[1])
    text = replace_parts(PAGE.read_text(encoding="utf-8"), Report(directory))
    copy_pictures(directory, text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
