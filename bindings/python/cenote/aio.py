# SPDX-License-Identifier: BSD-2-Clause
"""The same for asyncio.

    async with await cenote.aio.connect("cenote:///demo") as connection:
        async for row in await connection.execute("select %s", (42,)):
            print(row)

Several tasks may use a connection in turn. Cancelling a task that waits also cancels its statement. Only
looking up a host name blocks the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Iterable, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union

from . import _cenote
from ._errors import ERR_TIMEOUT, ProgrammingError, make_error
from ._logic import BaseConnection, BaseCursor, RowFactory, options_of
from ._tpc import Xid

T = TypeVar("T")

__all__ = ["Connection", "Cursor", "connect"]

# What cenote_wants() says.
WANTS_READ, WANTS_WRITE = 1, 2


async def _until_ready(session: _cenote.SessionType, read: bool = False, seconds: float = -1) -> None:
    """Wait until the session can continue, or there is something to read, or the time is up."""
    loop = asyncio.get_running_loop()
    woken = loop.create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    fd = session.number("fd")
    wants = WANTS_READ if read else session.number("wants")
    ms = session.number("wait_ms")
    if ms >= 0:
        seconds = min(ms / 1000, seconds) if seconds >= 0 else ms / 1000
    timer = loop.call_later(seconds, wake) if seconds >= 0 else None
    if wants & WANTS_READ and fd >= 0:
        loop.add_reader(fd, wake)
    if wants & WANTS_WRITE and fd >= 0:
        loop.add_writer(fd, wake)
    try:
        await woken
    finally:
        if timer:
            timer.cancel()
        if wants & WANTS_READ and fd >= 0:
            loop.remove_reader(fd)
        if wants & WANTS_WRITE and fd >= 0:
            loop.remove_writer(fd)


def _in_turn(method: Callable[..., Any]) -> Callable[..., Any]:
    """One call at a time on a connection, also from its cursors."""

    @functools.wraps(method)
    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        async with self._turn:
            return await method(self, *args, **kwargs)

    return call


class Cursor(BaseCursor):
    """Runs statements and returns their rows. It is also an asynchronous iterator over them."""

    def __init__(self, connection: Connection, batch_rows: int = 0) -> None:
        super().__init__(connection, batch_rows)
        self._turn = connection._turn

    async def __aenter__(self) -> Cursor:
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.close()

    def __aiter__(self) -> Cursor:
        return self

    async def __anext__(self) -> Any:
        async with self._turn:
            row = await self._fetchone()
        if row is None:
            raise StopAsyncIteration
        return self._made_one(row)

    def close(self) -> None:
        """Drop the rows. The connection stays open."""
        self._drop()
        self._is_closed = True

    @_in_turn
    async def execute(
        self, sql: str, params: Any = None, *, prepare: bool = False, max_rows: int = 0
    ) -> Cursor:
        """Run a statement: %s and %(name)s stand for the values of `params`. Returns the cursor.

        prepare   let the server find the parameters' types
        max_rows  end the result early
        """
        await self._execute(sql, params, prepare, max_rows)
        return self

    @_in_turn
    async def executemany(self, sql: str, rows: Iterable[Any]) -> Cursor:
        """Run it once for each row, in a pipeline. Outside a transaction, they form one of their own."""
        await self._executemany(sql, rows)
        return self

    @_in_turn
    async def callproc(self, name: str, parameters: Sequence[Any] = ()) -> Sequence[Any]:
        """Call a procedure. Its output values are a result of their own."""
        return await self._callproc(name, parameters)

    @_in_turn
    async def copy_in(self, sql: str, data: Union[bytes, Iterable[bytes]]) -> Cursor:
        """Send data for COPY … FROM STDIN and similar statements. Pieces may end anywhere."""
        await self._copy_in(sql, [data] if isinstance(data, (bytes, bytearray)) else data)
        return self

    async def copy_out(self, sql: str) -> AsyncIterator[bytes]:
        """Receive the data of COPY … TO STDOUT, in the server's pieces."""
        async with self._turn:
            await self._copy_out(sql)
            piece = await self._copied()
            while piece is not None:
                yield piece
                piece = await self._copied()

    @_in_turn
    async def catalog(self, kind: str, **filters: Optional[str]) -> Cursor:
        """List tables, columns and so on, with the same columns from every backend (docs/protocol.md, "Catalog")."""
        await self._catalog(kind, **filters)
        return self

    @_in_turn
    async def fetchone(self) -> Any:
        """The next row; None at the end."""
        return self._made_one(await self._fetchone())

    @_in_turn
    async def fetchmany(self, size: Optional[int] = None) -> List[Any]:
        """The next rows, at most `size` (default: `arraysize`). [] at the end."""
        return self._made(await self._fetchmany(size))

    @_in_turn
    async def fetchall(self) -> List[Any]:
        """All remaining rows."""
        return self._made(await self._fetchmany(-1))

    @_in_turn
    async def nextset(self) -> Optional[bool]:
        """Continue with the next result. None: there is none."""
        return await self._nextset()

    def scroll(self, value: int, mode: str = "relative") -> None:
        """Move by `value` rows, or (mode "absolute") to row `value`, from 0."""
        self._scroll(value, mode)


class Connection(BaseConnection):
    """A session borrowed from a pool. Several tasks may use it in turn."""

    def __init__(self, session: _cenote.SessionType) -> None:
        super().__init__(session)
        self._turn = asyncio.Lock()
        self._deadline: Optional[float] = None

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if self._is_closed:
            return
        try:
            if kind is None:
                await self.commit()
            elif self._tpc.xid is None:
                await self.rollback()
        finally:
            self.close()

    # ------------------------------------------------------------------------ waiting

    async def _ready(self) -> None:
        left = -1.0
        if self._deadline is not None:
            left = self._deadline - asyncio.get_running_loop().time()
            if left <= 0:
                raise make_error(ERR_TIMEOUT, "HYT00", 0, "no answer within query_timeout", None)
        await _until_ready(self._session, seconds=left)

    async def _call(self, function: Callable[..., T], *args: Any) -> T:
        ms = self._session.timeout_ms
        self._deadline = asyncio.get_running_loop().time() + ms / 1000 if ms else None
        return await super()._call(function, *args)

    async def _abandon(self) -> None:
        self._deadline = None
        await super()._abandon()

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(None, function)

    # ------------------------------------------------------------------------ the rest

    def close(self) -> None:
        """Give the session back. It never waits."""
        self._is_closed = True
        self._session.close()

    def cursor(self, *, batch_rows: int = 0) -> Cursor:
        """Make a cursor. With batch_rows, the server keeps the rows and sends that many at a time."""
        self._session.number("tx")  # raises if it is closed
        return Cursor(self, batch_rows)

    async def execute(self, sql: str, params: Any = None, **how: Any) -> Cursor:
        """Run a statement on a new cursor."""
        return await self.cursor().execute(sql, params, **how)

    @_in_turn
    async def commit(self) -> None:
        """Commit the open transaction, if there is one."""
        await self._end("commit")

    @_in_turn
    async def rollback(self) -> None:
        """Roll back the open transaction, if there is one."""
        await self._end("rollback")

    @_in_turn
    async def tpc_begin(self, xid: Xid) -> None:
        """Begin a transaction that ends in two steps."""
        await self._tpc.begin(xid)

    @_in_turn
    async def tpc_prepare(self) -> None:
        """Prepare the transaction: it can then be committed, whatever happens to this session."""
        await self._tpc.prepare()

    @_in_turn
    async def tpc_commit(self, xid: Optional[Xid] = None) -> None:
        """Commit a recovered transaction, or (without xid) this one. If it is not prepared, commit in one step."""
        await self._tpc.end("commit", xid)

    @_in_turn
    async def tpc_rollback(self, xid: Optional[Xid] = None) -> None:
        """Roll back a recovered transaction, or (without xid) this one."""
        await self._tpc.end("rollback", xid)

    @_in_turn
    async def tpc_recover(self) -> List[Xid]:
        """The prepared transactions at the server that have not ended."""
        return await self._tpc.recover()

    @_in_turn
    async def begin(
        self, isolation: Optional[str] = None, *, read_only: bool = False, immediate: bool = False
    ) -> None:
        """Begin a transaction. `isolation` is as in SQL; `immediate` takes SQLite's write lock at once."""
        await self._begin(isolation, read_only, immediate)

    @_in_turn
    async def savepoint(self, name: str) -> None:
        """Make a savepoint in the open transaction."""
        await self._run("savepoint", name)

    @_in_turn
    async def release(self, name: str) -> None:
        """Release a savepoint and keep the changes since then."""
        await self._run("release", name)

    @_in_turn
    async def rollback_to(self, name: str) -> None:
        """Undo the changes since a savepoint and keep the savepoint."""
        await self._run("rollback_to", name)

    @contextlib.asynccontextmanager
    async def transaction(self, **how: Any) -> AsyncIterator[Connection]:
        """Begin a transaction, or a savepoint within an open one."""
        nested = self.transaction_status != "idle"
        name = f"cenote_{next(_numbers)}"
        await (self.savepoint(name) if nested else self.begin(**how))
        try:
            yield self
        except BaseException:
            await (self.rollback_to(name) if nested else self.rollback())
            raise
        await (self.release(name) if nested else self.commit())

    @property
    def autocommit(self) -> bool:
        """Whether each statement is a transaction of its own. If off, the first statement begins a transaction."""
        return self._autocommit

    @_in_turn
    async def set_autocommit(self, on: bool) -> None:
        """Set whether each statement is a transaction of its own."""
        await self._set_autocommit(on)

    async def cancel(self) -> bool:
        """Cancel the statement that another task waits for. Returns whether there was one."""
        return await self._in_thread(self._session.cancel)

    @_in_turn
    async def ping(self) -> None:
        """Check that the session still answers. Raises an exception if not."""
        await self._run("ping")

    @_in_turn
    async def reset(self) -> None:
        """Reset the session to the state of a new login."""
        await self._run("reset")

    @_in_turn
    async def change_user(
        self, user: str, password: Optional[str] = None, database: Optional[str] = None
    ) -> None:
        """Log in as another user, if the pool allows it."""
        await self._run("change_user", user, password, database)

    @_in_turn
    async def select_database(self, name: str) -> None:
        """Switch the session to another database."""
        await self._run("select_database", name)

    @_in_turn
    async def set_session_option(self, name: str, value: str) -> None:
        """Set an option of the backend (docs/backends.md) for this session."""
        await self._run("session_option", name, value)

    @_in_turn
    async def set_option(self, name: str, value: Optional[str]) -> None:
        """Set an option of the handle. Most options can be set only in connect()."""
        await self._run("set", name, value)

    @_in_turn
    async def notifications(self, timeout: Optional[float] = 0) -> List[Tuple[int, str, str]]:
        """Yield (pid, channel, payload) of each notification. It waits up to `timeout` seconds for the first."""
        came = self._session.notifications()
        if not came and timeout != 0:
            await _until_ready(self._session, True, -1 if timeout is None else timeout)
            came = self._session.notifications()
        return came


_numbers = itertools.count(1)


async def connect(
    uri: Optional[str] = None,
    *,
    autocommit: bool = False,
    json_loads: Optional[Callable[[str], Any]] = None,
    row_factory: Optional[RowFactory] = None,
    session_options: Optional[Mapping[str, str]] = None,
    **options: Any,
) -> Connection:
    """As cenote.connect()."""
    if uri is None and "pool" not in options:
        raise ProgrammingError("no pool is named")
    connection = Connection(_cenote.Session(options_of(uri, options), True, json_loads))
    connection.row_factory = row_factory
    await connection._connect(autocommit, session_options or {})
    return connection
