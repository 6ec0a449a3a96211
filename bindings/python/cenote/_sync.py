# SPDX-License-Identifier: BSD-2-Clause
"""Connections and cursors as PEP 249 has them."""

from __future__ import annotations

import contextlib
import itertools
from types import TracebackType
from typing import Any, Callable, Coroutine, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union

from . import _cenote
from ._errors import ProgrammingError
from ._logic import BaseConnection, BaseCursor, RowFactory, options_of, run
from ._tpc import Xid

T = TypeVar("T")


class Cursor(BaseCursor):
    """Runs statements and gives their rows; also an iterator of them."""

    def _in_turn(self, method: Callable[..., Coroutine[Any, Any, T]], *args: Any, **kwargs: Any) -> T:
        """All calls of one method, without another thread's among them."""
        with self._session:
            return run(method(*args, **kwargs))

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __iter__(self) -> Cursor:
        return self

    def __next__(self) -> Any:
        """The next row."""
        row = self._one()
        if row is None:
            raise StopIteration
        return self._made_one(row)

    next = __next__

    def close(self) -> None:
        """Let go of the rows. The connection stays open."""
        self._drop()
        self._is_closed = True

    def execute(
        self, sql: str, params: Any = None, *, prepare: bool = False, max_rows: int = 0
    ) -> Cursor:
        """Run a statement: %s and %(name)s stand for the values of `params`. Gives the cursor.

        prepare   the server finds out the parameters' types
        max_rows  end the result early
        """
        self._in_turn(self._execute, sql, params, prepare, max_rows)
        return self

    def executemany(self, sql: str, rows: Iterable[Any]) -> Cursor:
        """Once for each row, in a pipeline: outside of a transaction they are one of their own."""
        self._in_turn(self._executemany, sql, rows)
        return self

    def callproc(self, name: str, parameters: Sequence[Any] = ()) -> Sequence[Any]:
        """Output values are a result of their own."""
        return self._in_turn(self._callproc, name, parameters)

    def copy_in(self, sql: str, data: Union[bytes, Iterable[bytes]]) -> Cursor:
        """COPY … FROM STDIN and its like: pieces may be cut anywhere."""
        self._in_turn(self._copy_in, sql, [data] if isinstance(data, (bytes, bytearray)) else data)
        return self

    def copy_out(self, sql: str) -> Iterator[bytes]:
        """COPY … TO STDOUT: the pieces as the server cuts them."""
        self._in_turn(self._copy_out, sql)
        return iter(lambda: self._in_turn(self._copied), None)

    def catalog(self, kind: str, **filters: Optional[str]) -> Cursor:
        """Tables, columns, …: the same columns from every backend (docs/protocol.md, "Catalog")."""
        self._in_turn(self._catalog, kind, **filters)
        return self

    # Only rows that are still to come need a coroutine.

    def _one(self) -> Optional[Tuple[Any, ...]]:
        return self._in_turn(self._fetchone) if self._is_streamed else self._rows().one()

    def fetchone(self) -> Any:
        """The next row; None if there is none."""
        return self._made_one(self._one())

    def fetchmany(self, size: Optional[int] = None) -> List[Any]:
        """The next rows, at most so many; `arraysize` if it is not said. [] at the end."""
        if size is None:
            size = self.arraysize
        if self._is_streamed:
            return self._made(self._in_turn(self._fetchmany, size))
        return self._made(self._rows().fetch(size))

    def fetchall(self) -> List[Any]:
        """All rows that are left."""
        return self.fetchmany(-1)

    def nextset(self) -> Optional[bool]:
        """Go on to the next result of the statements. None if there is none."""
        return self._in_turn(self._nextset)

    def scroll(self, value: int, mode: str = "relative") -> None:
        """Move among the rows: `value` rows on, or (mode "absolute") to that one, from 0."""
        self._scroll(value, mode)


class Connection(BaseConnection):
    """A session on loan from a pool. Several threads may use it; they take turns."""

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        """Commit, or roll back after an exception; then give the session back."""
        if self._is_closed:
            return
        try:
            if kind is None:
                self.commit()
            elif self._tpc.xid is None:
                self.rollback()
        finally:
            self.close()

    def close(self) -> None:
        """Give the session back; what was not committed is rolled back."""
        self._is_closed = True
        self._session.close()

    def cursor(self, *, batch_rows: int = 0) -> Cursor:
        """With batch_rows the server keeps the rows, and gives so many at a time."""
        self._session.number("tx")  # raises if it is closed
        return Cursor(self, batch_rows)

    def execute(self, sql: str, params: Any = None, **how: Any) -> Cursor:
        """On a cursor of its own."""
        return self.cursor().execute(sql, params, **how)

    def commit(self) -> None:
        """Commit the transaction that is open; nothing if none is."""
        run(self._end("commit"))

    def rollback(self) -> None:
        """Roll back the transaction that is open; nothing if none is."""
        run(self._end("rollback"))

    def _in_turn(self, method: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        with self._session:
            return run(method(*args))

    def tpc_begin(self, xid: Xid) -> None:
        """Begin a transaction that ends in two steps."""
        self._in_turn(self._tpc.begin, xid)

    def tpc_prepare(self) -> None:
        """From here on it can be committed, whatever happens to this session."""
        self._in_turn(self._tpc.prepare)

    def tpc_commit(self, xid: Optional[Xid] = None) -> None:
        """Of a recovered transaction, or (without xid) this one; in one step if it is not prepared."""
        self._in_turn(self._tpc.end, "commit", xid)

    def tpc_rollback(self, xid: Optional[Xid] = None) -> None:
        """Of a recovered transaction, or (without xid) this one."""
        self._in_turn(self._tpc.end, "rollback", xid)

    def tpc_recover(self) -> List[Xid]:
        """What is prepared at the server, and waits to be ended."""
        return self._in_turn(self._tpc.recover)

    def begin(
        self, isolation: Optional[str] = None, *, read_only: bool = False, immediate: bool = False
    ) -> None:
        """Begin one: `isolation` as SQL names it; `immediate` takes SQLite's lock for writing at once."""
        run(self._begin(isolation, read_only, immediate))

    def savepoint(self, name: str) -> None:
        """Make a savepoint in the transaction that is open."""
        run(self._run("savepoint", name))

    def release(self, name: str) -> None:
        """Let go of a savepoint; what was done since stays."""
        run(self._run("release", name))

    def rollback_to(self, name: str) -> None:
        """Undo what was done since a savepoint, which stays."""
        run(self._run("rollback_to", name))

    @contextlib.contextmanager
    def transaction(self, **how: Any) -> Iterator[Connection]:
        """A transaction of its own; within another one, a savepoint."""
        nested = self.transaction_status != "idle"
        name = f"cenote_{next(_numbers)}"
        run(self._run("savepoint", name)) if nested else self.begin(**how)
        try:
            yield self
        except BaseException:
            self.rollback_to(name) if nested else self.rollback()
            raise
        self.release(name) if nested else self.commit()

    @property
    def autocommit(self) -> bool:
        """Whether each statement is a transaction of its own. Off, the first one begins a transaction."""
        return self._autocommit

    @autocommit.setter
    def autocommit(self, on: bool) -> None:
        run(self._set_autocommit(on))

    def cancel(self) -> bool:
        """Cancel the statement that runs, from another thread. Whether there was one."""
        return self._session.cancel()

    def ping(self) -> None:
        """Ask the session for a sign of life; an exception if there is none."""
        run(self._run("ping"))

    def reset(self) -> None:
        """Make the session as fresh as a new login."""
        run(self._run("reset"))

    def change_user(
        self, user: str, password: Optional[str] = None, database: Optional[str] = None
    ) -> None:
        """Log the session in as another user, as the pool lets its clients."""
        run(self._run("change_user", user, password, database))

    def select_database(self, name: str) -> None:
        """Make another database the session's own."""
        run(self._run("select_database", name))

    def set_session_option(self, name: str, value: str) -> None:
        """An option of the backend's (docs/backends.md), from here on."""
        run(self._run("session_option", name, value))

    def set_option(self, name: str, value: Optional[str]) -> None:
        """An option of the handle; most can be set only in connect()."""
        run(self._run("set", name, value))

    def notifications(self, timeout: Optional[float] = 0) -> List[Tuple[int, str, str]]:
        """(pid, channel, payload) of each that came; waits for the first, at most so many seconds."""
        return self._session.wait_notifications(-1 if timeout is None else int(timeout * 1000))


_numbers = itertools.count(1)


def connect(
    uri: Optional[str] = None,
    *,
    autocommit: bool = False,
    json_loads: Optional[Callable[[str], Any]] = None,
    row_factory: Optional[RowFactory] = None,
    session_options: Optional[Mapping[str, str]] = None,
    **options: Any,
) -> Connection:
    """Borrow a session: `connect("cenote:///demo")`, `connect(pool="demo", host="db.example")`.

    uri         a pool's name or a URI with options (cenote_conn_set_uri())
    autocommit  off, as PEP 249 wants it: the first statement begins a transaction
    json_loads  what JSON values are given to, such as json.loads; without it they are text
    row_factory  what makes something else of rows than tuples, such as cenote.dict_row
    session_options  the backend's own (docs/backends.md)
    options     libcenote's, by their names (cenote_conn_set())
    """
    if uri is None and "pool" not in options:
        raise ProgrammingError("no pool is named")
    connection = Connection(_cenote.Session(options_of(uri, options), False, json_loads))
    connection.row_factory = row_factory
    run(connection._connect(autocommit, session_options or {}))
    return connection
