# SPDX-License-Identifier: BSD-2-Clause
"""The dialects for SQLAlchemy's asynchronous engines, on cenote.aio."""

from __future__ import annotations

import types
from typing import Any

from sqlalchemy import pool
from sqlalchemy.connectors import asyncio as adapted

import cenote
import cenote.aio

from . import sqlalchemy as dialects


class _Cursor(adapted.AsyncAdapt_dbapi_cursor):
    __slots__ = ()


class _BatchCursor(adapted.AsyncAdapt_dbapi_ss_cursor):
    __slots__ = ()

    def _make_new_cursor(self, connection: Any) -> Any:
        return connection.cursor(batch_rows=dialects.BATCH_ROWS)

    def close(self) -> None:
        self._cursor.close()


class _Connection(adapted.AsyncAdapt_dbapi_connection):
    """A connection of cenote.aio whose calls wait in SQLAlchemy's way."""

    __slots__ = ()
    _cursor_cls = _Cursor
    _ss_cursor_cls = _BatchCursor

    def cursor(self, batch_rows: int = 0) -> Any:
        return super().cursor(server_side=batch_rows > 0)

    @property
    def autocommit(self) -> bool:
        return self._connection.autocommit

    @autocommit.setter
    def autocommit(self, on: bool) -> None:
        self.await_(self._connection.set_autocommit(on))

    def info(self, name: str) -> Any:
        return self._connection.info(name)

    def ping(self) -> None:
        self.await_(self._connection.ping())

    def close(self) -> None:
        self._connection.close()


def _connect(*args: Any, async_creator_fn: Any = cenote.aio.connect, **options: Any) -> _Connection:
    return _Connection(cenote, adapted.await_only(async_creator_fn(*args, **options)))


class _Async:
    """What the asynchronous dialects have in common."""

    is_async = True
    poolclass = pool.AsyncAdaptedQueuePool
    has_terminate = True
    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> Any:
        module = super().import_dbapi()  # type: ignore[misc]
        return types.SimpleNamespace(**{**vars(module), "connect": _connect})

    def get_driver_connection(self, connection: Any) -> cenote.aio.Connection:
        return connection._connection

    def do_terminate(self, dbapi_connection: Any) -> None:
        dbapi_connection.close()


class PostgreSQL(_Async, dialects.PostgreSQL):
    supports_statement_cache = True


class MySQL(_Async, dialects.MySQL):
    supports_statement_cache = True


class MariaDB(_Async, dialects.MariaDB):
    supports_statement_cache = True


class SQLite(_Async, dialects.SQLite):
    supports_statement_cache = True
