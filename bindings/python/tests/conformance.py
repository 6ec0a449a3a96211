#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The conformance cases (tests/conformance) through this binding, in each of its ways.

    on_pool BACKEND 1 conformance.py [-q QUIRKS] [-n PATTERN] FILE.case …

Output is TAP; `quirks` names what this face is known not to give, as tests/conformance/README.md says.
"""

import argparse
import asyncio
import datetime
import decimal
import itertools
import math
import os
import re
import sys
import uuid

import cases
import cenote
from cenote import aio
from cenote._types import parse_interval


class Differs(Exception):
    """Something is not as the case says."""


class NotGiven(Exception):
    """This face has no name for what the case asks for."""


def check(what, seen, expected):
    if seen != expected:
        raise Differs(f"{what} is {str(seen)[:200]!r}, expected {str(expected)[:200]!r}")


# ---------------------------------------------------------------------------- values


def parse_time(text):
    clock, _, fraction = text.partition(".")
    parts = [int(part) for part in clock.split(":")]
    return datetime.time(*parts, int(fraction.ljust(6, "0")) if fraction else 0)


def parse_timestamp(text):
    day, _, clock = text.partition(" ")
    return datetime.datetime.combine(datetime.date.fromisoformat(day), parse_time(clock))


BINDS = {
    "null": lambda data: None,
    "bool": lambda data: data == b"1",
    "int64": int,
    "uint64": int,
    "double": float,
    "decimal": lambda data: decimal.Decimal(data.decode()),
    "text": bytes.decode,
    "bytes": bytes,
    "date": lambda data: datetime.date.fromisoformat(data.decode()),
    "time": lambda data: parse_time(data.decode()),
    "timestamp": lambda data: parse_timestamp(data.decode()),
}


def same_float(value, data):
    expected = float(data)
    return value == expected or (math.isnan(value) and math.isnan(expected))


def same_bytes(value, data):
    # PostgreSQL's own text of them, in cases that ask for text
    return value == data or (data.startswith(b"\\x") and value.hex() == data[2:].decode())


def same_decimal(value, data):
    return value.as_tuple() == decimal.Decimal(data.decode()).as_tuple()


# What a value of a Python type is compared by. Subclasses come first.
SAME = (
    (bool, lambda value, data: data in ((b"1", b"t") if value else (b"0", b"f"))),
    (int, lambda value, data: value == int(data)),
    (float, same_float),
    (decimal.Decimal, same_decimal),
    (str, lambda value, data: value.encode() == data),
    (bytes, same_bytes),
    (datetime.datetime, lambda value, data: value == parse_timestamp(data.decode())),
    (datetime.date, lambda value, data: value.isoformat() == data.decode()),
    (datetime.time, lambda value, data: value == parse_time(data.decode())),
    (datetime.timedelta, lambda value, data: value == parse_interval(data.decode())),
    (uuid.UUID, lambda value, data: str(value) == data.decode()),
)

# The Python type that a column's values have, where it is none of str.
TYPES = {
    "bool": bool,
    "int64": int,
    "uint64": int,
    "double": float,
    "decimal": decimal.Decimal,
    "bytes": bytes,
    "date": datetime.date,
    "time": datetime.time,
    "timestamp": datetime.datetime,
    "interval": datetime.timedelta,
    "uuid": uuid.UUID,
}


def is_same(value, data):
    if value is None or data is None:
        return value is data
    for kind, same in SAME:
        if isinstance(value, kind):
            return same(value, data)
    return False


# ------------------------------------------------------------------------- statements


def statement_of(step, backend):
    """The statement with this face's placeholders, and its values; None for none."""
    binds = []
    for text in step.words.get("bind", []):
        kind, _, data = text.partition(" ")
        binds.append(BINDS[kind](cases.value(data)))
    if not binds and "extended" not in step.words:
        return re.sub(r"\{(\d+)(:\w+)?\}", "?", step.sql), None
    order = [int(n) for n in re.findall(r"\{(\d+)(?::\w+)?\}", step.sql)]
    by_name = backend != "mysql" and order != list(range(1, len(order) + 1))

    def placeholder(match):
        suffix = f"::{match[2]}" if match[2] and backend == "postgresql" else ""
        return (f"%(p{match[1]})s" if by_name else "%s") + suffix

    sql = re.sub(r"\{(\d+)(?::(\w+))?\}", placeholder, step.sql.replace("%", "%%"))
    return sql, {f"p{i}": v for i, v in enumerate(binds, 1)} if by_name else binds


class Way:
    """How statements are run."""

    def __init__(self, name, connect=cenote.connect, batch_rows=0, prepare=False):
        self.name = name
        self.connect = connect
        self.batch_rows = batch_rows
        self.prepare = prepare


class Seen:
    """What one result of a step gave."""

    def __init__(self):
        self.columns, self.rows = [], []
        self.rowcount, self.insert_id, self.tag = -1, 0, ""
        self.error = None
        self.copied = None

    def read(self, cursor):
        if cursor.description is not None:
            self.columns = cursor.description
            # one by one: an error is known to come behind those before it
            self.rows.extend(iter(cursor.fetchone, None))
        self.rowcount = cursor.rowcount
        self.insert_id = cursor.lastrowid or 0
        self.tag = cursor.tag


class Runner:
    def __init__(self, way, case, uri, backend):
        self.way, self.case, self.backend = way, case, backend
        self.connection = way.connect(uri, autocommit=True)

    def run(self):
        try:
            for sql in self.case.setup:
                self.connection.execute(sql)
            for step in self.case.steps:
                try:
                    self.run_step(step)
                except Differs as e:
                    raise Differs(f"line {step.line}: {e}") from e
        finally:
            self.connection.close()

    def run_step(self, step):
        if step.op:
            seen = self.run_op(step)
        else:
            seen = self.run_sql(step)
        for one, expected in zip(seen, step.expects):
            self.compare(one, expected)
        if not any(one.error for one in seen):
            check("number of results", len(seen), len(step.expects))
        self.compare_session(step.expects[-1])

    def run_sql(self, step):
        formats = step.words.get("format", []) + step.words.get("formats", [])
        if "formats" in step.words or "binary" in formats:
            raise NotGiven("values are Python's, in no form of the server's")
        if step.sql.startswith(("copy ", "load data ")):
            return self.run_copy(step)
        sql, params = statement_of(step, self.backend)
        cursor = self.connection.cursor(batch_rows=self.way.batch_rows)
        seen = [Seen()]
        try:
            cursor.execute(
                sql, params, prepare=self.way.prepare, max_rows=int(step.words.get("max_rows", [0])[0])
            )
            seen[0].read(cursor)
            while cursor.nextset():
                seen.append(Seen())
                seen[-1].read(cursor)
        except cenote.Error as e:
            # the results before it are not told, where there are several
            seen += [Seen() for _ in range(len(step.expects) - len(seen))] if len(step.expects) > 1 else []
            seen[-1].error = e
            return seen[-1:] if len(step.expects) == 1 else self.behind(step, seen)
        return seen

    @staticmethod
    def behind(step, seen):
        """Of several results, the one that fails."""
        failing = next((i for i, e in enumerate(step.expects) if "error" in e), 0)
        step.expects = step.expects[failing:]
        return seen[-1:]

    def run_copy(self, step):
        seen = Seen()
        pieces = [cases.unescape(text) for text in step.words.get("copy_in", [])]
        cursor = self.connection.cursor()
        try:
            if "to stdout" in step.sql:
                seen.copied = b"".join(cursor.copy_out(step.sql))
            else:
                cursor.copy_in(step.sql, self.give_up(pieces, step.words.get("copy_fail")))
            seen.read(cursor)
        except cenote.Error as e:
            seen.error = e
        except GaveUp:
            # the program knows why: what the server says of it is no news
            seen.error = cenote.OperationalError("no more water")
            seen.error.sqlstate = "57014"
        return [seen]

    @staticmethod
    def give_up(pieces, why):
        yield from pieces
        if why:
            raise GaveUp(why[0])

    # -------------------------------------------------------------------- operations

    def run_op(self, step):
        name, _, args = step.op.partition(" ")
        op = getattr(self, "op_" + name, None)
        if not op:
            raise NotGiven(f"nothing is called {name}")
        seen = Seen()
        try:
            op(args, seen, step)
        except cenote.Error as e:
            seen.error = e
        return [seen]

    def op_begin(self, args, seen, step):
        words = args.split()
        self.connection.begin(
            "serializable" if "serializable" in words else None,
            read_only="read_only" in words,
            immediate="immediate" in words,
        )

    def op_commit(self, args, seen, step):
        self.connection.commit()

    def op_rollback(self, args, seen, step):
        self.connection.rollback()

    def op_savepoint(self, args, seen, step):
        self.connection.savepoint(args)

    def op_release(self, args, seen, step):
        self.connection.release(args)

    def op_rollback_to(self, args, seen, step):
        self.connection.rollback_to(args)

    def op_autocommit(self, args, seen, step):
        self.connection.autocommit = args == "1"

    def op_ping(self, args, seen, step):
        self.connection.ping()

    def op_reset(self, args, seen, step):
        self.connection.reset()

    def op_catalog(self, args, seen, step):
        kind, *filters = args.split()
        cursor = self.connection.cursor()
        cursor.catalog(kind, **dict(f.split("=", 1) for f in filters))
        seen.read(cursor)

    def op_set(self, args, seen, step):
        self.connection.set_option(*args.split(" ", 1))

    def op_option(self, args, seen, step):
        self.connection.set_session_option(*args.split(" ", 1))

    def op_change_user(self, args, seen, step):
        self.connection.change_user(*(None if word == "-" else word for word in args.split()))

    def op_select_database(self, args, seen, step):
        self.connection.select_database(args)

    def op_notifications(self, args, seen, step):
        expected = step.expects[0].get("notification", [])
        came = []
        for _ in range(50):
            came += self.connection.notifications(0.2 if len(came) < len(expected) else 0)
            if len(came) >= len(expected):
                break
        check("notifications", [f"{channel} {payload}" for _, channel, payload in came], expected)

    # --------------------------------------------------------------------- comparing

    def compare(self, seen, expected):
        if "error" in expected:
            self.compare_error(seen, expected)
            return
        if seen.error:
            raise Differs(f"failed with {seen.error.sqlstate}: {seen.error}")
        self.compare_columns(seen, expected)
        self.compare_rows(seen, expected)
        if "copy_out" in expected:
            check("what was copied", seen.copied, b"".join(map(cases.unescape, expected["copy_out"])))
        if "tag" in expected:
            check("tag", seen.tag, expected["tag"][0])
        # PEP 249 has one count: of rows given where no rows were changed
        if "affected" in expected and expected["affected"][0] != "-1":
            check("rowcount", seen.rowcount, int(expected["affected"][0]))
        if "insert_id" in expected:
            check("lastrowid", seen.insert_id, int(expected["insert_id"][0]))

    def compare_columns(self, seen, expected):
        columns = [c.rpartition(":") if ":" in c else (c, "", "") for c in self.columns_of(expected)]
        if columns:
            check("columns", [c[0] for c in seen.columns], [unescaped(name) for name, _, _ in columns])
        for column, (_, _, kind) in zip(seen.columns, columns):
            if kind:
                check(f"type of {column[0]}", column.type_code.name.lower(), kind)
        if "column_count" in expected:
            check("number of columns", len(seen.columns), int(expected["column_count"][0]))

    @staticmethod
    def columns_of(expected):
        return expected["columns"][0].split() if "columns" in expected else []

    def compare_rows(self, seen, expected):
        rows = [cases.split_row(text) for text in expected.get("row", [])]
        count = int(expected["row_count"][0]) if "row_count" in expected else len(rows)
        check("number of rows", len(seen.rows), count)
        for i, (row, cells) in enumerate(zip(seen.rows, rows)):
            check(f"number of values in row {i}", len(row), len(cells))
            for k, (value, data) in enumerate(zip(row, cells)):
                if not is_same(value, data):
                    raise Differs(f"row {i} column {k} is {str(value)[:80]!r}, expected {data[:80]!r}")
                self.compare_type(seen.columns[k], value)

    def compare_type(self, column, value):
        """A value is of its column's type, but for SQLite, and for what is text at the client."""
        kind = TYPES.get(column.type_code.name.lower(), str)
        if self.backend == "sqlite" or value is None or isinstance(value, (kind, str)):
            return
        raise Differs(f"a value of {column.name} is a {type(value).__name__}")

    def compare_error(self, seen, expected):
        error = seen.error
        if not error:
            raise Differs(f"succeeded, expected error {expected['error'][0]}")
        check("SQLSTATE", error.sqlstate[: len(expected["error"][0])], expected["error"][0])
        if "message" in expected and expected["message"][0] not in str(error):
            raise Differs(f"message is: {error}")
        if "native" in expected:
            check("native code", error.native, int(expected["native"][0]))
        if "position" in expected:
            check("position", error.position, int(expected["position"][0]))
        if "rows_before_error" in expected and self.way.batch_rows:
            check("rows before the error", len(seen.rows), int(expected["rows_before_error"][0]))

    def compare_session(self, expected):
        connection = self.connection
        if "tx" in expected:
            check("transaction", connection.transaction_status, expected["tx"][0])
        if "pins" in expected:
            pins = int(expected["pins"][0])
            check("pins", connection.pins & pins if pins else connection.pins, pins)
        for part in expected.get("notice", []):
            if not any(part in str(notice) for _, notice in connection.messages):
                raise Differs(f"no notice {part!r}, but {connection.messages}")
        for text in expected.get("parameter", []):
            name, value = text.split(" ", 1)
            check(name, connection.parameter(name), value)


class GaveUp(Exception):
    pass


def unescaped(text):
    return cases.unescape(text).decode()


# ------------------------------------------------------------------------------- main

class Driven:
    """An object of asyncio's, each coroutine of which is run to its end."""

    loop = asyncio.new_event_loop()

    def __init__(self, object):
        self.__dict__["object"] = object

    def __getattr__(self, name):
        found = getattr(self.object, name)
        return self.calling(found) if callable(found) else found

    def __setattr__(self, name, value):
        self.loop.run_until_complete(getattr(self.object, "set_" + name)(value))

    def calling(self, function):
        def call(*args, **kwargs):
            answer = function(*args, **kwargs)
            if asyncio.iscoroutine(answer):
                answer = self.loop.run_until_complete(answer)
            if hasattr(answer, "__anext__") and not hasattr(answer, "fetchone"):
                return self.iterate(answer)
            return Driven(answer) if isinstance(answer, (aio.Connection, aio.Cursor)) else answer

        return call

    def iterate(self, pieces):
        while True:
            try:
                yield self.loop.run_until_complete(pieces.__anext__())
            except StopAsyncIteration:
                return


WAYS = (
    Way("plain"),
    Way("prepared", prepare=True),
    Way("batches", batch_rows=2),
    Way("asyncio", connect=Driven(aio).connect),
)

# A case that C's ways cannot run, ours cannot either.
SAME_WAY = {
    "plain": "blocking",
    "prepared": "prepared",
    "batches": "streamed-2",
    "asyncio": "nonblocking",
}


def read_quirks(path):
    quirks = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                way, rest = line.rstrip("\n").split(" ", 1)
                name, _, reason = rest.partition(": ")
                quirks[way, name] = reason
    return quirks


def run_case(way, case, uri, backend):
    """Why it fails; None if it does not."""
    try:
        Runner(way, case, uri, backend).run()
    except (Differs, NotGiven, cenote.Error, ValueError, TypeError) as e:
        return f"{type(e).__name__}: {e}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-q", action="append", default=[])
    parser.add_argument("-n", default="")
    parser.add_argument("-w", default="")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    uri, backend = os.environ["CENOTE_TEST_URI"], os.environ["CENOTE_TEST_BACKEND"]
    quirks = {}
    for path in args.q:
        quirks.update(read_quirks(path))
    all_cases = [case for path in args.files for case in cases.read(path, backend)]
    n_run = n_failed = 0
    for way, case in itertools.product(WAYS, all_cases):
        if args.n not in case.name or args.w not in way.name or SAME_WAY[way.name] in case.not_ways:
            continue
        why = run_case(way, case, uri, backend)
        quirk = quirks.get((way.name, case.name), quirks.get(("*", case.name)))
        n_run += 1
        todo = f" # TODO {quirk}" if quirk else ""
        print(f"{'not ok' if why else 'ok'} {n_run} - {way.name}: {case.name}{todo}")
        if why:
            print(f"# {case.file}:{case.line}: {why}".replace("\n", " "), flush=True)
        n_failed += bool(why) != bool(quirk)
    print(f"1..{n_run}")
    return n_failed > 0 or n_run == 0


if __name__ == "__main__":
    sys.exit(main())
