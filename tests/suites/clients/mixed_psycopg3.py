#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""psycopg 3, which prepares a statement by itself after five executions: see mixed.py."""
import psycopg

from mixed import Program


class Psycopg3(Program):
    def __init__(self):
        super().__init__()
        self.db = psycopg.connect("", application_name=self.name, autocommit=True)

    def ask(self, sql, *values):
        cursor = self.db.execute(sql, values or None)
        return cursor.fetchall() if cursor.description else []

    def transaction(self):
        return self.db.transaction()

    savepoint = transaction

    def sqlstate(self, e):
        return e.sqlstate

    def cursor(self, sql):
        with self.db.cursor("named") as cursor:
            cursor.itersize = 20
            return list(cursor.execute(sql))


Psycopg3().run()
