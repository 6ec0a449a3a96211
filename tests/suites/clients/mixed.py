# SPDX-License-Identifier: BSD-2-Clause
"""What the Python programs of tests/suites/mixed do in each round, and the answers that they must get.

A program says in a subclass of Program how its library does each thing. Arguments: the program's number, which is
its tenant; the rounds; "simple" to leave out what needs a session of one's own.
"""
import sys


class Rollback(Exception):
    """Ends a transaction or a savepoint without its changes."""


def same(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: got {got!r}, wanted {wanted!r}")


class Program:
    def __init__(self):
        self.tenant, self.rounds = int(sys.argv[1]), int(sys.argv[2])
        self.simple = sys.argv[3:] == ["simple"]
        self.name = f"mixed-{self.tenant}"
        self.zone = f"Etc/GMT-{self.tenant}"

    # ask(sql, *values): the rows of a statement, as a list of tuples. transaction() and savepoint(): contexts, which
    # roll back on an exception. sqlstate(exception). cursor(sql): the rows by a cursor of the server.

    def prepared(self, sql, values):
        """Execute one statement with each value."""
        return [self.ask(sql, value) for value in values]

    def undone(self, context, act):
        """Do something in a transaction or savepoint, and roll back."""
        try:
            with context:
                act()
                raise Rollback
        except Rollback:
            pass

    def fails(self, sql, sqlstate):
        try:
            self.ask(sql)
        except Exception as e:  # each library has its own
            same(sql, self.sqlstate(e), sqlstate)
        else:
            sys.exit(f"{sql}: no error")

    def set_own(self):
        self.ask(f"set time zone '{self.zone}'")
        self.ask(f"set search_path = tenant_{self.tenant}, public")
        self.ask(f"set app.tenant = '{self.tenant}'")

    def own(self):
        same("own settings", self.ask("select current_setting('app.tenant'), current_setting('TimeZone'), "
             "current_setting('application_name'), (select tenant from mine)"),
             [(str(self.tenant), self.zone, self.name, self.tenant)])

    def count(self, what, n):
        same(what, self.ask("select count(*) from entry where tenant = %s", self.tenant), [(n,)])

    def plain(self, n):
        same("plain", self.ask(f"select count(*), sum(g) from generate_series(1, {n}) g"), [(n, n * (n + 1) // 2)])

    def parameters(self, n):
        text = "it's \\ \"%s\" Grüße"
        same("parameters", self.ask("select %s::int + 1, %s::text, %s::text is null", n, text, None),
             [(n + 1, text, True)])

    def commit(self, n):
        with self.transaction():
            self.ask("update account set n = n + 1 where tenant = %s", self.tenant)
            self.ask("insert into entry values (%s, %s)", self.tenant, n)
        same("commit", self.ask("select n from account where tenant = %s", self.tenant), [(n,)])

    def delete(self):
        self.ask("delete from entry where tenant = %s", self.tenant)
        self.count("delete", 0)

    def rollback(self, n):
        self.undone(self.transaction(), self.delete)
        self.count("rollback", n)

    def savepoints(self, n):
        with self.transaction():
            self.ask("insert into entry values (%s, %s)", self.tenant, -n)
            self.undone(self.savepoint(), self.delete)
            self.count("savepoint", n + 1)
            with self.savepoint():
                self.ask("delete from entry where tenant = %s and n < 0", self.tenant)
        self.count("savepoint released", n)

    def error(self, n):
        def act():
            self.delete()
            self.fails("select 1/0", "22012")
            self.fails("select 1", "25P02")
        self.undone(self.transaction(), act)
        self.count("error", n)

    def local(self):
        with self.transaction():
            self.ask("set local app.tenant = 'local'")
            self.ask("set local timezone = 'Asia/Tokyo'")
            same("set local", self.ask("select current_setting('app.tenant'), current_setting('TimeZone')"),
                 [("local", "Asia/Tokyo")])

    def fetched(self):
        with self.transaction():
            rows = self.cursor(f"select g * {self.tenant} from generate_series(1, 50) g")
            same("cursor", rows, [(g * self.tenant,) for g in range(1, 51)])

    def temporary(self):
        self.ask("create temp table scratch as select g from generate_series(1, 5) g")
        self.ask("insert into scratch values (%s)", self.tenant)
        same("temporary table", self.ask("select sum(g) from scratch"), [(15 + self.tenant,)])
        self.ask("drop table scratch")

    def lock(self):
        """Without the lock, the programs would overwrite each other's numbers."""
        self.ask("select pg_advisory_lock(7)::text")
        n = self.ask("select n from shared")[0][0]
        self.ask("update shared set n = %s", n + 1)
        same("unlock", self.ask("select pg_advisory_unlock(7)"), [(True,)])

    def statement(self):
        return f"select %s::int * 100 + {self.tenant} from account where tenant = {self.tenant}"

    def own_session(self):
        self.own()
        same("prepared", self.prepared(self.statement(), range(10)), [[(i * 100 + self.tenant,)] for i in range(10)])
        self.temporary()
        self.lock()
        self.own()

    def run(self):
        if not self.simple:
            self.set_own()
        for n in range(1, self.rounds + 1):
            self.plain(n)
            self.parameters(n)
            self.commit(n)
            self.rollback(n)
            self.savepoints(n)
            self.error(n)
            self.local()
            self.fetched()
            if not self.simple:
                self.own_session()
        print(self.rounds, "rounds")


class MariaDB(Program):
    def set_own(self):
        self.ask(f"set time_zone = '+{self.tenant:02}:00', group_concat_max_len = {1000 + self.tenant}")
        self.ask(f"set @tenant = {self.tenant}")

    def own(self):
        same("own settings", self.ask("select @tenant, @@time_zone, @@group_concat_max_len"),
             [(self.tenant, f"+{self.tenant:02}:00", 1000 + self.tenant)])

    def plain(self, n):
        same("plain", self.ask(f"select count(*), sum(seq) from seq_1_to_{n}"), [(n, n * (n + 1) // 2)])

    def parameters(self, n):
        text = "it's \\ \"%s\" Grüße"
        same("parameters", self.ask("select %s + 1, concat(%s), %s is null", n, text, None), [(n + 1, text, 1)])

    def error(self, n):
        def act():
            self.delete()
            self.fails("select * from nowhere", 1146)
            self.count("after the error", 0)
        self.undone(self.transaction(), act)
        self.count("error", n)

    def local(self):
        same("set statement", self.ask("set statement group_concat_max_len = 500 for select @@group_concat_max_len"),
             [(500,)])

    def fetched(self):
        with self.transaction():
            rows = self.cursor(f"select seq * {self.tenant} from seq_1_to_50")
            same("cursor", rows, [(g * self.tenant,) for g in range(1, 51)])

    def temporary(self):
        self.ask("create temporary table scratch (g int)")
        self.ask("insert into scratch values (%s), (15)", self.tenant)
        same("temporary table", self.ask("select sum(g) from scratch"), [(15 + self.tenant,)])
        self.ask("drop temporary table scratch")

    def lock(self):
        same("lock", self.ask("select get_lock('mixed', 100)"), [(1,)])
        n = self.ask("select n from shared")[0][0]
        self.ask("update shared set n = %s", n + 1)
        same("unlock", self.ask("select release_lock('mixed')"), [(1,)])

    def statement(self):
        return f"select %s * 100 + {self.tenant} from account where tenant = {self.tenant}"
