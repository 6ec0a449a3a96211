# SPDX-License-Identifier: BSD-2-Clause
"""usage: sql_summary.py PROGRAM FILE…

Compare what PROGRAM (tests/support/sql_summary) says of the statements in these files with PostgreSQL's own parser, through
pglast. Prints "pass FILE:N" or "fail FILE:N" for each statement, and on standard error what is wrong:

* a statement that counts as reading must be one that only reads;
* the tables of queries, changes of rows and definitions of tables must all be seen.
"""
import os
import subprocess
import sys

import pglast
from pglast.visitors import Skip, Visitor

READS = {"SelectStmt", "VariableShowStmt", "ExplainStmt", "FetchStmt"}
WITH_TABLES = {"SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "CopyStmt", "ExplainStmt",
               "DeclareCursorStmt", "PrepareStmt", "CreateTableAsStmt", "ViewStmt", "TruncateStmt", "LockStmt",
               "IndexStmt", "CreateStmt"}


class Tables(Visitor):
    """The tables that a statement names, and whether it writes."""

    def __init__(self):
        self.tables = set()
        self.ctes = set()
        self.writes = False

    def visit_RangeVar(self, ancestors, node):
        self.tables.add(node.relname.lower())

    def visit_CommonTableExpr(self, ancestors, node):
        self.ctes.add(node.ctename.lower())

    def visit_LockingClause(self, ancestors, node):
        self.writes = True
        return Skip  # FOR UPDATE OF names aliases

    def note_write(self, ancestors, node):
        self.writes = True

    visit_InsertStmt = visit_UpdateStmt = visit_DeleteStmt = visit_MergeStmt = visit_IntoClause = note_write


def statements(path):
    """The statements of a file that PostgreSQL's parser accepts; psql's own commands are left out."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = "".join(line for line in file if not line.startswith("\\"))
    try:
        parts = pglast.split(text)
    except pglast.Error:
        parts = text.split(";\n")
    for sql in parts:
        try:
            tree = pglast.parse_sql(sql)
        except (pglast.Error, UnicodeError):
            continue
        if len(tree) == 1 and "\0" not in sql:
            yield sql, tree[0].stmt


def fault(stmt, classes, tables):
    """What is wrong; None: nothing."""
    kind = type(stmt).__name__
    visitor = Tables()
    visitor(stmt)
    if classes == "read" and kind != "ExplainStmt" and (kind not in READS or visitor.writes):
        return "it counts as reading"
    missed = visitor.tables - visitor.ctes - tables
    if classes != "unsure" and kind in WITH_TABLES and missed:
        return "tables are missed: " + ", ".join(sorted(missed))
    return None


def main():
    program, paths = sys.argv[1], sys.argv[2:]
    cases = [(f"{os.path.basename(path)}:{n}", sql, stmt)
             for path in paths for n, (sql, stmt) in enumerate(statements(path), 1)]
    text = "".join(sql + "\0" for _, sql, _ in cases).encode("utf-8", "replace")
    lines = subprocess.run([program, "postgresql"], input=text, stdout=subprocess.PIPE, check=True).stdout
    lines = lines.decode("utf-8", "replace").rstrip("\n").split("\n")
    for (name, sql, stmt), line in zip(cases, lines, strict=True):
        classes, *tables = line.split("\t")
        wrong = fault(stmt, classes, {table.lower() for table in tables})
        print("fail" if wrong else "pass", name)
        if wrong:
            print(f"{name}: {wrong}: {sql}", file=sys.stderr)


main()
