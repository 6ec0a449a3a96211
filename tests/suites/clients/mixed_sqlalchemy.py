#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""SQLAlchemy on psycopg2: see mixed.py."""
from sqlalchemy import create_engine

from mixed import Program


class SQLAlchemy(Program):
    def __init__(self):
        super().__init__()
        engine = create_engine("postgresql+psycopg2://", connect_args={"application_name": self.name},
                               future=True)
        self.db = engine.connect()

    def rows(self, sql, values):
        result = self.db.exec_driver_sql(sql, values or None)
        return [tuple(row) for row in result] if result.returns_rows else []

    def ask(self, sql, *values):
        if self.db.in_transaction():
            return self.rows(sql, values)
        with self.db.begin():
            return self.rows(sql, values)

    def transaction(self):
        return self.db.begin()

    def savepoint(self):
        return self.db.begin_nested()

    def sqlstate(self, e):
        return e.orig.pgcode

    def cursor(self, sql):
        result = self.db.exec_driver_sql(sql, None, {"stream_results": True, "max_row_buffer": 20})
        return [tuple(row) for row in result]


SQLAlchemy().run()
