# SPDX-License-Identifier: BSD-2-Clause
"""A cenoted with statistics and two pools, and clients of it, for the tests of this folder.

on_pool runs these tests and names a PostgreSQL server in the environment.
"""

import os
import pwd
import socket
import subprocess
import tempfile
import time
import urllib.request

PATIENCE_S = 60

CONFIG = """[cenoted]
user = {user}
run_dir = {dir}/run
backend_dir = {dir}/backends
log = stderr
stats_listen = 127.0.0.1:{port}

[pool inventory]
backend = postgresql
server = {server}
target = primary
mode = transaction
sessions = 2..4
auth = trust

[pool archive]
backend = sqlite
server = path={dir}/archive.db
sessions = 1..4
auth = trust
queue_timeout = 2min
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def await_value(look, wanted, what):
    """Look until it is so. Returns what was seen."""
    until = time.monotonic() + PATIENCE_S
    seen = look()
    while not wanted(seen):
        assert time.monotonic() < until, f"{what}: {seen}"
        time.sleep(0.1)
        seen = look()
    return seen


class Pools:
    """cenoted runs from here to close()."""

    def __init__(self, cenoted, sqlsh, modules):
        self.sqlsh = sqlsh
        self.clients = []
        self.tmp = tempfile.TemporaryDirectory(prefix="cenote-monitoring-", dir="/tmp")
        self.dir = self.tmp.name
        os.chmod(self.dir, 0o755)
        for name in ("run", "backends"):
            os.mkdir(f"{self.dir}/{name}")
        for module in modules:
            os.symlink(os.path.abspath(module), f"{self.dir}/backends/{os.path.basename(module)}")
        self.port = free_port()
        with open(f"{self.dir}/cenoted.conf", "w", encoding="utf-8") as f:
            f.write(
                CONFIG.format(
                    user=pwd.getpwuid(os.getuid()).pw_name,
                    dir=self.dir,
                    port=self.port,
                    server=os.environ["CENOTE_TEST_SERVER"],
                )
            )
        self.log = open(f"{self.dir}/log", "w+", encoding="utf-8")
        self.daemon = subprocess.Popen(
            [cenoted, "-c", f"{self.dir}/cenoted.conf"], stderr=self.log
        )

    def await_start(self):
        await_value(self.ready, lambda ready: ready, "cenoted is not ready")

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.port}{path}"

    def get(self, path):
        with urllib.request.urlopen(self.url(path), timeout=PATIENCE_S) as answer:
            return answer.read().decode()

    def ready(self):
        assert self.daemon.poll() is None, open(f"{self.dir}/log").read()
        try:
            return self.get("/ready") == "ready\n"
        except OSError:  # nobody listens yet, or it says 503
            return False

    def uri(self, pool):
        return f"cenote:///{pool}?run_dir={self.dir}/run"

    def run(self, pool, sql):
        subprocess.run(
            [self.sqlsh, self.uri(pool), "-q", "-o", "/dev/null", "-c", sql],
            check=True,
            timeout=PATIENCE_S,
        )

    def hold(self, pool, sql):
        """A client that runs this, and keeps its session until close()."""
        client = subprocess.Popen(
            [self.sqlsh, self.uri(pool), "-q"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        client.stdin.write(sql + "\n\\echo done\n")
        client.stdin.flush()
        self.clients.append(client)
        while (line := client.stdout.readline()) != "done\n":
            assert line != "", f"sqlsh ended: {sql}"

    def wait(self, pool):
        """A client that waits for a session. The caller ends it."""
        return subprocess.Popen(
            [self.sqlsh, self.uri(pool), "-q", "-o", "/dev/null", "-c", "select 1"]
        )

    def end_daemon(self):
        for client in self.clients:
            client.communicate()
        self.clients = []
        self.daemon.terminate()
        self.daemon.wait(PATIENCE_S)

    def close(self):
        self.end_daemon()
        self.log.close()
        self.tmp.cleanup()


def run_tests(tests, *args):
    """Run functions as TAP."""
    print(f"1..{len(tests)}", flush=True)
    for number, test in enumerate(tests, 1):
        try:
            test(*args)
            print(f"ok {number} - {test.__name__}", flush=True)
        except Exception as reason:  # a broken test is a failed test
            for line in f"{type(reason).__name__}: {reason}".splitlines():
                print(f"# {line}")
            print(f"not ok {number} - {test.__name__}", flush=True)
