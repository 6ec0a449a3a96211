#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Threads at once, on connections of their own and on one that they share: on_pool BACKEND 8 test_threads.py

With any Python; one without a GIL (tests/suites/python_free_threading) has to leave it switched off.
"""

import datetime
import decimal
import os
import signal
import sys
import sysconfig
import threading
import time
import unittest

import cenote
import endless

URI = os.environ["CENOTE_TEST_URI"]
BACKEND = os.environ["CENOTE_TEST_BACKEND"]
N_THREADS = 4
N_ROUNDS = int(os.environ.get("CENOTE_TEST_ROUNDS", "25"))

TYPED = {
    "postgresql": "select 7, 1.50::numeric, date '2024-02-29', '\\x00ff'::bytea, array['a', null], %s::text, null",
    "mysql": "select 7, cast(1.5 as decimal(4, 2)), cast('2024-02-29' as date), x'00ff', 1, %s, null",
    "sqlite": "select 7, 1.5, '2024-02-29', x'00ff', 1, %s, null",
}[BACKEND]
SERIES = endless.SERIES


class Alarm(Exception):
    pass


class Threads(unittest.TestCase):
    def connect(self, **options):
        connection = cenote.connect(URI, autocommit=True, **options)
        self.addCleanup(connection.close)
        return connection

    def at_once(self, *works):
        """Each work in a thread of its own, with the number of the thread; all start together."""
        errors = []
        barrier = threading.Barrier(len(works))

        def run(n, work):
            try:
                barrier.wait()
                work(n)
            except BaseException as e:
                errors.append(e)

        threads = [threading.Thread(target=run, args=item, daemon=True) for item in enumerate(works)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(240)
            self.assertFalse(thread.is_alive())
        if errors:
            raise errors[0]

    # Each of these gives what nobody else asks for, so that an answer to another is seen.

    def ask(self, connection, n):
        row = connection.execute(TYPED, (f"größe {n}",)).fetchone()
        self.assertEqual((row[0], row[5], row[6]), (7, f"größe {n}", None))
        if BACKEND != "sqlite":
            self.assertEqual(row[1:4], (decimal.Decimal("1.50"), datetime.date(2024, 2, 29), b"\0\xff"))

    def fail(self, connection, n):
        name = f"nothing_like_{n}"
        with self.assertRaisesRegex(cenote.Error, name):
            connection.execute(f"select {name}")

    def stream(self, connection, n):
        with connection.cursor(batch_rows=7) as cursor:
            self.assertEqual(len(cursor.execute(SERIES.format(40 + n)).fetchall()), 40 + n)

    def insert(self, connection, n):
        with connection.cursor() as cursor:
            cursor.executemany(f"insert into t{n} values (%s)", ((i,) for i in range(30)))
            self.assertEqual(cursor.rowcount, 30)

    def prepare(self, connection, n):
        cursor = connection.cursor()
        self.assertEqual(cursor.execute(f"select count(*) + {n} from t{n}", (), prepare=True).rownumber, 0)
        self.assertGreaterEqual(cursor.fetchone()[0], n)

    def look_up(self, connection, n):
        kind = connection.cursor().catalog("types")
        self.assertGreater(len(kind.description), 5)
        self.assertGreater(len(kind.fetchall()), 1)

    # A streamed result keeps the connection until it is read.
    SHARED = (ask, fail, insert, prepare, look_up)
    KINDS = SHARED + (stream,)

    def make_tables(self, connection):
        for n in range(N_THREADS):
            connection.execute(f"create temporary table t{n} (a integer)")

    def test_connections_of_their_own(self):
        def work(n):
            for i in range(N_ROUNDS // 5 + 1):
                with cenote.connect(URI, autocommit=True) as connection:
                    connection.execute(f"create temporary table t{n} (a integer)")
                    for kind in self.KINDS:
                        kind(self, connection, n)

        self.at_once(*[work] * N_THREADS)

    def test_one_connection(self):
        connection = self.connect()
        self.make_tables(connection)

        def work(n):
            for i in range(N_ROUNDS):
                self.SHARED[(i + n) % len(self.SHARED)](self, connection, n)

        self.at_once(*[work] * N_THREADS)
        for n in range(N_THREADS):
            self.assertEqual(connection.execute(f"select count(*) % 30 from t{n}").fetchone(), (0,))

    def test_one_result(self):
        connection = self.connect()
        for batch_rows in (0, 7):
            cursor = connection.cursor(batch_rows=batch_rows).execute(SERIES.format(900))
            seen = []

            def work(_):
                while rows := cursor.fetchmany(3):
                    seen.extend(rows)

            self.at_once(*[work] * N_THREADS)
            self.assertEqual(len(seen), len(set(seen)))
            if batch_rows == 0:
                self.assertEqual(len(seen), 900)

    def test_results_are_dropped_by_others(self):
        connection = self.connect()
        dropped = []

        is_over = threading.Event()

        def make(n):
            try:
                for _ in range(N_ROUNDS):
                    cursor = connection.execute(SERIES.format(50 + n))
                    self.assertEqual(len(cursor.fetchall()), 50 + n)
                    streamed = connection.cursor(batch_rows=5).execute(SERIES.format(20))
                    self.assertEqual(len(streamed.fetchall()), 20)
                    dropped.append((cursor, streamed))
            finally:
                is_over.set()

        def drop(_):
            while dropped or not is_over.is_set():
                try:
                    dropped.pop()
                except IndexError:
                    time.sleep(0.001)

        self.at_once(make, drop, drop)
        self.ask(connection, 1)

    def test_facts_and_notices(self):
        connection = self.connect()

        def ask(n):
            for _ in range(N_ROUNDS):
                self.ask(connection, n)

        def look(_):
            for _ in range(N_ROUNDS * 4):
                self.assertEqual(connection.info("backend"), BACKEND)
                self.assertIn(connection.transaction_status, ("idle", "open"))
                self.assertEqual(connection.messages, [])
                self.assertFalse(connection.closed)

        self.at_once(ask, ask, look, look)

    def test_cancels(self):
        connection = self.connect()
        is_over = threading.Event()

        def work(_):
            try:
                for _ in range(3):
                    with self.assertRaises(cenote.Error):
                        connection.execute(endless.ENDLESS[BACKEND])
            finally:
                is_over.set()

        def cancel(_):
            while not is_over.is_set():
                connection.cancel()
                time.sleep(0.01)

        began = time.monotonic()
        self.at_once(work, cancel, cancel)
        try:
            self.ask(connection, 1)
        except cenote.OperationalError as error:
            # The session is lost if the server does not stop in time: 3 s, the shortest time of a backend.
            self.assertIn("the session was lost", str(error))
            self.assertGreater(time.monotonic() - began, 3)

    def test_a_time_limit_hits_its_own_statement(self):
        connection = self.connect(query_timeout="2s")

        def wait(_):
            for _ in range(2):
                with self.assertRaisesRegex(cenote.OperationalError, "query_timeout"):
                    connection.execute(endless.ENDLESS[BACKEND])

        def ask(n):
            for _ in range(N_ROUNDS):
                self.ask(connection, n)

        self.at_once(wait, ask, ask)

    def test_what_a_signal_s_handler_raises_hits_its_own_statement(self):
        connection = self.connect()

        def ring(*_):
            raise Alarm

        before = signal.signal(signal.SIGALRM, ring)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with self.assertRaises(Alarm):
            connection.execute(endless.ENDLESS[BACKEND])
        self.ask(connection, 5)

    def test_closing(self):
        for _ in range(5):
            connection = cenote.connect(URI, autocommit=True)
            is_begun = threading.Event()

            def ask(n):
                with self.assertRaises(cenote.InterfaceError):
                    while True:
                        self.ask(connection, n)
                        is_begun.set()

            def close(_):
                is_begun.wait(60)
                connection.close()

            self.at_once(ask, ask, close, close)

    @unittest.skipUnless(sysconfig.get_config_var("Py_GIL_DISABLED"), "this Python has a GIL")
    def test_the_gil_stays_off(self):
        self.assertFalse(sys._is_gil_enabled())


if __name__ == "__main__":
    unittest.main()
