#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""PyGreSQL's classic module: see mixed.py."""
import contextlib
import os

import pg

from mixed import Program


class PyGreSQL(Program):
    def __init__(self):
        super().__init__()
        os.environ["PGAPPNAME"] = self.name
        self.db = pg.DB()

    def ask(self, sql, *values):
        if not values:
            result = self.db.query(sql)
        else:
            for i in range(len(values)):
                sql = sql.replace("%s", f"${i + 1}", 1)
            result = self.db.query(sql, values)
        return result.getresult() if hasattr(result, "getresult") else []

    @contextlib.contextmanager
    def transaction(self):
        with self.db:
            yield

    @contextlib.contextmanager
    def savepoint(self):
        self.db.savepoint("s")
        try:
            yield
        except Exception:
            self.db.rollback("s")
            raise
        finally:
            self.db.release("s")

    def sqlstate(self, e):
        return e.sqlstate

    def prepared(self, sql, values):
        self.db.prepare("ten", sql.replace("%s", "$1"))
        rows = [self.db.query_prepared("ten", value).getresult() for value in values]
        self.db.delete_prepared("ten")
        return rows

    def cursor(self, sql):
        self.ask("declare c cursor for " + sql)
        rows = []
        while part := self.ask("fetch 20 from c"):
            rows += part
        return rows


PyGreSQL().run()
