# SPDX-License-Identifier: BSD-2-Clause
"""A real Prometheus reads the metrics, and knows what alerts.yml and grafana.json ask it.

usage: on_pool postgresql 1 python3 test_prometheus.py FOLDER_OF_ALERTS_AND_DASHBOARD CENOTED SQLSH MODULE...
"""

import json
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from pools import PATIENCE_S, Pools, await_value, free_port, run_tests

CONFIG = """
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: ["{folder}/alerts.yml"]
scrape_configs:
  - job_name: cenoted
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


class Prometheus:
    def __init__(self, folder, pools):
        self.folder = folder
        self.tmp = tempfile.TemporaryDirectory(prefix="cenote-prometheus-", dir="/tmp")
        self.port = free_port()
        with open(f"{self.tmp.name}/prometheus.yml", "w", encoding="utf-8") as f:
            f.write(CONFIG.format(folder=folder, port=pools.port))
        self.log = open(f"{self.tmp.name}/log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={self.tmp.name}/prometheus.yml",
                f"--storage.tsdb.path={self.tmp.name}/data",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=self.log,
            stderr=self.log,
        )

    def await_start(self):
        await_value(
            lambda: self.ask("targets"), lambda data: data is not None, "Prometheus starts"
        )

    def ask(self, path, **params):
        """The data of an answer of its API; None: it has not started yet."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?" + urllib.parse.urlencode(params)
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as e:
            if e.code == 503:
                return None
            raise AssertionError(f"{params}: {e.read().decode()}") from e
        except OSError:
            assert self.process.poll() is None, open(self.log.name).read()
            return None

    def values(self, expression):
        return self.ask("query", query=expression)["result"]

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        self.log.close()
        self.tmp.cleanup()


def targets(prometheus):
    return prometheus.ask("targets")["activeTargets"]


def prometheus_reads_all_metrics(prometheus, pools):
    """It parses OpenMetrics strictly, and takes nothing of a page with an error."""
    found = await_value(
        lambda: targets(prometheus),
        lambda t: t and t[0]["health"] != "unknown",
        "no target was read",
    )
    assert found[0]["health"] == "up", found[0]["lastError"]
    pools.run("inventory", "select 1")
    lines = pools.get("/metrics").splitlines()
    families = [line.split()[2:] for line in lines if line.startswith("# TYPE ")]
    known = prometheus.ask("metadata")
    for name, kind in families:
        assert [m["type"] for m in known.get(name, [])] == [kind], (name, kind, known.get(name))
    names = {line.replace("{", " ").split()[0] for line in lines if not line.startswith("#")}
    stored = set(prometheus.ask("label/__name__/values"))
    assert names <= stored, names - stored


def expressions(folder):
    """Those of the dashboard, with values for the variables that Grafana puts in."""
    with open(f"{folder}/grafana.json", encoding="utf-8") as f:
        board = json.load(f)
    for panel in board["panels"]:
        for target in panel["targets"]:
            yield (
                target["expr"]
                .replace("$instance", ".*")
                .replace("$pool", ".*")
                .replace("$__rate_interval", "10s")
            )


def every_expression_of_the_dashboard_has_values(prometheus, pools):
    pools.hold("archive", "create temp table t(a);")  # so that something is pinned
    for expression in expressions(prometheus.folder):
        # a rate needs two samples
        await_value(
            lambda e=expression: prometheus.values(e), lambda v: len(v) > 0, expression
        )


def the_variables_of_the_dashboard_have_values(prometheus, pools):
    pools_known = prometheus.ask(
        "label/pool/values", **{"match[]": 'cenote_pool_max_sessions{instance=~".*"}'}
    )
    assert pools_known == ["archive", "inventory"], pools_known
    instances = prometheus.ask("label/instance/values", **{"match[]": "cenote_build_info"})
    assert instances == [f"127.0.0.1:{pools.port}"], instances


def the_panels_of_the_dashboard_do_not_overlap(prometheus, pools):
    with open(f"{prometheus.folder}/grafana.json", encoding="utf-8") as f:
        panels = json.load(f)["panels"]
    taken = {}
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24, panel["title"]
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                assert (x, y) not in taken, (panel["title"], taken[x, y])
                taken[x, y] = panel["title"]


def rules(prometheus):
    return [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]


def every_alert_can_be_evaluated(prometheus, pools):
    found = await_value(
        lambda: rules(prometheus),
        lambda found: found and all(rule["health"] != "unknown" for rule in found),
        "rules",
    )
    for rule in found:
        assert rule["health"] == "ok", (rule["name"], rule.get("lastError"))
        assert rule["annotations"]["summary"] and rule["labels"]["severity"], rule["name"]
    assert [r["name"] for r in found if r["state"] != "inactive"] == [], found


def an_alert_comes_when_all_sessions_are_in_use(prometheus, pools):
    for _ in range(3):
        pools.hold("archive", "begin;")
    waits = pools.wait("archive")
    await_value(
        lambda: [r["state"] for r in rules(prometheus) if r["name"] == "CenotePoolFull"],
        lambda states: states == ["pending"],
        "CenotePoolFull",
    )
    waits.kill()
    waits.wait(PATIENCE_S)


def promtool_has_no_complaint(prometheus, pools):
    done = subprocess.run(
        ["promtool", "check", "rules", f"{prometheus.folder}/alerts.yml"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


TESTS = [
    prometheus_reads_all_metrics,
    every_expression_of_the_dashboard_has_values,
    the_variables_of_the_dashboard_have_values,
    the_panels_of_the_dashboard_do_not_overlap,
    every_alert_can_be_evaluated,
    an_alert_comes_when_all_sessions_are_in_use,
    promtool_has_no_complaint,
]


def main():
    if shutil.which("prometheus") is None:
        print("1..0 # SKIP there is no Prometheus (Debian: prometheus)")
        return
    folder, cenoted, sqlsh, *modules = sys.argv[1:]
    pools = Pools(cenoted, sqlsh, modules)
    prometheus = Prometheus(folder, pools)
    try:
        pools.await_start()
        prometheus.await_start()
        run_tests(TESTS, prometheus, pools)
    finally:
        prometheus.close()
        pools.close()


main()
