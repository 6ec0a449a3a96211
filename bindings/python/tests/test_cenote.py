#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What this binding does beyond the conformance cases and the suites of others.

on_pool BACKEND 8 test_cenote.py
"""

import datetime
import decimal
import gc
import ipaddress
import json
import os
import signal
import tempfile
import threading
import time
import unittest
import uuid
import warnings
from unittest import mock

import cenote
import endless
from cenote import aio

try:
    import numpy
except ImportError:
    numpy = None

URI = os.environ["CENOTE_TEST_URI"]
BACKEND = os.environ["CENOTE_TEST_BACKEND"]

ENDLESS = endless.ENDLESS[BACKEND]
SERIES = endless.SERIES


class Case(unittest.TestCase):
    def setUp(self):
        self.connection = cenote.connect(URI)
        self.addCleanup(self.connection.close)

    def execute(self, sql, params=None, **how):
        return self.connection.execute(sql, params, **how)

    def one(self, sql, params=None):
        (row,) = self.execute(sql, params).fetchall()
        return row if len(row) > 1 else row[0]

    def table(self, columns):
        self.execute(f"create temporary table t ({columns})")


class Values(Case):
    def cast(self, kind):
        return f"%s::{kind}" if BACKEND == "postgresql" else "%s"

    def test_python_s_own_types_come_back(self):
        for kind, value in (
            ("bigint", -(2**63)),
            ("float8", 0.1),
            ("text", "größe 🐟"),
            ("text", ""),
            ("bytea", b"\0\xff"),
            ("bytea", b""),
        ):
            with self.subTest(value=value):
                seen = self.one("select " + self.cast(kind), (value,))
                self.assertEqual(seen, value)
                self.assertIs(type(seen), type(value))
        self.assertIsNone(self.one("select " + self.cast("text"), (None,)))

    def test_texts_of_any_length(self):
        texts = []
        for n in (*range(20), *range(250, 262)):
            texts += ["0123456789"[n % 10] * n, "ß" * n, "x" * n + "🐟"]
        seen = self.one("select " + ", ".join([self.cast("text")] * len(texts)), texts)
        self.assertEqual(list(seen), texts)

    def test_bytes_like_values_are_bytes(self):
        for value in (bytearray(b"a\0b"), memoryview(b"a\0b")):
            self.assertEqual(self.one("select " + self.cast("bytea"), (value,)), b"a\0b")

    def test_columns_give_their_types(self):
        types = {
            "sqlite": "b boolean, d date, i time, s timestamp, n numeric(20, 5), u uuid, j json",
            "postgresql": "b boolean, d date, i time, s timestamp, n numeric(20, 5), u uuid, j jsonb",
            "mysql": "b bit(1), d date, i time(6), s datetime(6), n numeric(20, 5), u uuid, j json",
        }[BACKEND]
        number = decimal.Decimal("123456789012345.12345")
        if BACKEND == "sqlite":  # keeps a number, as a double, only if that has all its digits
            number = decimal.Decimal("0.5")
        row = (
            True,
            datetime.date(2026, 11, 21),
            datetime.time(1, 2, 3, 456000),
            datetime.datetime(2026, 11, 21, 23, 59, 59, 120000),
            number,
            uuid.uuid4(),
            '{"a": 1}',
        )
        self.table(types)
        self.execute("insert into t values (%s, %s, %s, %s, %s, %s, %s)", row)
        cursor = self.execute("select * from t")
        seen = cursor.fetchone()
        self.assertEqual(seen, row)
        if BACKEND != "sqlite":
            self.assertEqual([type(v) for v in seen], [type(v) for v in row])
        names = [column.type_code.name for column in cursor.description]
        self.assertEqual(names, ["BOOL", "DATE", "TIME", "TIMESTAMP", "DECIMAL", "UUID", "JSON"])

    def test_json_is_loaded_when_asked_for(self):
        with cenote.connect(URI, json_loads=json.loads) as connection:
            connection.execute("create temporary table t (j json)")
            connection.execute("insert into t values (%s)", (cenote.Json({"a": [1, None]}),))
            self.assertEqual(connection.execute("select j from t").fetchone(), ({"a": [1, None]},))

    def test_what_json_loads_raises_comes_through(self):
        def refuse(text):
            raise KeyError(text)

        with cenote.connect(URI, json_loads=refuse) as connection:
            connection.execute("create temporary table t (j json)")
            connection.execute("insert into t values ('{}')")
            cursor = connection.execute("select j from t")
            with self.assertRaises(KeyError):
                cursor.fetchone()

    @unittest.skipUnless(BACKEND == "postgresql", "types of PostgreSQL")
    def test_postgresql_types(self):
        self.assertEqual(
            self.one("select '1 day -02:03:04.5'::interval, '2 mons'::interval, '-36:00'::interval"),
            (
                datetime.timedelta(days=1) - datetime.timedelta(hours=2, minutes=3, seconds=4.5),
                "2 mons",
                datetime.timedelta(hours=-36),
            ),
        )
        delta = datetime.timedelta(days=-3, seconds=7, microseconds=9)
        self.assertEqual(self.one("select %s", (delta,)), delta)
        who = uuid.uuid4()
        self.assertEqual(self.one("select %s", (who,)), who)
        self.execute("set timezone = 'Asia/Kolkata'")
        when = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
        seen = self.one("select %s", (when,))
        self.assertEqual(seen, when)
        self.assertEqual(seen.utcoffset(), datetime.timedelta(hours=5, minutes=30))
        self.assertEqual(self.one("select 'infinity'::date, 'NaN'::numeric::text"), ("infinity", "NaN"))
        self.assertTrue(self.one("select 'NaN'::numeric").is_nan())

    @unittest.skipUnless(BACKEND == "postgresql", "arrays of PostgreSQL")
    def test_arrays(self):
        for sql, value in (
            ("array[1, null, 3]", [1, None, 3]),
            ("'{}'::text[]", []),
            ("""'{{a,"b \\" ,}"},{NULL,"NULL"}}'::text[]""", [["a", 'b " ,}'], [None, "NULL"]]),
            ("array[true, false]", [True, False]),
            ("array[1.50]", [decimal.Decimal("1.50")]),
            ("array['\\x00ff'::bytea]", [b"\0\xff"]),
            ("array[timestamp '2026-01-02 03:04:05.5']", [datetime.datetime(2026, 1, 2, 3, 4, 5, 500000)]),
            ("array['1 day 1:00'::interval, '1 mon']", [datetime.timedelta(hours=25), "1 mon"]),
            ("'[2:3]={1,2}'::int[]", "[2:3]={1,2}"),
        ):
            with self.subTest(sql=sql):
                self.assertEqual(self.one("select " + sql), value)
        for kind, value in (
            ("int[]", [1, None, [2]][:2]),
            ("int[]", [[1, 2], [3, 4]]),
            ("text[]", ["", " ", 'q"\\', "{,}", "NULL", None]),
            ("uuid[]", [uuid.uuid4()]),
        ):
            with self.subTest(value=value):
                self.assertEqual(self.one(f"select %s::{kind}", (value,)), value)

    def test_integers_of_any_size(self):
        if BACKEND == "mysql":
            self.assertEqual(self.one("select %s", (2**64 - 1,)), 2**64 - 1)
        if BACKEND != "sqlite":
            self.assertEqual(self.one("select %s", (2**64,)), 2**64)

    @unittest.skipUnless(BACKEND == "sqlite", "only there a column has values of any type")
    def test_more_digits_than_python_reads_are_text(self):
        digits = "7" * 5000
        self.assertEqual(self.execute(f"select 1 union all select '{digits}'").fetchall(), [(1,), (digits,)])

    def test_what_no_server_knows_is_refused(self):
        # parameters count from 1
        for values, why in (
            ((1, object()), "parameter 2 is of <class 'object'>: no server"),
            ((object(), 1), "parameter 1 is of <class 'object'>: no server"),
            ((1, (2, 3)), "parameter 2 is of <class 'tuple'>: no server"),
        ):
            with self.subTest(values=values), self.assertRaisesRegex(cenote.ProgrammingError, why):
                self.execute("select %s, %s", values)
        self.assertEqual(self.one("select 1"), 1)

    @unittest.skipIf(BACKEND == "postgresql", "arrays of PostgreSQL")
    def test_a_list_is_refused_where_there_are_no_arrays(self):
        with self.assertRaisesRegex(cenote.ProgrammingError, "parameter 1 is of <class 'list'>"):
            self.execute("select %s", ([1, 2],))

    def test_a_dict_is_json(self):
        self.table("j json")
        self.execute("insert into t values (%s)", ({"a": [1, None], "b": "ß"},))
        self.assertEqual(json.loads(self.one("select j from t")), {"a": [1, None], "b": "ß"})

    def test_addresses_are_their_text(self):
        kind = "inet" if BACKEND == "postgresql" else "text"
        for value in ("192.0.2.1", "2001:db8::1"):
            address = ipaddress.ip_address(value)
            self.assertEqual(self.one(f"select {self.cast(kind)}", (address,)), value)
        network = ipaddress.ip_network("192.0.2.0/24")
        self.assertEqual(self.one(f"select {self.cast(kind)}", (network,)), "192.0.2.0/24")

    @unittest.skipUnless(BACKEND == "postgresql", "ranges of PostgreSQL")
    def test_ranges(self):
        day = datetime.date(2026, 1, 2)
        for kind, value, text in (
            ("int4range", cenote.Range(1, 5), "[1,5)"),
            ("int4range", cenote.Range(1, 5, "(]"), "[2,6)"),
            ("int4range", cenote.Range(upper=5), "(,5)"),
            ("int4range", cenote.Range(is_empty=True), "empty"),
            ("daterange", cenote.Range(day), "[2026-01-02,)"),
            ("int4range[]", [cenote.Range(1, 2), None], ["[1,2)", None]),
        ):
            with self.subTest(value=value):
                self.assertEqual(self.one(f"select %s::{kind}", (value,)), text)

        for sql, read, value in (
            ("int4range(1, 5)", int, cenote.Range(1, 5)),
            ("numrange(null, 5, '(]')", int, cenote.Range(None, 5, "(]")),
            ("'empty'::int4range", int, cenote.Range(is_empty=True)),
            ("daterange('2026-01-02', 'infinity', '[]')", datetime.date.fromisoformat, cenote.Range(day, "infinity", "[]")),
        ):
            with self.subTest(sql=sql):
                self.assertEqual(cenote.Range.parse(self.one("select " + sql), read), value)
        self.execute("create type pg_temp.textrange as range (subtype = text)")
        for value in (cenote.Range("", 'q"\\),]"'), cenote.Range(" a", None)):
            with self.subTest(value=value):
                seen = self.one("select %s::pg_temp.textrange", (value,))
                self.assertEqual(cenote.Range.parse(seen), value)

    @unittest.skipUnless(BACKEND == "postgresql", "arrays of PostgreSQL")
    def test_elements_of_arrays_are_adapted_or_refused(self):
        self.assertEqual(self.one("select (%s::jsonb[])[1] ->> 'a'", ([{"a": "b"}],)), "b")
        self.assertEqual(self.one("select %s::inet[]", ([ipaddress.ip_address("::1")],)), ["::1"])
        with self.assertRaisesRegex(cenote.ProgrammingError, "element of an array is of <class 'object'>"):
            self.execute("select %s::text[]", ([object()],))

    def test_a_program_s_own_types(self):
        class Metres:
            def __init__(self, n):
                self.n = n

        class Broken:
            pass

        def refuse(value):
            raise KeyError("broken")

        cenote.adapt.register(Metres, lambda metres: metres.n)
        cenote.adapt.register(Broken, refuse)
        self.assertEqual(self.one("select " + self.cast("bigint"), (Metres(42),)), 42)
        with self.assertRaisesRegex(cenote.ProgrammingError, "parameter 1 is of .*Metres"):
            self.execute("select %s", (Metres(object()),))
        with self.assertRaisesRegex(KeyError, "broken"):
            self.execute("select %s", (Broken(),))

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_numpy_s_scalars(self):
        for kind, value, plain in (
            ("bigint", numpy.int64(-(2**63)), -(2**63)),
            ("bigint", numpy.uint8(255), 255),
            ("float8", numpy.float32(0.5), 0.5),
            ("float8", numpy.float64(0.1), 0.1),
            ("text", numpy.str_("ß"), "ß"),
            ("bytea", numpy.bytes_(b"\0"), b"\0"),
        ):
            with self.subTest(value=value):
                self.assertEqual(self.one("select " + self.cast(kind), (value,)), plain)
        self.table("b boolean, s timestamp, d date")
        moment = "2026-01-02T03:04:05"
        row = (numpy.bool_(True), numpy.datetime64(moment, "ns"), numpy.datetime64("2026-01-02"))
        self.execute("insert into t values (%s, %s, %s)", row)
        seen = self.one("select * from t")
        self.assertEqual(seen, (True, datetime.datetime.fromisoformat(moment), datetime.date(2026, 1, 2)))
        self.execute("insert into t (s) values (%s)", (numpy.datetime64("NaT"),))
        if BACKEND == "postgresql":
            self.assertEqual(self.one("select %s::int[]", (numpy.array([[1, 2], [3, 4]]),)), [[1, 2], [3, 4]])
        for value in (numpy.complex128(1), numpy.longdouble(1), numpy.timedelta64(1, "M")):
            with self.assertRaisesRegex(cenote.ProgrammingError, "parameter 1 is of <class 'numpy"):
                self.execute("select %s", (value,))


class Placeholders(Case):
    def test_names(self):
        kind = "::text" if BACKEND == "postgresql" else ""
        row = self.one(f"select %(b)s{kind}, %(a)s{kind}, %(b)s{kind}", {"a": "1", "b": "2", "c": 0})
        self.assertEqual(row, ("2", "1", "2"))

    def test_a_percent_sign(self):
        self.assertEqual(self.one("select '%s' like '%%'"), True if BACKEND == "postgresql" else 1)
        self.assertEqual(self.one("select '100%%'", ()), "100%")

    def test_mistakes(self):
        for sql, params in (
            ("select %d", (1,)),
            ("select %s, %(a)s", (1,)),
            ("select %(a)s", (1,)),
            ("select %(a)s", {}),
            ("select %s", "x"),
            ("select 100%", ()),
        ):
            with self.subTest(sql=sql), self.assertRaises(cenote.ProgrammingError):
                self.execute(sql, params)
        with self.assertRaises(TypeError):
            self.execute(b"select 1")


class Cursors(Case):
    def test_rows_and_numbers(self):
        cursor = self.execute(SERIES.format(10))
        self.assertEqual((cursor.rowcount, cursor.rownumber), (10, 0))
        self.assertEqual(cursor.fetchmany(3), [(1,), (2,), (3,)])
        cursor.scroll(-1)
        self.assertEqual(cursor.fetchone(), (3,))
        cursor.scroll(9, "absolute")
        self.assertEqual((next(cursor), cursor.rownumber), ((10,), 10))
        self.assertIsNone(cursor.fetchone())
        with self.assertRaises(IndexError):
            cursor.scroll(1)
        self.assertEqual(list(cursor), [])

    def test_rows_as_the_program_wants_them(self):
        with cenote.connect(URI, row_factory=cenote.dict_row) as connection:
            cursor = connection.execute("select 1 as a, 2 as b union all select 3, 4 order by 1")
            self.assertEqual(cursor.fetchone(), {"a": 1, "b": 2})
            self.assertEqual(cursor.fetchmany(2), [{"a": 3, "b": 4}])
            self.assertEqual((cursor.fetchone(), cursor.fetchall()), (None, []))
            # another result of the same cursor has other names
            self.assertEqual(list(cursor.execute("select 5 as c")), [{"c": 5}])
            streamed = connection.cursor(batch_rows=2).execute(SERIES.format(5))
            self.assertEqual([row["i"] for row in streamed], [1, 2, 3, 4, 5])

        cursor = self.connection.cursor()
        cursor.row_factory = cenote.namedtuple_row
        quote = "`" if BACKEND == "mysql" else '"'
        row = cursor.execute(f"select 1 as a, 2 as {quote}class{quote}").fetchone()
        self.assertEqual((row, row.a, row._fields), ((1, 2), 1, ("a", "_1")))
        # a row that is made None is one all the same
        cursor.row_factory = lambda cursor: lambda row: row[0]
        self.assertEqual(list(cursor.execute("select null union all select null")), [None, None])
        self.assertEqual(self.one("select 7"), 7)

    def test_batches_leave_the_connection_free(self):
        with self.connection.cursor(batch_rows=10) as cursor:
            cursor.execute(SERIES.format(95))
            seen = cursor.fetchmany(15)
            self.assertEqual(self.one("select 5"), 5)
            self.assertEqual(cursor.rownumber, 15)
            seen += cursor.fetchall()
            self.assertEqual(seen, [(i,) for i in range(1, 96)])
            self.assertEqual(cursor.rowcount, 95)
            cursor.execute(SERIES.format(95))
            next(cursor)
        self.assertEqual(self.one("select 6"), 6)

    def test_executemany(self):
        self.table("a integer primary key, b varchar(20)")
        cursor = self.connection.cursor()
        cursor.executemany("insert into t values (%s, %s)", ((i, f"x{i}") for i in range(1234)))
        self.assertEqual(cursor.rowcount, 1234)
        self.assertEqual(self.one("select count(*), max(a) from t"), (1234, 1233))
        cursor.executemany("delete from t where a = %(a)s", [{"a": 5}, {"a": 6}, {"a": -1}])
        self.assertEqual(cursor.rowcount, 2)
        cursor.executemany("insert into t values (%s, %s)", [])
        self.assertEqual(cursor.rowcount, 0)

    def test_executemany_that_fails(self):
        self.connection.autocommit = True
        self.table("a integer primary key")
        cursor = self.connection.cursor()
        rows = [(i % 700,) for i in range(1000)]
        with self.assertRaises(cenote.IntegrityError):
            cursor.executemany("insert into t values (%s)", rows)
        self.assertEqual(cursor.rowcount, -1)
        with self.assertRaises(cenote.ProgrammingError):
            cursor.executemany("insert into t values (%s)", [(1000,), (object(),)])
        self.assertEqual(self.one("select count(*) from t where a > 1000"), 0)

    def test_closed_things_say_so(self):
        cursor = self.connection.cursor()
        with self.assertRaises(cenote.ProgrammingError):
            cursor.fetchone()
        cursor.close()
        for call in (cursor.fetchone, cursor.fetchall, cursor.nextset, lambda: cursor.execute("select 1")):
            self.assertRaises(cenote.InterfaceError, call)
        cursor = self.connection.cursor()
        self.connection.close()
        self.connection.close()
        for call in (lambda: cursor.execute("select 1"), self.connection.commit, self.connection.cursor):
            self.assertRaises(cenote.InterfaceError, call)

    def test_prepared(self):
        for i in range(3):
            kind = "::integer" if BACKEND == "postgresql" else ""
            self.assertEqual(self.execute(f"select %s{kind} + 1", (i,), prepare=True).fetchone(), (i + 1,))


class Transactions(Case):
    def setUp(self):
        super().setUp()
        self.execute("drop table if exists py_tx")
        self.execute("create table py_tx (a integer)")
        self.connection.commit()

    def count(self):
        with cenote.connect(URI) as other:
            return other.execute("select count(*) from py_tx").fetchone()[0]

    def test_autocommit_is_off(self):
        self.execute("insert into py_tx values (1)")
        self.assertEqual(self.connection.transaction_status, "open")
        self.assertEqual(self.count(), 0)
        self.connection.commit()
        self.assertEqual(self.count(), 1)

    def test_a_block_commits_or_rolls_back(self):
        with cenote.connect(URI) as connection:
            connection.execute("insert into py_tx values (1)")
        self.assertEqual(self.count(), 1)
        with self.assertRaises(ZeroDivisionError), cenote.connect(URI) as connection:
            connection.execute("insert into py_tx values (1)")
            1 / 0
        self.assertTrue(connection.closed)
        self.assertEqual(self.count(), 1)

    def test_transactions_nest(self):
        self.connection.autocommit = True
        with self.connection.transaction():
            self.execute("insert into py_tx values (1)")
            with self.assertRaises(cenote.Error), self.connection.transaction():
                self.execute("insert into py_tx values (2)")
                self.execute("no such statement")
            with self.connection.transaction():
                self.execute("insert into py_tx values (3)")
        self.assertEqual(self.count(), 2)


class Errors(Case):
    def test_fields(self):
        self.table("a integer primary key")
        self.execute("insert into t values (1)")
        with self.assertRaises(cenote.IntegrityError) as caught:
            self.execute("insert into t values (1)")
        error = caught.exception
        self.assertEqual(error.sqlstate[:2], "23")
        self.assertEqual(error.fields["C"], error.sqlstate)
        self.assertEqual(error.severity, "ERROR")
        if BACKEND == "postgresql":
            self.assertEqual((error.table_name, error.constraint_name), ("t", "t_pkey"))
            self.assertIn("already exists", error.detail)
        if BACKEND == "mysql":
            self.assertEqual(error.native, 1062)

    def test_names_are_the_package_s(self):
        self.assertEqual(repr(cenote.DataError("x")), "DataError('x')")
        self.assertEqual(cenote.DataError.__module__, "cenote")

    def test_no_pool(self):
        with self.assertRaises(cenote.OperationalError):
            cenote.connect("cenote:///nothing?run_dir=/nowhere")
        with self.assertRaisesRegex(cenote.ProgrammingError, "pool"):
            cenote.connect()
        with self.assertRaisesRegex(cenote.ProgrammingError, "host"):
            cenote.connect("demo", hots="x")


class Waiting(Case):
    def test_other_threads_run_meanwhile(self):
        seen = []
        thread = threading.Thread(target=self.endless, args=(seen,))
        thread.start()
        before = time.monotonic()
        n = 0
        while time.monotonic() - before < 0.3:
            n += 1
        while not self.connection.cancel() and thread.is_alive():
            time.sleep(0.01)
        thread.join(20)
        self.assertFalse(thread.is_alive())
        self.assertGreater(n, 100)
        self.assertEqual([(type(e), e.sqlstate) for e in seen], [(cenote.OperationalError, "57014")])
        self.connection.rollback()
        self.assertEqual(self.one("select 1"), 1)

    def endless(self, seen):
        try:
            self.execute(ENDLESS)
        except cenote.Error as e:
            seen.append(e)

    def test_ctrl_c_ends_a_wait(self):
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        before = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            self.execute(ENDLESS)
        timer.join()
        self.assertLess(time.monotonic() - before, 15)
        self.connection.rollback()
        self.assertEqual(self.one("select 1"), 1)

    def test_what_is_raised_while_an_answer_is_taken(self):
        class Bell(Exception):
            pass

        def ring(*_):
            raise Bell

        # as a signal's handler would, which may run where the error's exception is made
        with mock.patch("cenote._errors._class_of", ring), self.assertRaises(Bell):
            self.execute("select no_such_column")
        self.connection.rollback()
        self.assertEqual(self.one("select 7"), 7)

    def test_a_time_limit(self):
        with cenote.connect(URI, query_timeout="2s") as connection:
            before = time.monotonic()
            with self.assertRaisesRegex(cenote.OperationalError, "query_timeout"):
                connection.execute(ENDLESS)
            self.assertLess(time.monotonic() - before, 15)
            connection.rollback()
            self.assertEqual(connection.execute("select 1").fetchone(), (1,))

    def test_threads_share_a_connection(self):
        errors = []

        def work(n):
            try:
                for i in range(200):
                    row = self.execute("select %s", (n * 1000 + i,)).fetchone()
                    if row != (n * 1000 + i,):
                        raise AssertionError(row)
            except BaseException as e:
                errors.append(e)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(errors, [])

    def test_threads_fetch_from_one_cursor(self):
        cursor = self.connection.cursor(batch_rows=7)
        cursor.execute(SERIES.format(900))
        rows, errors = [], []

        def work():
            try:
                rows.extend(iter(cursor.fetchone, None))
            except BaseException as e:
                errors.append(e)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        # who is told of the end is for the threads to settle; no row may come twice
        self.assertEqual(len(set(rows)), len(rows))

    def test_closing_under_a_running_statement(self):
        thread = threading.Thread(target=self.endless, args=([],))
        thread.start()
        time.sleep(0.1)
        closing = threading.Thread(target=self.connection.close)
        closing.start()
        while thread.is_alive():
            self.connection.cancel()
            time.sleep(0.05)
        closing.join(20)
        self.assertFalse(closing.is_alive())


class Objects(Case):
    def test_what_is_dropped_is_collected(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(50):
                connection = cenote.connect(URI)
                connection.loop = connection
                cursor = connection.cursor(batch_rows=2)
                cursor.execute(SERIES.format(50))
                next(cursor)
                connection.cursor_of_mine = cursor
                del connection, cursor
                gc.collect()

    def test_rows_outlive_their_connection(self):
        connection = cenote.connect(URI)
        result = connection.execute(SERIES.format(50))._result
        connection.close()
        del connection
        gc.collect()
        self.assertEqual(result.fetch(-1)[-1], (50,))

    def test_types_are_made_by_the_module_only(self):
        with self.assertRaises(TypeError):
            type(self.connection._session)()

    def test_a_fork_leaves_the_parent_alone(self):
        pid = os.fork()
        if pid == 0:
            try:
                self.connection.execute("select 1")
            except cenote.Error:
                self.connection.close()
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(self.one("select 1"), 1)


class Cache(Case):
    def test_a_file_answers_another_connection(self):
        with tempfile.TemporaryDirectory() as directory:
            with cenote.connect(URI, autocommit=True) as writer:
                writer.execute("drop table if exists python_page")
                writer.execute("create table python_page (v int)")
                writer.execute("insert into python_page values (1)")
                for expected in (1, 1):
                    with cenote.connect(URI, autocommit=True, cache=directory, cache_ttl="1min") as reader:
                        rows = reader.execute("select v from python_page").fetchall()
                        self.assertEqual(rows, [(expected,)])
                    self.assertEqual(len(os.listdir(directory)), 1)
                    writer.execute("update python_page set v = 2")
                writer.execute("drop table python_page")


class Documentation(unittest.TestCase):
    def public(self):
        """(name, object) of all that programs use."""
        for module in (cenote, aio):
            for name in module.__all__:
                thing = getattr(module, name)
                if isinstance(thing, (str, int, tuple, cenote._types.TypeObject)):
                    continue
                yield f"{module.__name__}.{name}", thing
                if not thing.__module__.startswith("cenote") or not isinstance(thing, type):
                    continue
                for base in thing.__mro__:
                    if base.__module__.startswith("cenote"):
                        for attribute, value in vars(base).items():
                            if callable(value) or isinstance(value, property):
                                yield f"{module.__name__}.{base.__name__}.{attribute}", value

    def test_it_is_there(self):
        names = {name for name, thing in self.public() if not thing.__doc__}
        self.assertEqual([name for name in sorted(names) if "._" not in name], [])


class Messages(Case):
    @unittest.skipUnless(BACKEND == "postgresql", "notices of PostgreSQL")
    def test_notices(self):
        self.execute("do $$ begin raise notice 'low water'; end $$")
        (kind, notice), = self.connection.messages
        self.assertIs(kind, cenote.Warning)
        self.assertEqual((str(notice), notice.fields["S"]), ("low water", "NOTICE"))
        self.execute("select 1")
        self.assertEqual(self.connection.messages, [])

    @unittest.skipUnless(BACKEND == "postgresql", "notifications of PostgreSQL")
    def test_notifications(self):
        self.connection.autocommit = True
        self.execute("listen py_news")
        self.assertEqual(self.connection.notifications(), [])
        with cenote.connect(URI, autocommit=True) as other:
            other.execute("notify py_news, 'high water'")
        ((pid, channel, payload),) = self.connection.notifications(10)
        self.assertEqual((channel, payload), ("py_news", "high water"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
