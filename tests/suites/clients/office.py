# SPDX-License-Identifier: BSD-2-Clause
# LibreOffice Base on the table "things": see tests/suites/odbc_clients. The office runs without a screen; this tells
# it by UNO what a person would: open the table, change rows of it in place, run a query.
import os
import subprocess
import sys
import tempfile
import time

import uno
from com.sun.star.connection import NoConnectException
from com.sun.star.sdb.CommandType import COMMAND, QUERY, TABLE

FISH = "Grüße \U0001F41F"


def check(name, got, wanted):
    if got == wanted:
        print("ok", name)
    else:
        print("not ok %s: got %r, wanted %r" % (name, got, wanted))


def start(home, pipe):
    return subprocess.Popen(["soffice", "--headless", "--norestore", "--nologo", "--accept=pipe,name=%s;urp" % pipe,
                             "-env:UserInstallation=file://" + home])


def context_of(office, pipe):
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstance("com.sun.star.bridge.UnoUrlResolver")
    while office.poll() is None:
        try:
            return resolver.resolve("uno:pipe,name=%s;urp;StarOffice.ComponentContext" % pipe)
        except NoConnectException:
            time.sleep(0.1)
    sys.exit("the office ended with %d" % office.returncode)


class Base:
    def __init__(self, context, dsn):
        self.context = context
        sources = self.new("com.sun.star.sdb.DatabaseContext")
        self.source = sources.createInstance()
        self.source.URL = "sdbc:odbc:" + dsn
        self.connection = self.source.getConnection("", "")
        self.opened = []

    def new(self, service):
        return self.context.ServiceManager.createInstanceWithContext(service, self.context)

    def open(self, kind, command):
        rows = self.new("com.sun.star.sdb.RowSet")
        rows.ActiveConnection = self.connection
        rows.CommandType = kind
        rows.Command = command
        rows.Order = "id" if kind == TABLE else ""
        rows.execute()
        self.opened.append(rows)
        return rows

    # The office crashes now and then when it releases a result after its connection, so results go first.
    def close(self):
        while self.opened:
            self.opened.pop().dispose()
        self.connection.close()

    def table_name(self):
        tables = self.connection.getTables()
        names = [name for name in tables.getElementNames() if name.split(".")[-1] == "things"]
        return names[0] if names else None


def text(rows, i):
    value = rows.getString(i)
    return None if rows.wasNull() else value


def values(rows, n):
    found = []
    rows.beforeFirst()
    while rows.next():
        found.append([text(rows, i) for i in range(1, n + 1)])
    return found


def look_at_table(base):
    name = base.table_name()
    check("table", bool(name), True)
    table = base.connection.getTables().getByName(name)
    check("columns", table.getColumns().getElementNames(),
          ("id", "name", "price", "made", "made_at", "note", "data"))
    keys = table.getKeys()
    check("key", [keys.getByIndex(i).getColumns().getElementNames() for i in range(keys.getCount())
                  if keys.getByIndex(i).Type == 1], [("id",)])
    rows = base.open(TABLE, name)
    found = values(rows, 4)
    check("rows", found, [["1", FISH, "1.25", "2024-02-29"], ["2", None, None, None],
                          ["3", "three", "-7.25", "1999-12-31"]])
    rows.first()
    made, at = rows.getDate(4), rows.getTimestamp(5)
    check("date", (made.Year, made.Month, made.Day), (2024, 2, 29))
    check("moment", (at.Year, at.Hours, at.Minutes, at.Seconds), (2024, 12, 34, 56))
    check("long", len(rows.getString(6)), 100000)
    check("binary", bytes(rows.getBytes(7).value), b"\0\xff\x10")
    rows.last()
    check("last", rows.getInt(1), 3)
    rows.absolute(2)
    mark = rows.getBookmark()
    rows.first()
    rows.moveToBookmark(mark)
    check("bookmark", rows.getInt(1), 2)
    return name


def change_rows(base, name):
    rows = base.open(TABLE, name)
    rows.absolute(2)
    rows.updateString(2, "zwei " + FISH)
    rows.updateRow()
    rows.moveToInsertRow()
    rows.updateInt(1, 4)
    rows.updateString(2, "four")
    rows.insertRow()
    rows = base.open(TABLE, name)
    check("changed", [row[:2] for row in values(rows, 2)],
          [["1", FISH], ["2", "zwei " + FISH], ["3", "three"], ["4", "four"]])
    rows.last()
    rows.deleteRow()
    rows.absolute(2)
    rows.updateNull(2)
    rows.updateRow()
    rows = base.open(TABLE, name)
    check("changed back", [row[1] for row in values(rows, 2)], [FISH, None, "three"])


def run_queries(base):
    sql = "select id, name from things where price is not null order by id desc"
    check("query", values(base.open(COMMAND, sql), 2), [["3", "three"], ["1", FISH]])
    query = base.new("com.sun.star.sdb.QueryDefinition")
    query.Command = "select count(*) as n from things"
    base.source.getQueryDefinitions().insertByName("counted", query)
    check("kept query", values(base.open(QUERY, "counted"), 1), [["3"]])
    statement = base.connection.prepareStatement("select id from things where name = ?")
    statement.setString(1, FISH)
    found = statement.executeQuery()
    base.opened += [statement, found]
    check("parameter", (found.next(), found.getInt(1)), (True, 1))


def main():
    with tempfile.TemporaryDirectory() as home:
        pipe = "cenote-%d" % os.getpid()
        office = start(home, pipe)
        try:
            context = context_of(office, pipe)
            base = Base(context, sys.argv[1])
            name = look_at_table(base)
            change_rows(base, name)
            run_queries(base)
            base.close()
            context.ServiceManager.createInstance("com.sun.star.frame.Desktop").terminate()
            office.wait(30)
        finally:
            office.kill()
            office.wait()
    print("ok to its end")


main()
