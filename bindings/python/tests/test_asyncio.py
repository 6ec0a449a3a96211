#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""cenote.aio, beyond the conformance cases: on_pool BACKEND 8 test_asyncio.py"""

import asyncio
import os
import tempfile
import time
import unittest

import cenote
import endless
from cenote import aio

URI = os.environ["CENOTE_TEST_URI"]
BACKEND = os.environ["CENOTE_TEST_BACKEND"]
ENDLESS = endless.ENDLESS[BACKEND]
SERIES = endless.SERIES


class Asyncio(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.connection = await aio.connect(URI, autocommit=True)

    async def asyncTearDown(self):
        self.connection.close()

    async def one(self, sql, params=None):
        return (await (await self.connection.execute(sql, params)).fetchone())[0]

    async def test_iteration(self):
        rows = [row async for row in await self.connection.execute(SERIES.format(100))]
        self.assertEqual(rows, [(i,) for i in range(1, 101)])
        async with self.connection.cursor(batch_rows=7) as cursor:
            await cursor.execute(SERIES.format(100))
            rows = []
            async for row in cursor:
                rows.append(row)
                if len(rows) % 40 == 0:
                    self.assertEqual(await self.one("select 5"), 5)
            self.assertEqual(rows, [(i,) for i in range(1, 101)])

    async def test_rows_as_the_program_wants_them(self):
        async with await aio.connect(URI, row_factory=cenote.dict_row) as connection:
            cursor = await connection.execute("select 1 as a union all select 2 union all select 3 order by 1")
            self.assertEqual(await cursor.fetchone(), {"a": 1})
            self.assertEqual(await cursor.fetchmany(1), [{"a": 2}])
            self.assertEqual([row async for row in cursor], [{"a": 3}])
            self.assertEqual(await cursor.fetchall(), [])

    async def test_a_file_answers_without_waiting(self):
        with tempfile.TemporaryDirectory() as directory:
            for _ in range(2):
                reader = await aio.connect(URI, autocommit=True, cache=directory)
                for sql in ("select 5", "select 6", "select 5"):
                    cursor = await asyncio.wait_for(reader.execute(sql), 10)
                    self.assertEqual(await cursor.fetchone(), (int(sql[-1]),))
                    cursor.close()
                reader.close()
            self.assertEqual(len(os.listdir(directory)), 2)

    async def test_the_loop_runs_meanwhile(self):
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.01)

        ticking = asyncio.ensure_future(tick())
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.connection.execute(ENDLESS), 0.5)
        ticking.cancel()
        self.assertGreater(ticks, 10)
        self.assertEqual(await self.one("select 1"), 1)

    async def test_connections_side_by_side(self):
        async def work(n):
            async with await aio.connect(URI) as connection:
                for i in range(50):
                    cursor = await connection.execute("select %s", (n * 100 + i,))
                    self.assertEqual(await cursor.fetchone(), (n * 100 + i,))

        await asyncio.gather(*(work(n) for n in range(20)))

    async def test_tasks_take_turns(self):
        async def work(n):
            self.assertEqual(await self.one("select %s", (n,)), n)

        await asyncio.gather(*(work(n) for n in range(200)))

    async def test_cancel(self):
        task = asyncio.ensure_future(self.connection.execute(ENDLESS))
        before = time.monotonic()
        while not task.done() and time.monotonic() - before < 15:
            await asyncio.sleep(0.05)
            await self.connection.cancel()
        self.assertEqual(task.exception().sqlstate, "57014")
        self.assertLess(time.monotonic() - before, 15)

    async def test_a_time_limit(self):
        async with await aio.connect(URI, query_timeout="2s") as connection:
            with self.assertRaisesRegex(cenote.OperationalError, "query_timeout"):
                await connection.execute(ENDLESS)
            await connection.rollback()
            self.assertEqual(await (await connection.execute("select 1")).fetchone(), (1,))

    async def test_executemany_and_transactions(self):
        await self.connection.execute("create temporary table t (a integer primary key)")
        async with self.connection.transaction():
            cursor = self.connection.cursor()
            await cursor.executemany("insert into t values (%s)", ((i,) for i in range(777)))
            self.assertEqual(cursor.rowcount, 777)
            with self.assertRaises(cenote.IntegrityError):
                async with self.connection.transaction():
                    await cursor.executemany("insert into t values (%s)", [(1000,), (1,), (1001,)])
        self.assertEqual(await self.one("select count(*) from t"), 777)

    async def test_a_connect_that_waits(self):
        others = [await aio.connect(URI) for _ in range(7)]  # all of the pool's sessions
        waiting = asyncio.ensure_future(aio.connect(URI))
        await asyncio.sleep(0.1)
        self.assertFalse(waiting.done())
        others.pop().close()
        others.append(await asyncio.wait_for(waiting, 20))
        for other in others:
            other.close()

    async def test_a_big_value(self):
        kind = "::text" if BACKEND == "postgresql" else ""
        value = "x" * 5_000_000
        self.assertEqual(await self.one(f"select %s{kind}", (value,)), value)

    @unittest.skipUnless(BACKEND == "postgresql", "notifications of PostgreSQL")
    async def test_notifications(self):
        await self.connection.execute("listen aio_news")
        self.assertEqual(await self.connection.notifications(0.05), [])
        waiting = asyncio.ensure_future(self.connection.notifications(10))
        async with await aio.connect(URI) as other:
            await other.execute("notify aio_news, 'high'")
        ((_, channel, payload),) = await waiting
        self.assertEqual((channel, payload), ("aio_news", "high"))

    @unittest.skipUnless(BACKEND == "postgresql", "COPY of PostgreSQL")
    async def test_copies(self):
        await self.connection.execute("create temporary table t (a integer)")
        cursor = self.connection.cursor()
        await cursor.copy_in("copy t from stdin", (b"%d\n" % i for i in range(1000)))
        self.assertEqual(cursor.rowcount, 1000)
        pieces = [piece async for piece in cursor.copy_out("copy t to stdout")]
        self.assertEqual(b"".join(pieces), b"".join(b"%d\n" % i for i in range(1000)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
