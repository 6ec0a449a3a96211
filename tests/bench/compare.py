#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compare pools on PostgreSQL and MariaDB with PgBouncer and with the servers themselves.

Starts a PostgreSQL, a PgBouncer, a MariaDB and a cenoted of its own in a temporary directory,
on unix sockets, everything bound to one CPU; lets cenote-bench measure them in rounds that take
turns; prints one table against the goals, and removes everything.

--only crowd: many clients on few sessions, on all CPUs; a single client on one CPU. PgBouncer has a
database for each of cenoted's pools, in the same mode and with as many sessions.
"""

import argparse
import getpass
import glob
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PASSWORD = "Water-under-the-stone"

# What must hold: work, way to the pool, compared with, at most so much of its CPU time.
GOALS = [
    ("connect", "pooled", "pgbouncer", 0.5),
    ("connect", "pooled", "postgresql", 0.1),
    ("connect", "pooled", "mariadb", 0.5),
    ("connect", "TLS_AES_256_GCM_SHA384", "pgbouncer", 0.5),
    ("steady", "pooled", "pgbouncer", 0.95),
    ("medium", "pooled", "postgresql", 1.0),
    ("large", "pooled", "postgresql", 0.8),
    ("connect", "shim", "pgbouncer", 0.5),
    ("large", "shim", "postgresql", 0.8),
    ("connect", "mysql-shim", "mariadb", 0.5),
    ("large", "mysql-shim", "mariadb", 1.0),
    ("bound", "mysql-shim", "mariadb", 1.0),
    ("attach", "odbc", "odbc-native", 0.05),
    ("large", "odbc", "odbc-native", 1.0),
    ("bound", "odbc", "odbc-native", 1.0),
]
POOLED = ("pooled", "shim", "mysql-shim", "odbc", "TLS_AES_256_GCM_SHA384")
# For many clients: pool of cenoted and database of PgBouncer, mode, sessions.
CROWD_POOLS = [("pg", "session", 4), ("pg8", "session", 8), ("pg64", "session", 64),
               ("tx8", "transaction", 8)]
# What they do: title, pool, workload of cenote-bench, clients, think time in ms.
CROWD_WORKS = [
    ("1 busy client", "pg", "steady", 1, 0),
    ("8 busy clients, 8 sessions", "pg8", "crowd", 8, 0),
    ("64 busy clients, 64 sessions", "pg64", "crowd", 64, 0),
    ("1 busy client, transaction mode, 8 sessions", "tx8", "steady", 1, 0),
    ("8 busy clients, the same", "tx8", "crowd", 8, 0),
    ("64 busy clients, the same", "tx8", "crowd", 64, 0),
    ("64 busy clients that read a row, the same", "tx8", "crowd-row", 64, 0),
    ("64 clients that think 5 ms, the same", "tx8", "crowd", 64, 5),
    ("1,000 clients that think 100 ms, the same", "tx8", "crowd", 1000, 100),
    ("connect + `select 1` + disconnect", "pg", "connect", 1, 0),
    ("rows, 1 client", "pg", "medium,medium-single,large,large-single", 1, 0),
]
# Works of several workloads have these titles.
CROWD_TITLES = {"medium": "256 rows", "medium-single": "256 rows, row by row",
                "large": "10,000 rows", "large-single": "10,000 rows, row by row"}
# Where the build has the shims.
SHIMS = {"shim": "libpq/libpq.so.5", "mysql-shim": "mysql/libmariadb.so.3"}


class Failure(Exception):
    pass


def program(name, *places):
    for place in places:
        for path in sorted(glob.glob(os.path.join(place, name)), reverse=True):
            return path
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        raise Failure(f"{name} is not installed")
    return path


def unprivileged():
    """Who runs servers that refuse to run as root: a name, or None for ourselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            pass
    raise Failure("there is neither a user postgres nor a user nobody")


class Servers:
    """Everything that runs, and the directory where it does."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.user = unprivileged()
        self.dir = tempfile.mkdtemp(prefix="cenote-cmp.", dir="/tmp")
        os.chmod(self.dir, 0o755)
        self.running = []
        self.pids = {}

    def directory(self, name, user=None):
        path = os.path.join(self.dir, name)
        os.mkdir(path, 0o755)
        if user is not None:
            shutil.chown(path, user)
        return path

    def write(self, name, text, user=None):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o600)
        if user is not None:
            shutil.chown(path, user)
        return path

    def run(self, *args, user=None, **more):
        done = subprocess.run(
            args, user=user, cwd="/", capture_output=True, text=True, timeout=120, **more
        )
        if done.returncode != 0:
            raise Failure(f"{args[0]}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def start(self, name, *args, user=None):
        log = os.path.join(self.dir, name + ".log")
        with open(log, "w", encoding="utf-8") as out:
            child = subprocess.Popen(
                args, user=user, cwd="/", stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )
        self.running.append((name, child))
        self.pids[name] = child.pid
        return child

    def wait(self, name, is_ready):
        child = dict(self.running)[name]
        for _ in range(600):
            if is_ready():
                return
            if child.poll() is not None:
                break
            time.sleep(0.05)
        with open(os.path.join(self.dir, name + ".log"), encoding="utf-8") as log:
            raise Failure(f"{name} does not serve: {log.read()[-2000:]}")

    def stop(self):
        for name, child in reversed(self.running):
            # PostgreSQL: the fast shutdown.
            child.send_signal(signal.SIGINT if name == "postgresql" else signal.SIGTERM)
            try:
                child.wait(timeout=20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def start_postgresql(s):
    places = ["/usr/lib/postgresql/*/bin"]
    data = s.directory("pg", s.user)
    run = s.directory("pgrun", s.user)
    secret = s.write("pw", PASSWORD, s.user)
    s.run(
        program("initdb", *places), "-D", data, "-U", "super", "-E", "UTF8", "--locale=C",
        "-A", "trust", "--pwfile", secret, user=s.user,
    )
    with open(os.path.join(data, "pg_hba.conf"), "w", encoding="utf-8") as f:
        f.write("local all scram scram-sha-256\nlocal all all trust\n")
    settings = {
        "listen_addresses": "", "unix_socket_directories": run, "autovacuum": "off",
        "password_encryption": "scram-sha-256", "fsync": "off", "max_connections": "300",
    }
    args = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
    s.start("postgresql", program("postgres", *places), "-D", data, *args, user=s.user)
    psql = [program("psql", *places), "-X", "-q", "-h", run, "-U", "super", "-d", "postgres"]
    s.wait("postgresql", lambda: subprocess.run(
        [*psql, "-c", ""], capture_output=True, check=False).returncode == 0)
    s.run(*psql, "-c", "create user app", "-c",
          f"create user scram password '{PASSWORD}'", "-c", "grant app to scram",
          "-c", "create database app owner app")
    s.run(*psql[:-1], "app", "-c", "grant all on schema public to public")
    return run


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def make_certificate(s):
    """Files of a certificate and its key, for who listens on TCP: both have the same."""
    cert, key = (os.path.join(s.dir, name) for name in ("tls.crt", "tls.key"))
    s.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert,
          "-days", "30", "-subj", "/CN=localhost")
    os.chmod(key, 0o600)
    return cert, key


def start_pgbouncer(s, pg, tls):
    run = s.directory("pbrun", s.user)
    port = free_port() if tls else 6432
    secure = ""
    if tls:
        key = s.write("pgbouncer.key", open(tls[1], encoding="ascii").read(), s.user)
        secure = (f"client_tls_sslmode = require\nclient_tls_cert_file = {tls[0]}\n"
                  f"client_tls_key_file = {key}\n")
        os.chmod(tls[0], 0o644)
    hba = "local all scram scram-sha-256\nlocal all all trust\nhostssl all all 127.0.0.1/32 trust\n"
    more = "".join(f"{name} = host={pg} dbname=app pool_mode={mode} pool_size={n}\n"
                   for name, mode, n in CROWD_POOLS)
    users = s.write("users", f'"app" ""\n"scram" "{PASSWORD}"\n', s.user)
    conf = s.write(
        "pgbouncer.ini",
        f"[databases]\napp = host={pg} dbname=app\n{more}[pgbouncer]\n"
        f"listen_addr = {'127.0.0.1' if tls else ''}\n{secure}"
        f"unix_socket_dir = {run}\nlisten_port = {port}\nauth_type = hba\n"
        f"auth_hba_file = {s.write('hba', hba, s.user)}\n"
        f"auth_file = {users}\npool_mode = session\ndefault_pool_size = 4\nmax_client_conn = 1100\n"
        "log_connections = 0\nlog_disconnections = 0\n",
        s.user,
    )
    s.start("pgbouncer", program("pgbouncer"), conf, user=s.user)
    s.wait("pgbouncer", lambda: os.path.exists(f"{run}/.s.PGSQL.{port}"))
    return run, port


def start_mariadb(s):
    user = s.user
    data = s.directory("my", user)
    run = s.directory("myrun", user)
    as_user = ["--user=" + user] if user is not None else []
    s.run(program("mariadb-install-db"), "--no-defaults", "--datadir=" + data, *as_user,
          "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
    socket = run + "/s"
    s.start("mariadb", program("mariadbd"), "--no-defaults", "--datadir=" + data,
            "--socket=" + socket, "--pid-file=" + run + "/pid", "--skip-networking",
            "--innodb-flush-log-at-trx-commit=0", *as_user)
    client = [program("mariadb"), "--no-defaults", "-S", socket, "-uroot"]
    s.wait("mariadb", lambda: subprocess.run(
        [*client, "-e", ""], capture_output=True, check=False).returncode == 0)
    s.run(*client, "-e", "create database app; create user app@localhost identified by "
          f"'{PASSWORD}'; grant all on app.* to app@localhost")
    return socket


def start_cenoted(s, pg, mariadb, tls, is_crowd):
    run = s.directory("run")
    modules = s.directory("backends")
    kinds = set()
    for path in glob.glob(f"{s.build}/tools/cenoted/backends/*/cenoted-*.so"):
        name = os.path.basename(path)
        os.symlink(path, os.path.join(modules, name))
        kinds.add(name[len("cenoted-"):-len(".so")])
    pools = []
    if pg and "postgresql" in kinds:
        for name, mode, n in CROWD_POOLS if is_crowd else CROWD_POOLS[:1]:
            pools.append((name, "postgresql", f"host={pg} user=app dbname=app\n"
                          f"mode = {mode}\nsessions = {n}..{n}"))
    if mariadb and "mysql" in kinds:
        pools.append(("my", "mysql", f"socket={mariadb} user=app passfile="
                      + s.write("mypw", "app:" + PASSWORD + "\n") + " dbname=app\n"
                      "sessions = 4..4"))
    if not pools:
        return None
    conf = f"[cenoted]\nuser = {getpass.getuser()}\nrun_dir = {run}\nbackend_dir = {modules}\nlog = stderr\n"
    port = free_port()
    if tls:
        conf += (f"listen = 127.0.0.1:{port}\ntls_cert = {tls[0]}\ntls_key = {tls[1]}\n")
    for name, backend, server in pools:
        conf += f"[pool {name}]\nbackend = {backend}\nserver = {server}\n"
        conf += "auth = peer\nauth = trust door=tcp\n" if tls else ""
    s.start("cenoted", f"{s.build}/tools/cenoted/cenoted", "-c", s.write("cenoted.conf", conf))
    s.wait("cenoted", lambda: all(os.path.exists(f"{run}/{p[0]}.sock") for p in pools))
    time.sleep(4 if is_crowd else 1)
    return run, port


def shim_path(s, name):
    return f"{s.build}/shims/{SHIMS[name]}"


def measure(s, options, targets, workloads, *more, **places):
    args = [f"{s.build}/tools/bench/cenote-bench", "--json", "-q", "1,10", "-w", workloads,
            "-t", targets, "-s", str(options.time), "-r", str(options.rounds), *more]
    if options.cpu is not None:
        args.append(f"--cpu={options.cpu}")
    for name, value in places.items():
        args.append(f"--{name}={value}")
    for part, option in (("cenoted", "daemon-pid"), ("pgbouncer", "pgbouncer-pid"),
                         ("postgresql", "server-pid"), ("mariadb", "server-pid")):
        if part in s.pids and (part != "cenoted" or "uri" in places):
            args.append(f"--{option}={s.pids[part]}")
    env = dict(os.environ, CENOTE_ODBC_DRIVER=f"{s.build}/shims/odbc/libcenoteodbc.so")
    for name in set(SHIMS) & set(targets.split(",")):
        env["CENOTE_SHIM_DIR"] = os.path.dirname(shim_path(s, name))
    try:
        done = subprocess.run(args, capture_output=True, text=True, check=False, env=env,
                              timeout=options.limit)
    except subprocess.TimeoutExpired as reason:
        raise Failure(f"{targets}: not done after {options.limit} seconds") from reason
    if done.returncode != 0:
        raise Failure(f"{targets}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def figure(summary):
    low, high = summary["p25"], summary["p75"]
    digits = 2 if summary["median"] < 10 else 1 if summary["median"] < 100 else 0
    return f"{summary['median']:.{digits}f} [{low:.{digits}f}..{high:.{digits}f}]"


def ratio_cell(ratio, workload, target):
    goal = [g for w, t, b, g in GOALS if (w, t, b) == (workload, target, ratio["target"])]
    ratio = ratio["cpu_ratio"]
    text = f"{ratio['median']:.3f} [{ratio['p25']:.3f}..{ratio['p75']:.3f}]"
    if goal:
        text += f" (goal {goal[0]}: {'reached' if ratio['median'] <= goal[0] else 'MISSED'})"
    return text


def ratio_cells(case, pairs, with_goals):
    """A cell for each pair of numbers of targets; one that cannot do this work is the last."""
    for i, k in pairs:
        series = case["targets"]
        if k >= len(series):
            yield "-"
            continue
        ratio = series[i]["against"][k - i - 1]
        yield ratio_cell(ratio, case["workload"], with_goals and series[i]["target"])


def print_report(title, report, with_goals=True):
    names = [t["target"] for t in report["cases"][0]["targets"]]
    if len(set(names)) < len(names):
        names = [f"{name} ({i + 1})" for i, name in enumerate(names)]
    pairs = [(i, k) for i, a in enumerate(names) for k, b in enumerate(names)
             if i < k and a.split()[0] in POOLED and (i == 0 or b not in POOLED)]
    print(f"\n### {title}\n")
    heads = ["work"] + names + [f"{names[i]} / {names[k]}" for i, k in pairs]
    print("| " + " | ".join(heads) + " |\n|---|" + "--:|" * (len(heads) - 1))
    for case in report["cases"]:
        work = case["workload"]
        if work == "rows":
            work += f", {case['queries_per_connection']} per connection"
        cells = [figure(t["cpu_us"]) for t in case["targets"]]
        cells += ["-"] * (len(names) - len(cells))
        cells += ratio_cells(case, pairs, with_goals)
        print("| " + " | ".join([work] + cells) + " |", flush=True)


def odbc_driver(name):
    """The file of a server's own driver."""
    for path in glob.glob(f"/usr/lib/*/odbc/{name}"):
        return path
    raise Failure(f"{name} is not installed")


def compare_odbc(attempt, s, pg, mariadb, run):
    uri = {name: f"cenote:///{name}?run_dir={run}" for name in ("pg", "my")}
    attempt("PostgreSQL by ODBC: SQLGetData() and bound columns", "odbc,odbc-native",
            "attach,large,bound", uri=uri["pg"],
            odbc=f"Driver={odbc_driver('psqlodbcw.so')};Server={pg};Port=5432;Database=app;UID=app")
    native = (f"Driver={odbc_driver('libmaodbc.so')};Socket={mariadb};Database=app;UID=app;"
              f"PWD={PASSWORD}")
    attempt("MariaDB by ODBC", "odbc,odbc-native", "large,bound", uri=uri["my"], odbc=native)
    attempt("MariaDB by ODBC: connecting, without a goal", "odbc,odbc-native", "attach",
            with_goals=False, uri=uri["my"], odbc=native)


def value(summary):
    number = summary["median"]
    return f"{number:,.{0 if number >= 1000 else 1 if number >= 100 else 2}f}"


def crowd_rows(title, case):
    """A row for each target, compared with PgBouncer."""
    title = CROWD_TITLES.get(case["workload"], title)
    for t in case["targets"]:
        ratios = ["", "", "", ""]
        for a in t["against"]:
            if a["target"] == "pgbouncer":
                ratios = [f"{1 / a['wall_ratio']['median']:.2f}"] + [
                    f"{a[name]['median']:.2f}" for name in ("p50_ratio", "p99_ratio", "cpu_ratio")]
        yield [title, t["target"], f"{t['queries_per_second']:,.0f}",
               *(value(t[name]) for name in ("p50_us", "p99_us", "cpu_us", "client_cpu_us")), *ratios]
        title = ""


def bind_family(pid, cpus):
    """Bind a process and its descendants. One that ends meanwhile does not matter."""
    try:
        os.sched_setaffinity(pid, cpus)
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
            pids = children.read().split()
    except (FileNotFoundError, ProcessLookupError):
        return
    for child in pids:
        bind_family(int(child), cpus)


def measure_crowd(s, options, pools, targets, workload, clients, think):
    """Several clients use all CPUs. For one client, a wake-up on another CPU costs too much."""
    cpus = os.sched_getaffinity(0)
    if clients == 1:
        cpus = {max(cpus)}
    for _, child in s.running:
        bind_family(child.pid, cpus)
    binding = f"--cpu={max(cpus)}" if clients == 1 else "--no-pin"
    return measure(s, options, targets, workload, binding, f"--clients={clients}",
                   f"--think={think}", **pools)


def compare_crowd(s, options, pg, pgbouncer, port, run):
    print("\n| work | target | queries/s | p50, µs | p99, µs | CPU, µs | of it client "
          "| queries/s: / PgBouncer | p50 | p99 | CPU |\n|---|---|" + "--:|" * 9, flush=True)
    shim = "shim," if os.path.exists(shim_path(s, "shim")) else ""
    for title, pool, workload, clients, think in CROWD_WORKS:
        targets = f"pooled,{shim}pgbouncer"
        # The server has a process for each connection, so it has no such mode and no such crowd.
        if pool != "tx8":
            targets += ",postgresql"
        pools = {"uri": f"cenote:///{pool}?run_dir={run}",
                 "pgbouncer": f"host={pgbouncer} port={port} user=app dbname={pool}",
                 "postgresql": f"host={pg} user=app dbname=app"}
        # If the shim's clients cannot do it, the others can.
        for part in dict.fromkeys((targets, targets.replace("shim,", ""))):
            try:
                report = measure_crowd(s, options, pools, part, workload, clients, think)
            except Failure as reason:
                print(f"| {title} | not measured: {reason} |" + " |" * 9, flush=True)
                continue
            for case in report["cases"]:
                for row in crowd_rows(title, case):
                    print("| " + " | ".join(row) + " |", flush=True)
            break


def run_crowd(s, options):
    load = os.getloadavg()[0]
    pg = start_postgresql(s)
    pgbouncer, port = start_pgbouncer(s, pg, None)
    run, _ = start_cenoted(s, pg, None, None, True)
    compare_crowd(s, options, pg, pgbouncer, port, run)
    print(f"\nCPU of all processes per query, {os.cpu_count()} CPUs; median of {options.rounds} "
          f"rounds; load at the begin and end {load:.1f} and {os.getloadavg()[0]:.1f}")


def run_all(s, options):
    pg = pgbouncer = mariadb = None
    tls = make_certificate(s) if "tls" in options.only else None
    if {"postgresql", "tls", "odbc"} & set(options.only):
        pg = start_postgresql(s)
    if {"postgresql", "tls"} & set(options.only):
        pgbouncer, pgbouncer_port = start_pgbouncer(s, pg, tls)
    if {"mariadb", "odbc"} & set(options.only):
        mariadb = start_mariadb(s)
    run, port = start_cenoted(s, pg, mariadb, tls, False)
    works = options.workloads
    loads = [os.getloadavg()[0]]

    def pool(name, shim_of):
        if run is None or not os.path.exists(f"{run}/{name}.sock"):
            return {}, "", ""
        shim = f"{shim_of}," if os.path.exists(shim_path(s, shim_of)) else ""
        return {"uri": f"cenote:///{name}?run_dir={run}"}, "pooled,", shim

    def attempt(title, *args, with_goals=True, **places):
        try:
            print_report(title, measure(s, options, *args, **places), with_goals)
        except Failure as reason:
            print(f"\n### {title}\n\nnot measured: {reason}", flush=True)

    if tls:
        attempt("PostgreSQL by TCP with TLS, login by trust", "TLS_AES_256_GCM_SHA384,pgbouncer",
                "connect,steady", uri=f"cenote://app@127.0.0.1:{port}/pg",
                pgbouncer=f"host=127.0.0.1 port={pgbouncer_port} user=app dbname=app sslmode=require")
    uri, pooled, shim = pool("pg", "shim")
    if "postgresql" in options.only:
        direct = {"pgbouncer": f"host={pgbouncer} port={pgbouncer_port} user=app dbname=app",
                  "postgresql": f"host={pg} user=app dbname=app"}
        attempt("PostgreSQL, login by trust", pooled + shim + "pgbouncer,postgresql", works,
                **uri, **direct)
        scram = {k: v.replace("user=app", f"user=scram password={PASSWORD}")
                 for k, v in direct.items()}
        attempt("PostgreSQL, clients log in with SCRAM-SHA-256 (not to cenoted)",
                pooled + "pgbouncer,postgresql", "connect", with_goals=False, **uri, **scram)
        if uri:
            attempt("Noise: the pool against itself", "pooled,pooled", "connect,steady,large",
                    **uri)
    if "odbc" in options.only:
        compare_odbc(attempt, s, pg, mariadb, run)
    uri, pooled, shim = pool("my", "mysql-shim")
    if "mariadb" in options.only:
        attempt("MariaDB, login by password", pooled + shim + "mariadb", works, **uri,
                mariadb=f"socket={mariadb} user=app password={PASSWORD} database=app")
    loads.append(os.getloadavg()[0])
    print(f"\nMicroseconds of CPU per query, all processes, CPU {options.cpu}; median of "
          f"{options.rounds} rounds [middle half]; load at the begin and end "
          + " and ".join(f"{x:.1f}" for x in loads))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build directory (build)")
    parser.add_argument("--time", type=float,
                        help="seconds for each target of each case (6; crowd: 0.6)")
    parser.add_argument("--rounds", type=int, help="rounds that take turns (8; crowd: 3)")
    parser.add_argument("--cpu", type=int,
                        help="the CPU that everything is bound to (the last); not for crowd")
    parser.add_argument("--workloads", default="connect,steady,prepared,pipelined,rows,medium,large,bound",
                        help="of cenote-bench (all)")
    parser.add_argument("--only", default="postgresql,mariadb",
                        help="postgresql, mariadb, odbc (against the servers' own drivers), "
                        "tls (PgBouncer by TCP with TLS), or crowd alone; the first two")
    options = parser.parse_args()
    options.only = options.only.split(",")
    is_crowd = options.only == ["crowd"]
    if not is_crowd and "crowd" in options.only:
        parser.error("crowd uses all CPUs, so it runs alone")
    # Clients that wait for each other would never end.
    options.limit = 20 + 20 * (options.time or 1) if is_crowd else None
    options.time = options.time or (0.6 if is_crowd else 6)
    options.rounds = options.rounds or (3 if is_crowd else 8)
    if is_crowd:
        options.cpu = None
    else:
        options.cpu = options.cpu if options.cpu is not None else max(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {options.cpu})
    s = Servers(options.build)
    try:
        (run_crowd if is_crowd else run_all)(s, options)
    except Failure as reason:
        print(f"compare: {reason}", file=sys.stderr)
        return 1
    finally:
        s.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
