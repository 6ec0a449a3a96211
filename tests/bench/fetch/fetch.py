# SPDX-License-Identifier: BSD-2-Clause
"""A client of tests/bench/bindings.py: fetch.py DRIVER; or fetch.py make: the table that all of them fetch."""

import os
import sys
import time

SERVER = os.environ["CENOTE_TEST_SERVER"]


def server_options():
    return dict(word.split("=", 1) for word in SERVER.split())


def connect_cenote():
    import cenote

    return cenote.connect(os.environ["CENOTE_TEST_URI"])


def connect_psycopg2():
    import psycopg2

    return psycopg2.connect(SERVER)


def connect_psycopg():
    import psycopg

    return psycopg.connect(SERVER)


def connect_mysqlclient():
    import MySQLdb

    options = server_options()
    return MySQLdb.connect(
        unix_socket=options["socket"], user=options["user"], db=options["dbname"], charset="utf8mb4"
    )


def make():
    names = ", ".join(f"c{i} varchar(32)" for i in range(16))
    row = tuple(f"{i:032}" for i in range(16))
    with connect_cenote() as connection:
        connection.execute("drop table if exists bench_rows")
        connection.execute(f"create table bench_rows ({names})")
        connection.cursor().executemany(
            f"insert into bench_rows values ({', '.join(['%s'] * 16)})", [row] * 256
        )


def fetch(connection):
    with connection.cursor() as cursor:
        cursor.execute("select * from bench_rows")
        return cursor.fetchall()


def main():
    connection = globals()["connect_" + sys.argv[1]]()
    rows = fetch(connection)
    assert len(rows) == 256 and len(rows[0]) == 16 and rows[-1][-1] == f"{15:032}"
    connection.commit()
    print("ready", flush=True)
    for line in sys.stdin:
        n, until = 0, time.monotonic() + float(line)
        while time.monotonic() < until:
            fetch(connection)
            n += 1
        connection.commit()
        print(n, flush=True)


if sys.argv[1] == "make":
    make()
else:
    main()
