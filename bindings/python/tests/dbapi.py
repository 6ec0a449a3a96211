#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The DB-API 2.0 compliance suite (dbapi20.py, found on PYTHONPATH) on a pool; see tests/suites/python_dbapi."""

import os
import unittest

import cenote
import dbapi20

URI = os.environ["CENOTE_TEST_URI"]
BACKEND = os.environ["CENOTE_TEST_BACKEND"]


class DatabaseApi(dbapi20.DatabaseAPI20Test):
    driver = cenote
    connect_args = (URI,)

    @unittest.skipIf(BACKEND == "sqlite", "SQLite has no procedures")
    def test_callproc(self):
        if BACKEND == "postgresql":
            super().test_callproc()
            return
        connection = self._connect()
        cursor = connection.cursor()
        cursor.execute("create or replace procedure dbapi_lower(s text) select lower(s)")
        try:
            self.assertEqual(cursor.callproc("dbapi_lower", ("FOO",)), ["FOO"])
            self.assertEqual(cursor.fetchall(), [("foo",)])
        finally:
            cursor.execute("drop procedure dbapi_lower")
            connection.close()

    def test_nextset(self):
        """As the suite has it, without a procedure where a procedure gives one result."""
        connection = self._connect()
        cursor = connection.cursor()
        self.executeDDL1(cursor)
        for sql in self._populate():
            cursor.execute(sql)
        two = f"select count(*) from {self.table_prefix}booze; select name from {self.table_prefix}booze"
        if BACKEND == "mysql":
            cursor.execute(f"create or replace procedure deleteme() begin {two}; end")
            cursor.callproc("deleteme")
        else:
            cursor.execute(two)
        self.assertEqual(cursor.fetchone(), (len(self.samples),))
        self.assertTrue(cursor.nextset())
        self.assertEqual(len(cursor.fetchall()), len(self.samples))
        if BACKEND == "mysql":  # that the call was done
            self.assertTrue(cursor.nextset())
        self.assertIsNone(cursor.nextset())
        connection.close()

    def test_setoutputsize(self):
        """Values come whole, whatever was said."""
        connection = self._connect()
        cursor = connection.cursor()
        cursor.setoutputsize(1, 0)
        self.assertEqual(cursor.execute("select 'long'").fetchone(), ("long",))
        connection.close()


if __name__ == "__main__":
    unittest.main()
