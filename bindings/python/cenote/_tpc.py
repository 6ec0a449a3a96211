# SPDX-License-Identifier: BSD-2-Clause
"""Two-phase commit of PEP 249: transactions on several servers that end together.

A prepared transaction belongs to the server and outlives the session: any other session may end it. It is
PREPARE TRANSACTION in PostgreSQL (with max_prepared_transactions set), and XA in MariaDB and MySQL.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence, Tuple

from ._errors import Error, NotSupportedError, OperationalError, ProgrammingError

if TYPE_CHECKING:
    from ._logic import BaseConnection

PART_MAX = 64


class Xid(NamedTuple):
    """A transaction's name. If another program named it in its own way, only `gtrid` is known."""

    format_id: Optional[int]
    gtrid: str
    bqual: Optional[str]


def make_xid(format_id: int, gtrid: str, bqual: str) -> Xid:
    if not 0 <= format_id < 2**31:
        raise ProgrammingError("the format id is not from 0 to 2147483647")
    for part in (gtrid, bqual):
        if len(part) > PART_MAX or not re.fullmatch("[ -~]*", part):
            raise ProgrammingError(f"an id is no ASCII text of up to {PART_MAX} characters: {part!r}")
    return Xid(format_id, gtrid, bqual)


class PostgreSQL:
    """The server knows a single text, which is made in the same way as in psycopg."""

    recover_sql = (
        "select gid, '' from pg_catalog.pg_prepared_xacts where database = current_database() order by prepared"
    )
    sql = {
        "prepare": ["PREPARE TRANSACTION %s"],
        "commit": ["COMMIT PREPARED %s"],
        "rollback": ["ROLLBACK PREPARED %s"],
    }

    @staticmethod
    def literal(xid: Xid) -> str:
        gid = xid.gtrid
        if xid.format_id is not None:
            parts = (base64.b64encode(part.encode()).decode() for part in (xid.gtrid, xid.bqual or ""))
            gid = "_".join((str(xid.format_id), *parts))
        return "'" + gid.replace("'", "''") + "'"

    @staticmethod
    def read(row: Sequence[Any]) -> Xid:
        match = re.fullmatch(r"(\d+)_([^_]*)_([^_]*)", row[0])
        try:
            if match:
                gtrid, bqual = (base64.b64decode(part, validate=True).decode() for part in match.groups()[1:])
                return Xid(int(match[1]), gtrid, bqual)
        except ValueError:
            pass
        return Xid(None, row[0], None)


class MySQL:
    recover_sql = "XA RECOVER"
    sql = {
        "begin": ["XA START %s"],
        "prepare": ["XA END %s", "XA PREPARE %s"],
        "commit": ["XA COMMIT %s"],
        "commit unprepared": ["XA END %s", "XA COMMIT %s ONE PHASE"],
        "rollback": ["XA ROLLBACK %s"],
        "rollback unprepared": ["XA END %s", "XA ROLLBACK %s"],
    }

    @staticmethod
    def literal(xid: Xid) -> str:
        parts = ((part or "").encode().hex() for part in (xid.gtrid, xid.bqual))
        return ",".join([f"X'{part}'" for part in parts] + [str(1 if xid.format_id is None else xid.format_id)])

    @staticmethod
    def read(row: Sequence[Any]) -> Xid:
        format_id, n_gtrid, n_bqual, data = row
        data = data.decode("latin-1") if isinstance(data, bytes) else data
        return Xid(format_id, data[:n_gtrid], data[n_gtrid : n_gtrid + n_bqual])


DIALECTS = {"postgresql": PostgreSQL, "mysql": MySQL}


class TwoPhase:
    """A connection's transaction that ends in two steps."""

    def __init__(self, connection: BaseConnection) -> None:
        self._connection = connection
        self.xid: Optional[Xid] = None
        self._is_prepared = False

    @property
    def _dialect(self) -> Any:
        try:
            return DIALECTS[self._connection.backend]
        except KeyError:
            raise NotSupportedError(f"{self._connection.backend} has no two-phase commit") from None

    async def _query(self, sql: str) -> List[Any]:
        return await self._connection._call(self._connection._session.query, sql.encode(), None, 0)

    async def _do(self, what: str, xid: Xid) -> None:
        """Use the server's statement, or, if it has none, that for any transaction."""
        statements = self._dialect.sql.get(what)
        if statements is None:
            await self._connection._run(what.split()[0], *(("0", "0") if what == "begin" else ()))
        for sql in statements or ():
            try:
                results = await self._query(sql % self._dialect.literal(xid))
            except Error:
                # XA END says why it can only be rolled back, or that it has ended already
                if what != "rollback unprepared" or sql == statements[-1]:
                    raise
                continue
            if what == "prepare" and results[0].tag == "ROLLBACK":
                self.xid = None
                raise OperationalError("the transaction had failed, and was rolled back")

    async def begin(self, xid: Xid) -> None:
        if self.xid or self._connection.transaction_status != "idle":
            raise ProgrammingError("a transaction is open already")
        await self._do("begin", xid)
        self.xid, self._is_prepared = xid, False

    async def prepare(self) -> None:
        if self.xid is None or self._is_prepared:
            raise ProgrammingError("no transaction was begun with tpc_begin(), or it is prepared already")
        await self._do("prepare", self.xid)
        self._is_prepared = True

    async def end(self, how: str, xid: Optional[Xid]) -> None:
        """`how` is commit or rollback, for a recovered transaction or (None) this one."""
        if xid is not None:
            await self._end_recovered(how, xid)
            return
        if self.xid is None:
            raise ProgrammingError("no transaction was begun with tpc_begin()")
        await self._do(how if self._is_prepared else how + " unprepared", self.xid)
        self.xid = None

    async def _end_recovered(self, how: str, xid: Xid) -> None:
        """Run it outside any transaction. For MariaDB, autocommit off counts as one."""
        if self.xid is not None or self._connection.transaction_status != "idle":
            raise ProgrammingError("a transaction is open: end it first")
        is_on = self._connection._autocommit
        if not is_on:
            await self._connection._set_autocommit(True)
        try:
            await self._do(how, xid)
        finally:
            if not is_on:
                await self._connection._set_autocommit(False)

    async def recover(self) -> List[Xid]:
        dialect = self._dialect
        was_idle = self._connection.transaction_status == "idle"
        rows: List[Tuple[Any, ...]] = (await self._query(dialect.recover_sql))[0].fetch(-1)
        if was_idle and self._connection.transaction_status != "idle":
            await self._connection._run("rollback")
        return [dialect.read(row) for row in rows]
