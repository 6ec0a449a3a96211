#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two-phase commit: on_pool BACKEND 4 test_tpc.py"""

import asyncio
import os
import time
import unittest

import cenote
import cenote.aio

URI = os.environ["CENOTE_TEST_URI"]
BACKEND = os.environ["CENOTE_TEST_BACKEND"]
HAS_TPC = BACKEND != "sqlite"


class TwoPhase(unittest.TestCase):
    def setUp(self):
        self.other = cenote.connect(URI, autocommit=True)
        self.addCleanup(self.other.close)
        self.other.execute("drop table if exists tpc")
        self.other.execute("create table tpc (n integer primary key)")
        self.addCleanup(self.other.execute, "drop table tpc")

    def numbers(self):
        return [n for (n,) in self.other.execute("select n from tpc order by n")]

    def begun(self, connection, n=1, name="one"):
        xid = connection.xid(42, name, "here's a part")
        connection.tpc_begin(xid)
        connection.execute("insert into tpc values (%s)", (n,))
        return xid


@unittest.skipUnless(HAS_TPC, "SQLite has none")
class OnServers(TwoPhase):
    def test_it_commits_in_two_steps_and_in_one(self):
        with cenote.connect(URI) as connection:
            self.begun(connection, 1)
            connection.tpc_prepare()
            self.assertEqual(self.numbers(), [])
            connection.tpc_commit()
            self.begun(connection, 2)
            connection.tpc_commit()
            self.assertEqual(self.numbers(), [1, 2])

    def test_it_rolls_back_before_and_after_it_is_prepared(self):
        with cenote.connect(URI) as connection:
            self.begun(connection, 1)
            connection.tpc_rollback()
            self.begun(connection, 2)
            connection.tpc_prepare()
            connection.tpc_rollback()
            connection.execute("insert into tpc values (3)")
        self.assertEqual(self.numbers(), [3])

    def commit_recovered(self, connection, xid):
        """MariaDB lists a prepared transaction at once, but lets others end it only when the server's thread of its session has ended."""
        until = time.monotonic() + 20
        while True:
            try:
                return connection.tpc_commit(xid)
            except cenote.DatabaseError as error:
                if "XAER_NOTA" not in str(error) or time.monotonic() > until:
                    raise
            time.sleep(0.01)

    def test_what_is_prepared_outlives_its_session_and_is_nobody_elses(self):
        with cenote.connect(URI, autocommit=True) as connection:
            xid = self.begun(connection)
            connection.tpc_prepare()
            connection.close()
        with cenote.connect(URI) as connection:
            self.assertEqual(connection.transaction_status, "idle")
            self.assertEqual(connection.tpc_recover(), [xid])
            self.assertEqual(connection.transaction_status, "idle")
            self.commit_recovered(connection, connection.tpc_recover()[0])
            self.assertEqual(connection.tpc_recover(), [])
            with self.assertRaises(cenote.Error):
                connection.tpc_rollback(xid)
            connection.rollback()
        self.assertEqual(self.numbers(), [1])

    def test_what_is_not_prepared_ends_with_its_session(self):
        with self.assertRaises(ZeroDivisionError), cenote.connect(URI) as connection:
            self.begun(connection)
            1 / 0
        self.assertEqual(self.numbers(), [])
        with cenote.connect(URI) as connection:
            self.assertEqual(connection.tpc_recover(), [])

    def test_a_transaction_that_failed_is_not_prepared(self):
        with cenote.connect(URI) as connection:
            self.begun(connection)
            with self.assertRaises(cenote.Error):
                connection.execute("insert into nothing_like_it values (1)")
            if BACKEND == "postgresql":
                with self.assertRaises(cenote.OperationalError):
                    connection.tpc_prepare()
            else:
                connection.tpc_rollback()
            self.assertEqual(connection.tpc_recover(), [])
            self.begun(connection, 2)
            connection.tpc_commit()
        self.assertEqual(self.numbers(), [2])

    def test_calls_out_of_turn_are_refused(self):
        with cenote.connect(URI) as connection:
            for call in (connection.tpc_prepare, connection.tpc_commit, connection.tpc_rollback):
                self.assertRaises(cenote.ProgrammingError, call)
            xid = self.begun(connection)
            for call in (connection.commit, connection.rollback):
                self.assertRaises(cenote.ProgrammingError, call)
            self.assertRaises(cenote.ProgrammingError, connection.tpc_begin, xid)
            self.assertRaises(cenote.ProgrammingError, connection.tpc_commit, xid)
            connection.tpc_prepare()
            self.assertRaises(cenote.ProgrammingError, connection.tpc_prepare)
            connection.tpc_rollback()
            for bad in ((-1, "a", "b"), (2**31, "a", "b"), (0, "a" * 65, ""), (0, "", "\n")):
                self.assertRaises(cenote.ProgrammingError, connection.xid, *bad)

    def test_names_of_others_are_given_as_they_are(self):
        if BACKEND != "postgresql":
            return
        with cenote.connect(URI, autocommit=True) as connection:
            connection.execute("begin")
            connection.execute("prepare transaction 'it''s _ ours'")
            (xid,) = connection.tpc_recover()
            self.assertEqual(xid, (None, "it's _ ours", None))
            connection.tpc_rollback(xid)
            self.assertEqual(connection.tpc_recover(), [])

    def test_asyncio_has_it_too(self):
        async def work():
            async with await cenote.aio.connect(URI) as connection:
                xid = connection.xid(1, "async", "")
                await connection.tpc_begin(xid)
                await connection.execute("insert into tpc values (1)")
                await connection.tpc_prepare()
                recovered = await connection.tpc_recover()
                await connection.tpc_commit()
                return recovered == [xid]

        self.assertTrue(asyncio.run(work()))
        self.assertEqual(self.numbers(), [1])


class OnSQLite(TwoPhase):
    def test_it_says_that_it_has_none(self):
        if HAS_TPC:
            return
        with cenote.connect(URI) as connection:
            self.assertRaises(cenote.NotSupportedError, connection.tpc_begin, connection.xid(1, "a", "b"))
            self.assertRaises(cenote.NotSupportedError, connection.tpc_recover)


if __name__ == "__main__":
    unittest.main()
