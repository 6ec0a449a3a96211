# SPDX-License-Identifier: BSD-2-Clause
"""What connections and cursors do, written once.

The methods that talk to the pool are coroutines. An asynchronous connection awaits them. In a
synchronous one every call of the session waits by itself. So they run to their end without a pause, and
`run()` is the only event loop that they need.
"""

from __future__ import annotations

import collections
import itertools
from typing import Any, Callable, Coroutine, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar

from . import _cenote, _errors
from ._errors import ERR_TIMEOUT, Error, InterfaceError, NotSupportedError, ProgrammingError
from ._sql import bind, convert, values_of
from ._tpc import TwoPhase, Xid, make_xid
from ._types import Type, parse_duration

T = TypeVar("T")

# enum cenote_result_kind
ROWS, COPY_IN, COPY_OUT = 1, 7, 8

ISOLATION = {
    None: 0,
    "read uncommitted": 1,
    "read committed": 2,
    "repeatable read": 3,
    "serializable": 4,
}
TRANSACTION = ("idle", "open", "failed", "unknown")
CATALOG = (
    "databases",
    "schemas",
    "tables",
    "columns",
    "primary_keys",
    "foreign_keys",
    "indexes",
    "types",
    "procedures",
    "procedure_columns",
    "table_privileges",
    "column_privileges",
)

# Rows of executemany() that are under way at a time.
PIPELINE = 200


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, and return its result."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("a synchronous session has waited for an event loop")


class Column(Tuple[Any, ...]):
    """One entry of `description`: the seven items of PEP 249, and more.

    native_type  the server's number of the type
    type_name    the server's name of the type; "" if unknown
    table        as the query names it; "" if unknown
    """

    native_type: Optional[int]
    type_name: str
    table: str

    def __new__(cls, told: Tuple[Any, ...]) -> Column:
        name, kind, length, precision, scale, nullable, native, type_name, table, _ = told
        null_ok = None if nullable == 2 else bool(nullable)
        column = super().__new__(cls, (name, kind, None, length, precision, scale, null_ok))
        column.native_type = native
        column.type_name = type_name
        column.table = table
        return column

    @property
    def name(self) -> str:
        """As the query named it."""
        return self[0]

    @property
    def type_code(self) -> Type:
        """A logical type of docs/types.md, which equals type objects of PEP 249."""
        return Type(self[1])


# Makes rows: called with the cursor for each result, it returns a function that converts a row.
RowFactory = Callable[["BaseCursor"], Callable[[Tuple[Any, ...]], Any]]


def dict_row(cursor: BaseCursor) -> Callable[[Tuple[Any, ...]], Any]:
    """A row_factory: rows are dicts by the columns' names."""
    names = [column.name for column in cursor.description or ()]
    return lambda row: dict(zip(names, row))


def namedtuple_row(cursor: BaseCursor) -> Callable[[Tuple[Any, ...]], Any]:
    """A row_factory: rows are named tuples. A column without a valid Python name is `_0`, `_1`, …."""
    names = [column.name for column in cursor.description or ()]
    return collections.namedtuple("Row", names, rename=True)._make


def options_of(uri: Optional[str], options: dict[str, Any]) -> List[Tuple[str, Optional[str]]]:
    """The options for the session: libcenote's options by name. None means that an option is not set."""
    said = [("uri", uri)] if uri is not None else []
    return said + [(name, str(value)) for name, value in options.items() if value is not None]


class BaseConnection:
    """What both kinds of connection have."""

    # As PEP 249 suggests, for programs with several drivers.
    Warning = _errors.Warning
    Error = _errors.Error
    InterfaceError = _errors.InterfaceError
    DatabaseError = _errors.DatabaseError
    DataError = _errors.DataError
    OperationalError = _errors.OperationalError
    IntegrityError = _errors.IntegrityError
    InternalError = _errors.InternalError
    ProgrammingError = _errors.ProgrammingError
    NotSupportedError = _errors.NotSupportedError

    def __init__(self, session: _cenote.SessionType) -> None:
        self._session = session
        self.row_factory: Optional[RowFactory] = None  # of its cursors, from here on
        self._backend = ""
        self._autocommit = True
        self._messages: List[Tuple[type, Exception]] = []
        self._is_closed = False
        self._tpc = TwoPhase(self)
        self._session.timeout_ms = parse_duration(session.fact("option", "query_timeout"))

    # ------------------------------------------------------------ talking to the pool

    async def _ready(self) -> None:
        raise AssertionError("a synchronous session does not wait here")

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return function()

    async def _call(self, function: Callable[..., T], *args: Any) -> T:
        """Make a call of the session, and repeat it until it need not wait."""
        try:
            while True:
                answer = function(*args)
                if answer is not _cenote.AGAIN:
                    return answer
                await self._ready()
        except BaseException as e:
            # a time limit, an exception of a signal handler such as Ctrl-C, or a cancelled task
            is_late = isinstance(e, Error) and e.status == ERR_TIMEOUT
            if is_late or not isinstance(e, Exception) or self._session.is_interrupted():
                await self._abandon()
            raise

    async def _abandon(self) -> None:
        """Cancel the running statement and drop its results, so that the connection can be used again."""
        try:
            await self._in_thread(self._session.cancel)
            while self._session.drain() is _cenote.AGAIN:
                await self._ready()
        except BaseException:
            self._session.close()
            self._is_closed = True
            raise

    async def _run(self, name: str, *args: Optional[str]) -> None:
        await self._call(self._session.run, name, *args)

    async def _end(self, name: str) -> None:
        if self._tpc.xid is not None:
            raise ProgrammingError("this transaction ends with tpc_commit() or tpc_rollback()")
        await self._run(name)

    async def _connect(self, autocommit: bool, session_options: Mapping[str, str]) -> None:
        for name, value in session_options.items():
            await self._run("session_option", name, value)
        await self._call(self._session.connect)
        self._backend = self._session.fact("info", "backend")
        if not autocommit:
            await self._set_autocommit(False)

    async def _set_autocommit(self, on: bool) -> None:
        await self._run("autocommit", "1" if on else "0")
        self._autocommit = bool(on)

    async def _begin(
        self, isolation: Optional[str] = None, read_only: bool = False, immediate: bool = False
    ) -> None:
        if isolation is not None:
            isolation = isolation.lower()
        if isolation not in ISOLATION:
            raise ProgrammingError(f"no isolation level is called {isolation}")
        await self._run("begin", str(ISOLATION[isolation]), str(read_only + 2 * immediate))

    def xid(self, format_id: int, global_transaction_id: str, branch_qualifier: str) -> Xid:
        """Make the name of a transaction for tpc_begin()."""
        return make_xid(format_id, global_transaction_id, branch_qualifier)

    # -------------------------------------------------------------------------- facts

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._is_closed

    @property
    def backend(self) -> str:
        """sqlite, postgresql or mysql."""
        return self._backend

    @property
    def transaction_status(self) -> str:
        """idle, open, failed or unknown, from the last reply."""
        return TRANSACTION[self._session.number("tx")]

    @property
    def pins(self) -> int:
        """What pins the session to this connection: bits of enum cenote_pin, from the last reply."""
        return self._session.number("pins")

    @property
    def messages(self) -> List[Tuple[type, Exception]]:
        """Notices of the server since the last statement, as (class, exception)."""
        if not self._is_closed:
            self._messages.extend((type(notice), notice) for notice in self._session.notices())
        return self._messages

    def info(self, name: str) -> Optional[str]:
        """A fact of the session: server, server_version, database, … (cenote_info())."""
        return self._session.fact("info", name)

    def parameter(self, name: str) -> Optional[str]:
        """A parameter that the server reports (cenote_parameter())."""
        return self._session.fact("parameter", name)

    def tls_info(self, name: str, *, server: bool = False) -> Optional[str]:
        """The TLS parameters between program and pool, or between pool and server (cenote_tls_info())."""
        return self._session.fact("server_tls" if server else "tls", name)

    def _clear_messages(self) -> None:
        self._session.notices()
        self._messages.clear()


class BaseCursor:
    """What both kinds of cursor have."""

    arraysize = 1

    def __init__(self, connection: BaseConnection, batch_rows: int = 0) -> None:
        self._connection = connection
        self._session = connection._session
        self.row_factory = connection.row_factory
        self._batch_rows = batch_rows
        self._is_closed = False
        self._forget()

    def _drop(self) -> None:
        """Drop the rows. The counts stay."""
        self._result: Optional[_cenote.Result] = None
        self._more: List[_cenote.Result] = []
        self._copy: Optional[_cenote.Result] = None  # the copy continues as long as its result exists
        self._is_streamed = False
        self._make_row: Optional[Callable[[Tuple[Any, ...]], Any]] = None

    def _forget(self) -> None:
        """As before the first statement."""
        self._drop()
        self._columns: Optional[List[Column]] = None
        self._rowcount = -1
        self._lastrowid: Optional[int] = None
        self._tag = ""
        self._n_before = 0  # rows of earlier batches

    # ------------------------------------------------------------------------ checks

    def _check(self) -> None:
        if self._is_closed:
            raise InterfaceError("the cursor is closed")
        if self._connection._is_closed:
            raise InterfaceError("the connection is closed")

    def _rows(self) -> _cenote.Result:
        """The result to fetch from."""
        result = self._result
        if result is None or self._is_closed:
            self._check()
            raise ProgrammingError("no statement was executed that gives rows")
        return result

    # -------------------------------------------------------------------- attributes

    @property
    def connection(self) -> Any:
        """The connection of this cursor."""
        return self._connection

    @property
    def description(self) -> Optional[List[Column]]:
        """A Column for each column of the result; None: the statement returns no rows."""
        if self._columns is None and self._result is not None:
            self._columns = [Column(told) for told in self._result.columns()]
        return self._columns

    @property
    def rowcount(self) -> int:
        """The number of rows that were changed or returned; -1: not known (yet)."""
        return self._rowcount

    @property
    def rownumber(self) -> Optional[int]:
        """The index of the next row."""
        if self._result is None:
            return None
        return self._n_before + self._result.position

    @property
    def lastrowid(self) -> Optional[int]:
        """The number that the server generated for the last inserted row; None: it generated none."""
        return self._lastrowid

    @property
    def tag(self) -> str:
        """The server's command tag ("INSERT 0 3"); "" if it has none."""
        return self._tag

    @property
    def messages(self) -> List[Tuple[type, Exception]]:
        """Notices of the server since the last statement, as (class, exception)."""
        return self._connection.messages

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._is_closed

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Required by PEP 249. It does nothing, since values need no sizes."""

    def setoutputsize(self, size: int, column: Optional[int] = None) -> None:
        """Required by PEP 249. It does nothing, since values are always complete."""

    # --------------------------------------------------------------------- executing

    def _begin(self) -> None:
        self._check()
        self._forget()
        self._connection._clear_messages()

    def _show(self, result: _cenote.Result) -> None:
        """Make this the result for the fetch methods."""
        affected = result.affected_rows
        has_rows = result.n_columns > 0
        self._columns = None
        self._make_row = None
        self._result = result if has_rows else None
        self._rowcount = affected if affected >= 0 or not has_rows else result.n_rows
        self._lastrowid = result.last_insert_id or None
        self._tag = result.tag

    async def _take(self, results: List[_cenote.Result]) -> None:
        if results and results[-1].kind in (COPY_IN, COPY_OUT):
            results.clear()  # ends the copy without its data
            try:
                await self._connection._call(self._session.results)
            except Error:
                pass  # the result that says so
            raise ProgrammingError("the statement copies: use copy_in() or copy_out()")
        if results:
            self._show(results[0])
            self._more = results[1:]

    async def _execute(
        self, sql: str, params: Any = None, prepare: bool = False, max_rows: int = 0
    ) -> None:
        self._begin()
        request, values = bind(sql, params, self._connection._backend)
        if prepare:
            request, values = await self._prepare(request), values or ()
        if self._batch_rows:
            await self._stream(request, values, max_rows)
            return
        results = await self._connection._call(self._session.query, request, values, max_rows)
        await self._take(results)

    async def _prepare(self, native: bytes) -> _cenote.Statement:
        statement = self._session.statement(native)
        await self._connection._call(statement.prepare)
        return statement

    async def _stream(self, request: Any, values: Any, max_rows: int) -> None:
        call = self._connection._call
        await call(self._session.send, request, values, True, self._batch_rows, max_rows)
        self._more = await self._following()
        await self._nextset()

    async def _following(self) -> List[_cenote.Result]:
        """The next result of a request whose results arrive one by one."""
        result = await self._connection._call(self._session.result)
        return [] if result is None else [result]

    async def _show_streamed(self, result: _cenote.Result) -> None:
        if result.kind != ROWS:
            await self._take([result])
            self._more = await self._following()
            return
        self._is_streamed = True
        self._rowcount = -1
        self._columns = [Column(told) for told in result.columns()]
        self._make_row = None
        self._result = result

    async def _next_batch(self, result: _cenote.Result) -> bool:
        """Whether a streamed result has another batch."""
        if not self._is_streamed:
            return False
        self._n_before += result.n_rows
        if await self._connection._call(result.next):
            return True
        self._is_streamed = False
        self._rowcount = self._n_before if result.affected_rows < 0 else result.affected_rows
        self._lastrowid = result.last_insert_id or None
        self._tag = result.tag
        self._more = await self._following()
        return False

    # ----------------------------------------------------------------- many at a time

    async def _executemany(self, sql: str, rows: Iterable[Any]) -> None:
        self._begin()
        native, names = convert(sql, self._connection._backend)
        values = (values_of(row, names) for row in rows)
        self._rowcount = 0
        first = next(values, None)
        if first is None:
            return
        statement = await self._prepare(native)
        await self._connection._run("pipeline_begin")
        try:
            await self._send_all(statement, itertools.chain((first,), values))
        finally:
            await self._connection._run("pipeline_end")

    async def _send_all(self, statement: _cenote.Statement, values: Iterator[Sequence[Any]]) -> None:
        call = self._connection._call
        n_sent = 0
        try:
            while True:
                for row in itertools.islice(values, PIPELINE):
                    await call(self._session.send, statement, row, False, 0, 0)
                    n_sent += 1
                if n_sent == 0:
                    return
                await self._connection._run("flush")
                while n_sent > 0:
                    n_sent -= 1
                    self._count(await call(self._session.results))
        except BaseException:
            self._rowcount = -1
            await self._skip(n_sent)
            raise

    async def _skip(self, n_sent: int) -> None:
        """Take the answers to the requests after one that failed."""
        for _ in range(n_sent):
            try:
                await self._connection._call(self._session.results)
            except Error:
                pass

    def _count(self, results: List[_cenote.Result]) -> None:
        for result in results:
            if result.affected_rows > 0:
                self._rowcount += result.affected_rows
            self._lastrowid = result.last_insert_id or self._lastrowid

    # --------------------------------------------------------------------- procedures

    async def _callproc(self, name: str, parameters: Sequence[Any] = ()) -> Sequence[Any]:
        marks = ", ".join(["%s"] * len(parameters))
        backend = self._connection._backend
        if backend == "sqlite":
            raise NotSupportedError("SQLite has no procedures")
        how = "call" if backend == "mysql" else "select * from"
        await self._execute(f"{how} {name}({marks})", tuple(parameters))
        return list(parameters)

    # ------------------------------------------------------------------------- copies

    async def _copy_in(self, sql: str, pieces: Iterable[bytes]) -> None:
        self._begin()
        connection = self._connection
        results = await connection._call(self._session.query, sql.encode(), None, 0)
        if not results or results[-1].kind != COPY_IN:
            raise ProgrammingError("the statement does not take data")
        try:
            for piece in pieces:
                if not await connection._call(self._session.copy_put, bytes(piece)):
                    break
        except Exception as e:
            await connection._call(self._session.copy_end, str(e) or type(e).__name__)
            await self._skip(1)
            raise
        await connection._call(self._session.copy_end, None)
        await self._take(await connection._call(self._session.results))

    async def _copy_out(self, sql: str) -> None:
        self._begin()
        results = await self._connection._call(self._session.query, sql.encode(), None, 0)
        if not results or results[-1].kind != COPY_OUT:
            raise ProgrammingError("the statement does not give data")
        self._copy = results[-1]

    async def _copied(self) -> Optional[bytes]:
        """A piece; None at the end."""
        piece = await self._connection._call(self._session.copy_get)
        if piece is None:
            self._copy = None
            await self._take(await self._connection._call(self._session.results))
        return piece

    # ------------------------------------------------------------------------- catalog

    async def _catalog(
        self,
        kind: str,
        catalog: Optional[str] = None,
        schema: Optional[str] = None,
        object: Optional[str] = None,
        column: Optional[str] = None,
        types: Optional[str] = None,
    ) -> None:
        self._begin()
        if kind not in CATALOG:
            raise ProgrammingError(f"the catalog has no {kind}: it has {', '.join(CATALOG)}")
        call = self._connection._call
        await call(
            self._session.catalog, CATALOG.index(kind) + 1, catalog, schema, object, column, types
        )
        await self._take(await call(self._session.results))

    # ------------------------------------------------------------------------ fetching

    def _made(self, rows: List[Tuple[Any, ...]]) -> List[Any]:
        """Apply the program's row_factory to the rows."""
        if self.row_factory is None or not rows:
            return rows
        if self._make_row is None:
            self._make_row = self.row_factory(self)
        return list(map(self._make_row, rows))

    def _made_one(self, row: Optional[Tuple[Any, ...]]) -> Any:
        return row if row is None or self.row_factory is None else self._made([row])[0]

    async def _fetchone(self) -> Optional[Tuple[Any, ...]]:
        result = self._rows()
        row = result.one()
        while row is None and await self._next_batch(result):
            row = result.one()
        return row

    async def _fetchmany(self, size: Optional[int] = None) -> List[Tuple[Any, ...]]:
        result = self._rows()
        if size is None:
            size = self.arraysize
        rows = result.fetch(size)
        while 0 <= len(rows) != size and await self._next_batch(result):
            rows += result.fetch(size - len(rows) if size >= 0 else -1)
        return rows

    async def _nextset(self) -> Optional[bool]:
        self._check()
        if self._is_streamed and self._result is not None:
            while await self._next_batch(self._result):
                pass
        if not self._more:
            return None
        result = self._more.pop(0)
        self._n_before = 0
        if self._batch_rows:
            await self._show_streamed(result)
        else:
            self._show(result)
        return True

    def _scroll(self, value: int, mode: str = "relative") -> None:
        result = self._rows()
        if mode not in ("relative", "absolute"):
            raise ProgrammingError("the mode is relative or absolute")
        if self._batch_rows:
            raise NotSupportedError("rows that come in batches go forward only")
        to = value + result.position if mode == "relative" else value
        if not 0 <= to <= result.n_rows:
            raise IndexError(f"row {to} of {result.n_rows}")
        result.position = to
