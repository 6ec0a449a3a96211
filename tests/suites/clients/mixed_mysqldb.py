#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""MySQLdb (mysqlclient): see mixed.py."""
import contextlib
import os

import MySQLdb
import MySQLdb.cursors

from mixed import MariaDB


class MySQLdbProgram(MariaDB):
    def __init__(self):
        super().__init__()
        self.db = MySQLdb.connect(host="localhost", unix_socket=os.environ["MIXED_SOCKET"], user="test", passwd="test",
                                  db="mixed", charset="utf8mb4", autocommit=True)

    def ask(self, sql, *values):
        cursor = self.db.cursor()
        cursor.execute(sql, values or None)
        return list(cursor.fetchall()) if cursor.description else []

    @contextlib.contextmanager
    def transaction(self):
        self.db.begin()
        try:
            yield
        except Exception:
            self.db.rollback()
            raise
        self.db.commit()

    @contextlib.contextmanager
    def savepoint(self):
        self.ask("savepoint s")
        try:
            yield
        except Exception:
            self.ask("rollback to savepoint s")
            raise
        finally:
            self.ask("release savepoint s")

    def sqlstate(self, e):
        return e.args[0]

    def prepared(self, sql, values):
        self.ask("prepare ten from '" + sql.replace("%s", "?") + "'")
        rows = []
        for value in values:
            self.ask("set @value = %s", value)
            rows.append(self.ask("execute ten using @value"))
        self.ask("deallocate prepare ten")
        return rows

    def cursor(self, sql):
        cursor = self.db.cursor(MySQLdb.cursors.SSCursor)
        cursor.execute(sql)
        return list(cursor.fetchall())


MySQLdbProgram().run()
