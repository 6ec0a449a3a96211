#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""psycopg2: see mixed.py."""
import contextlib

import psycopg2

from mixed import Program


class Psycopg2(Program):
    def __init__(self):
        super().__init__()
        self.db = psycopg2.connect("", application_name=self.name)
        self.db.autocommit = True

    def ask(self, sql, *values):
        with self.db.cursor() as cursor:
            cursor.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    @contextlib.contextmanager
    def transaction(self):
        self.db.autocommit = False
        try:
            with self.db:
                yield
        finally:
            self.db.autocommit = True

    @contextlib.contextmanager
    def savepoint(self):
        self.ask("savepoint s")
        try:
            yield
        except Exception:
            self.ask("rollback to s")
            raise
        finally:
            self.ask("release s")

    def sqlstate(self, e):
        return e.pgcode

    def prepared(self, sql, values):
        self.ask("prepare ten(int) as " + sql.replace("%s", "$1"))
        rows = [self.ask("execute ten(%s)", value) for value in values]
        self.ask("deallocate ten")
        return rows

    def cursor(self, sql):
        with self.db.cursor("named") as cursor:
            cursor.itersize = 20
            cursor.execute(sql)
            return list(cursor)


Psycopg2().run()
