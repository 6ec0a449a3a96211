# SPDX-License-Identifier: BSD-2-Clause
# pyodbc on the table "things": see tests/suites/odbc_clients.
import datetime
import decimal
import sys

import pyodbc

FISH = "Grüße \U0001F41F"
MOMENT = datetime.datetime(2024, 2, 29, 12, 34, 56)


def check(name, got, wanted):
    if got == wanted:
        print("ok", name)
    else:
        print("not ok %s: got %.200r, wanted %.200r" % (name, got, wanted))


def column(rows):
    return [row[0] for row in rows]


def types(db):
    cursor = db.cursor()
    row = cursor.execute("select id, name, price, made, made_at, data from things where id = 1").fetchone()
    check("types", tuple(row), (1, FISH, decimal.Decimal("1.25"), MOMENT.date(), MOMENT, b"\0\xff\x10"))
    check("described", [c[0] for c in cursor.description], ["id", "name", "price", "made", "made_at", "data"])
    row = cursor.execute("select name, price, made, made_at, data from things where id = 2").fetchone()
    check("nulls", tuple(row), (None,) * 5)
    insert = "insert into things (id, name, price, made, made_at, data) values (?, ?, ?, ?, ?, ?)"
    values = (10, FISH, decimal.Decimal("-1234567.89"), MOMENT.date(), MOMENT, bytes(range(256)))
    check("insert", cursor.execute(insert, values).rowcount, 1)
    cursor.execute("select id, name, price, made, made_at, data from things where id = ?", 10)
    check("as they were", tuple(cursor.fetchone()), values)
    cursor.execute(insert, (11, None, None, None, None, None))
    cursor.execute("delete from things where id in (10, 11)")


def many(db, is_fast):
    cursor = db.cursor()
    how = "fast" if is_fast else "slow"
    cursor.fast_executemany = is_fast
    rows = [(i, "%s %d" % (FISH, i) if i % 5 else None, "x" * i, MOMENT if i % 2 else None)
            for i in range(100, 600)]
    cursor.executemany("insert into things (id, name, note, made_at) values (?, ?, ?, ?)", rows)
    cursor.execute("select id, name, note, made_at from things where id >= 100 order by id")
    check("executemany, " + how, [tuple(row) for row in cursor.fetchall()] == rows, True)
    check("deleted, " + how, cursor.execute("delete from things where id >= 100").rowcount, 500)


def big(db):
    cursor = db.cursor()
    text = "äöü€\U0001F41F" * 200000
    data = bytes(range(256)) * 8000
    cursor.execute("insert into things (id, note, data) values (20, ?, ?)", text, data)
    row = cursor.execute("select note, data from things where id = 20").fetchone()
    check("big text", row[0] == text, True)
    check("big binary", row[1] == data, True)
    cursor.execute("delete from things where id = 20")


def transactions(db):
    cursor = db.cursor()
    db.autocommit = False
    cursor.execute("delete from things")
    db.rollback()
    check("rollback", cursor.execute("select count(*) from things").fetchval(), 3)
    cursor.execute("update things set name = 'none' where id = 2")
    cursor.execute("update things set name = null where id = 2")
    db.commit()
    db.autocommit = True
    check("commit", cursor.execute("select name from things where id = 2").fetchval(), None)


def catalog(db):
    cursor = db.cursor()
    check("tables", [row.table_name for row in cursor.tables(table="things")], ["things"])
    check("columns", [row.column_name for row in cursor.columns(table="things")],
          ["id", "name", "price", "made", "made_at", "note", "data"])
    check("primary key", [row.column_name for row in cursor.primaryKeys("things")], ["id"])
    check("foreign key", [row.fktable_name for row in cursor.foreignKeys(table="things")], ["parts"])
    check("row id", [row.column_name for row in cursor.rowIdColumns("things")], ["id"])
    check("statistics", len(cursor.statistics("parts").fetchall()) > 1, True)
    check("types told", len(cursor.getTypeInfo().fetchall()) > 5, True)
    check("procedures", cursor.procedures(procedure="nothing_like_it").fetchall(), [])
    check("driver", db.getinfo(pyodbc.SQL_DRIVER_NAME), "libcenoteodbc.so")


def errors(db):
    try:
        db.execute("select x from nowhere")
        check("error", "none", "42S02")
    except pyodbc.ProgrammingError as e:
        check("error", e.args[0][:3], "42S")
    try:
        db.execute("insert into things (id) values (1)")
        check("twice", "none", "23")
    except pyodbc.IntegrityError as e:
        check("twice", e.args[0][:2], "23")


def main():
    db = pyodbc.connect("DSN=" + sys.argv[1], autocommit=True)
    types(db)
    many(db, False)
    many(db, True)
    big(db)
    transactions(db)
    catalog(db)
    errors(db)
    db.timeout = 5
    check("after all", column(db.execute("select id from things order by id")), [1, 2, 3])
    db.close()
    print("ok to its end")


main()
