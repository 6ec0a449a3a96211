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
    """Runs statements and returns their rows. It is also an iterator over them."""

    def _in_turn(self, method: Callable[..., Coroutine[Any, Any, T]], *args: Any, **kwargs: Any) -> T:
        """Keep other threads out during all calls of a method."""
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
        """Drop the rows. The connection stays open."""
        self._drop()
        self._is_closed = True

    def execute(
        self, sql: str, params: Any = None, *, prepare: bool = False, max_rows: int = 0
    ) -> Cursor:
        """Run a statement: %s and %(name)s stand for the values of `params`. Returns the cursor.

        prepare   let the server find the parameters' types
        max_rows  end the result early
        """
        self._in_turn(self._execute, sql, params, prepare, max_rows)
        return self

    def executemany(self, sql: str, rows: Iterable[Any]) -> Cursor:
        """Run it once for each row, in a pipeline. Outside a transaction, they form one of their own."""
        self._in_turn(self._executemany, sql, rows)
        return self

    def callproc(self, name: str, parameters: Sequence[Any] = ()) -> Sequence[Any]:
        """Call a procedure. Its output values are a result of their own."""
        return self._in_turn(self._callproc, name, parameters)

    def copy_in(self, sql: str, data: Union[bytes, Iterable[bytes]]) -> Cursor:
        """Send data for COPY … FROM STDIN and similar statements. Pieces may end anywhere."""
        self._in_turn(self._copy_in, sql, [data] if isinstance(data, (bytes, bytearray)) else data)
        return self

    def copy_out(self, sql: str) -> Iterator[bytes]:
        """Receive the data of COPY … TO STDOUT, in the server's pieces."""
        self._in_turn(self._copy_out, sql)
        return iter(lambda: self._in_turn(self._copied), None)

    def catalog(self, kind: str, **filters: Optional[str]) -> Cursor:
        """List tables, columns and so on, with the same columns from every backend (docs/protocol.md, "Catalog")."""
        self._in_turn(self._catalog, kind, **filters)
        return self

    # Only rows that have not arrived need a coroutine.

    def _one(self) -> Optional[Tuple[Any, ...]]:
        return self._in_turn(self._fetchone) if self._is_streamed else self._rows().one()

    def fetchone(self) -> Any:
        """The next row; None at the end."""
        return self._made_one(self._one())

    def fetchmany(self, size: Optional[int] = None) -> List[Any]:
        """The next rows, at most `size` (default: `arraysize`). [] at the end."""
        if size is None:
            size = self.arraysize
        if self._is_streamed:
            return self._made(self._in_turn(self._fetchmany, size))
        return self._made(self._rows().fetch(size))

    def fetchall(self) -> List[Any]:
        """All remaining rows."""
        return self.fetchmany(-1)

    def nextset(self) -> Optional[bool]:
        """Continue with the next result. None: there is none."""
        return self._in_turn(self._nextset)

    def scroll(self, value: int, mode: str = "relative") -> None:
        """Move by `value` rows, or (mode "absolute") to row `value`, from 0."""
        self._scroll(value, mode)


class Connection(BaseConnection):
    """A session borrowed from a pool. Several threads may use it in turn."""

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        """Commit, or roll back after an exception. Then give the session back."""
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
        """Give the session back. This rolls an open transaction back."""
        self._is_closed = True
        self._session.close()

    def cursor(self, *, batch_rows: int = 0) -> Cursor:
        """Make a cursor. With batch_rows, the server keeps the rows and sends that many at a time."""
        self._session.number("tx")  # raises if it is closed
        return Cursor(self, batch_rows)

    def execute(self, sql: str, params: Any = None, **how: Any) -> Cursor:
        """Run a statement on a new cursor."""
        return self.cursor().execute(sql, params, **how)

    def commit(self) -> None:
        """Commit the open transaction, if there is one."""
        run(self._end("commit"))

    def rollback(self) -> None:
        """Roll back the open transaction, if there is one."""
        run(self._end("rollback"))

    def _in_turn(self, method: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        with self._session:
            return run(method(*args))

    def tpc_begin(self, xid: Xid) -> None:
        """Begin a transaction that ends in two steps."""
        self._in_turn(self._tpc.begin, xid)

    def tpc_prepare(self) -> None:
        """Prepare the transaction: it can then be committed, whatever happens to this session."""
        self._in_turn(self._tpc.prepare)

    def tpc_commit(self, xid: Optional[Xid] = None) -> None:
        """Commit a recovered transaction, or (without xid) this one. If it is not prepared, commit in one step."""
        self._in_turn(self._tpc.end, "commit", xid)

    def tpc_rollback(self, xid: Optional[Xid] = None) -> None:
        """Roll back a recovered transaction, or (without xid) this one."""
        self._in_turn(self._tpc.end, "rollback", xid)

    def tpc_recover(self) -> List[Xid]:
        """The prepared transactions at the server that have not ended."""
        return self._in_turn(self._tpc.recover)

    def begin(
        self, isolation: Optional[str] = None, *, read_only: bool = False, immediate: bool = False
    ) -> None:
        """Begin a transaction. `isolation` is as in SQL; `immediate` takes SQLite's write lock at once."""
        run(self._begin(isolation, read_only, immediate))

    def savepoint(self, name: str) -> None:
        """Make a savepoint in the open transaction."""
        run(self._run("savepoint", name))

    def release(self, name: str) -> None:
        """Release a savepoint and keep the changes since then."""
        run(self._run("release", name))

    def rollback_to(self, name: str) -> None:
        """Undo the changes since a savepoint and keep the savepoint."""
        run(self._run("rollback_to", name))

    @contextlib.contextmanager
    def transaction(self, **how: Any) -> Iterator[Connection]:
        """Begin a transaction, or a savepoint within an open one."""
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
        """Whether each statement is a transaction of its own. If off, the first statement begins a transaction."""
        return self._autocommit

    @autocommit.setter
    def autocommit(self, on: bool) -> None:
        run(self._set_autocommit(on))

    def cancel(self) -> bool:
        """Cancel the running statement, from another thread. Returns whether there was one."""
        return self._session.cancel()

    def ping(self) -> None:
        """Check that the session still answers. Raises an exception if not."""
        run(self._run("ping"))

    def reset(self) -> None:
        """Reset the session to the state of a new login."""
        run(self._run("reset"))

    def change_user(
        self, user: str, password: Optional[str] = None, database: Optional[str] = None
    ) -> None:
        """Log in as another user, if the pool allows it."""
        run(self._run("change_user", user, password, database))

    def select_database(self, name: str) -> None:
        """Switch the session to another database."""
        run(self._run("select_database", name))

    def set_session_option(self, name: str, value: str) -> None:
        """Set an option of the backend (docs/backends.md) for this session."""
        run(self._run("session_option", name, value))

    def set_option(self, name: str, value: Optional[str]) -> None:
        """Set an option of the handle. Most options can be set only in connect()."""
        run(self._run("set", name, value))

    def notifications(self, timeout: Optional[float] = 0) -> List[Tuple[int, str, str]]:
        """Yield (pid, channel, payload) of each notification. It waits up to `timeout` seconds for the first."""
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
    autocommit  off, as PEP 249 requires: the first statement begins a transaction
    json_loads  a function for JSON values, such as json.loads; without it they are text
    row_factory  converts rows from tuples, such as cenote.dict_row
    session_options  options of the backend (docs/backends.md)
    options     options of libcenote, by name (cenote_conn_set())
    """
    if uri is None and "pool" not in options:
        raise ProgrammingError("no pool is named")
    connection = Connection(_cenote.Session(options_of(uri, options), False, json_loads))
    connection.row_factory = row_factory
    run(connection._connect(autocommit, session_options or {}))
    return connection
