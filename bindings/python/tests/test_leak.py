#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""No memory is lost over 10^5 queries of all kinds: on_pool BACKEND 2 test_leak.py"""

import gc
import os
import resource

import cenote

URI = os.environ["CENOTE_TEST_URI"]
WARM_UP, QUERIES = 20_000, 100_000
# Of the allocator; one byte lost with each query would be 100 kB.
MAY_GROW_KB = 1024


def rss_kb():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * resource.getpagesize() // 1024


def work(connection, n):
    cursor = connection.cursor()
    for i in range(n // 10):
        for k in range(5):
            cursor.execute("select %s, 1.5, null", (i,))
            cursor.fetchall()
        cursor.execute("select 'text', x'00ff'" if connection.backend != "postgresql" else "select 'text', 1.5")
        cursor.fetchone()
        with connection.cursor(batch_rows=1) as streamed:
            streamed.execute("select 1 union all select 2 union all select 3")
            streamed.fetchone()
        try:
            cursor.execute("select nothing_like_it")
        except cenote.Error:
            pass
        cursor.execute("select %(a)s", {"a": "x" * (i % 100)}, prepare=i % 10 == 0)
        cursor.description
        try:
            cursor.execute("select %s", (object(),))
        except cenote.Error:
            pass


with cenote.connect(URI, autocommit=True) as connection:
    work(connection, WARM_UP)
    before = rss_kb()
    work(connection, QUERIES)
    grown = rss_kb() - before
    assert grown < MAY_GROW_KB, f"{grown} kB more after {QUERIES} queries"
    print(f"{grown} kB more after {QUERIES} queries")
