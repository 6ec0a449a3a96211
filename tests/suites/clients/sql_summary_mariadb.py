# SPDX-License-Identifier: BSD-2-Clause
"""usage: sql_summary_mariadb.py PROGRAM AUDIT_LOG

Compare what PROGRAM (tests/support/sql_summary) says of the statements in a log of MariaDB's plugin server_audit with the
tables that the server opened for them, by the same log. Prints "pass KIND" or "fail KIND" lines, one for each text, and on
standard error what is wrong:

* a text that counts as reading must not write to a table that it names. The server opens the tables of EXPLAIN UPDATE for
  writing, too, but does not write;
* each table that the server opened and whose name is a word of the text must be seen. A table without its name in the text
  came from a view, a trigger or a function, or is in a database that is dropped. A table also counts as one of these if
  a WITH or an alias in the text has its name.
"""
import collections
import re
import subprocess
import sys

LINE = re.compile(rb"[0-9]{8} [0-9:]+,[^,]*,[^,]*,[^,]*,([0-9]+),([0-9]+),([A-Z]+),([^,]*),(.*),([0-9]*)$", re.S)
WRITES = {b"WRITE", b"CREATE", b"ALTER", b"RENAME", b"DROP"}
# The server reads and writes its own tables for many statements.
SYSTEM = {b"mysql", b"information_schema", b"performance_schema", b"sys", b"mtr"}
EXPLAIN = re.compile(rb"\s*(explain|describe|desc)\b", re.I)
DROP_DATABASE = re.compile(rb"\s*drop\s+(database|schema)\b", re.I)
WITH = re.compile(rb"([\w$\x80-\xff]+)\s*(?:\([^()]*\)\s*)?as\s*\(")
ALIAS = re.compile(rb"\bv\d+\s+(?:as\s+)?(\w+)")
ESCAPED = {b"n": b"\n", b"r": b"\r", b"b": b"\b", b"t": b"\t", b"0": b"\0", b"Z": b"\x1a"}


def unescape(text):
    return re.sub(rb"\\(.)", lambda m: ESCAPED.get(m[1], m[1]), text, flags=re.S)


def statements(path):
    """Each text that succeeded, once, with [(operation, table)]."""
    opened = collections.defaultdict(list)
    seen = set()
    with open(path, "rb") as file:
        for line in file:
            match = LINE.match(line.rstrip(b"\n"))
            if not match:
                continue
            connection, query, operation, database, rest, status = match.groups()
            key = connection, query
            if operation != b"QUERY":
                if database not in SYSTEM:
                    opened[key].append((operation, rest.split(b"|")[0].lower()))
                continue
            sql, tables = unescape(rest[1:-1]), opened.pop(key, [])
            if status == b"0" and tables and (sql, *tables) not in seen and b"\0" not in sql:
                seen.add((sql, *tables))
                yield sql, tables


def fault(sql, opened, classes, tables):
    """What is wrong; None: nothing."""
    words = set(re.findall(rb"[\w$\x80-\xff]+", sql.lower()))
    for others in WITH, ALIAS:
        words -= set(others.findall(sql.lower()))
    named = [(operation, table) for operation, table in opened if table in words]
    if classes == b"read" and not EXPLAIN.match(sql) and any(operation in WRITES for operation, _ in named):
        return "it counts as reading"
    missed = {table for _, table in named} - tables
    if classes != b"unsure" and missed and not DROP_DATABASE.match(sql):
        return "tables are missed: " + b", ".join(sorted(missed)).decode("utf-8", "replace")
    return None


def main():
    program, path = sys.argv[1:]
    cases = list(statements(path))
    text = b"".join(sql + b"\0" for sql, _ in cases)
    lines = subprocess.run([program, "mysql"], input=text, stdout=subprocess.PIPE, check=True).stdout
    lines = lines.removesuffix(b"\n").split(b"\n")
    for n, ((sql, opened), line) in enumerate(zip(cases, lines, strict=True), 1):
        classes, *tables = line.split(b"\t")
        wrong = fault(sql, opened, classes, {table.lower() for table in tables})
        print("fail" if wrong else "pass", n)
        if wrong:
            print(f"{n}: {wrong}: {sql.decode('utf-8', 'replace')}", file=sys.stderr)


main()
