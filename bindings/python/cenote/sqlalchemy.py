# SPDX-License-Identifier: BSD-2-Clause
"""SQLAlchemy's dialects on a pool.

cenote://POOL asks the pool for its server; cenote+postgresql://, cenote+mysql:// and cenote+sqlite:// name it.
Each is SQLAlchemy's own dialect for that server, with this driver:

    create_engine("cenote+postgresql:///demo")                # a pool of this machine
    create_engine("cenote+mysql://user:password@host/demo?tls=verify-full")
    create_async_engine("cenote:///demo")
"""

from __future__ import annotations

import datetime
import decimal
import types
import uuid
from typing import Any, Dict, List, Optional, Tuple

from sqlalchemy import types as sqltypes
from sqlalchemy.dialects.mysql import base as mysql
from sqlalchemy.dialects.mysql import mariadb
from sqlalchemy.dialects.postgresql import base as postgresql
from sqlalchemy.dialects.postgresql import json, pg_catalog, ranges
from sqlalchemy.dialects.sqlite import base as sqlite
from sqlalchemy.engine import processors
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.url import URL

import cenote

from ._types import read_ranges, read_timestamp


def _options(url: URL) -> Dict[str, Any]:
    """What connect() is called with."""
    options = dict(url.query)
    options.update(pool=url.database, host=url.host, port=url.port, user=url.username)
    options["password"] = url.password
    return {name: value for name, value in options.items() if value is not None}


# How many rows stream_results takes from the server at a time.
BATCH_ROWS = 1000


class _Batches:
    """Rows of stream_results stay at the server until they are fetched."""

    def create_server_side_cursor(self) -> Any:
        return self._dbapi_connection.cursor(batch_rows=BATCH_ROWS)  # type: ignore[attr-defined]


class _Cenote(DefaultDialect):
    """What the dialects have in common."""

    driver = "cenote"
    default_paramstyle = "pyformat"
    supports_native_decimal = True
    supports_server_side_cursors = True
    supports_statement_cache = True

    @classmethod
    def get_async_dialect_cls(cls, url: URL) -> type:
        """The same for create_async_engine()."""
        from . import _sqlalchemy_aio

        return getattr(_sqlalchemy_aio, cls.get_dialect_cls(url).__name__)

    @classmethod
    def import_dbapi(cls) -> Any:
        return cenote

    def create_connect_args(self, url: URL) -> Tuple[List[Any], Dict[str, Any]]:
        return [], _options(url)

    def is_disconnect(self, e: Exception, connection: Any, cursor: Any) -> bool:
        # enum cenote_status: from this value on, the session is lost
        return isinstance(e, cenote.InterfaceError) or getattr(e, "status", 0) <= -100

    def do_ping(self, dbapi_connection: cenote.Connection) -> bool:
        dbapi_connection.ping()
        return True

    def do_execute(self, cursor: Any, statement: str, parameters: Any, context: Any = None) -> None:
        if parameters:
            cursor.execute(statement, parameters)
        else:
            # parameters would need a prepared statement, but some statements cannot be prepared
            cursor.execute(statement % ())

    def get_isolation_level_values(self, dbapi_connection: Any) -> List[str]:
        return [*super().get_isolation_level_values(dbapi_connection), "AUTOCOMMIT"]

    def set_isolation_level(self, dbapi_connection: cenote.Connection, level: str) -> None:
        dbapi_connection.autocommit = level == "AUTOCOMMIT"
        if level != "AUTOCOMMIT":
            super().set_isolation_level(dbapi_connection, level)

    def detect_autocommit_setting(self, dbapi_connection: cenote.Connection) -> bool:
        return dbapi_connection.autocommit


# ------------------------------------------------------------------------ PostgreSQL


class _PgString(sqltypes.String):
    render_bind_cast = True  # if nothing else says that a parameter is text


class _PgDate(sqltypes.Date):
    render_bind_cast = True  # of NULL, too


class _PgTime(sqltypes.Time):
    render_bind_cast = True


class _PgTimestamp(sqltypes.DateTime):
    render_bind_cast = True


class _PgInt2Vector(pg_catalog._SpaceVector, pg_catalog.INT2VECTOR):
    pass


class _PgOidVector(pg_catalog._SpaceVector, pg_catalog.OIDVECTOR):
    pass


class _PgJson(json.JSON):
    render_bind_cast = True


class _PgJsonb(json.JSONB):
    render_bind_cast = True


# How to read bounds, by the name of the range type without its suffix.
_BOUNDS = {
    "INT4": int,
    "INT8": int,
    "NUM": decimal.Decimal,
    "DATE": datetime.date.fromisoformat,
    "TS": read_timestamp,
    "TSTZ": read_timestamp,
}


def _read_ranges(kind: Any, text: str) -> List[Any]:
    name = kind.__visit_name__.replace("MULTIRANGE", "").replace("RANGE", "")
    return [ranges.Range(*one[:2], bounds=one.bounds) for one in read_ranges(text, _BOUNDS.get(name, str))]


class _PgRange(ranges.AbstractSingleRangeImpl):  # type: ignore[type-arg]
    def bind_processor(self, dialect: Any) -> Any:
        return lambda value: None if value is None else str(value)

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        def process(text: Optional[str]) -> Any:
            if text is None:
                return None
            return ranges.Range(empty=True) if text == "empty" else _read_ranges(self, text)[0]

        return process


class _PgMultiRange(ranges.AbstractMultiRangeImpl):  # type: ignore[type-arg]
    def bind_processor(self, dialect: Any) -> Any:
        def process(value: Any) -> Optional[str]:
            if value is None or isinstance(value, str):
                return value
            return "{" + ",".join(map(str, value)) + "}"

        return process

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        return lambda text: None if text is None else ranges.MultiRange(_read_ranges(self, text))


class _PgContext(_Batches, postgresql.PGExecutionContext):
    pass


class PostgreSQL(_Cenote, postgresql.PGDialect):
    execution_ctx_cls = _PgContext
    supports_statement_cache = True
    supports_sane_multi_rowcount = True
    colspecs = {
        **postgresql.PGDialect.colspecs,
        pg_catalog.INT2VECTOR: _PgInt2Vector,
        pg_catalog.OIDVECTOR: _PgOidVector,
        ranges.AbstractMultiRange: _PgMultiRange,
        ranges.AbstractSingleRange: _PgRange,
        sqltypes.Date: _PgDate,
        sqltypes.DateTime: _PgTimestamp,
        sqltypes.Time: _PgTime,
        sqltypes.String: _PgString,
        sqltypes.JSON: _PgJson,
        json.JSON: _PgJson,
        json.JSONB: _PgJsonb,
    }


# --------------------------------------------------------------- MySQL and MariaDB


class _MyTime(mysql.TIME):
    """The driver uses Python's own type."""

    def bind_processor(self, dialect: Any) -> None:
        return None

    def result_processor(self, dialect: Any, coltype: Any) -> None:
        return None


class _MyBit(mysql.BIT):
    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        """One bit is a boolean, more are bytes."""

        def number(value: Any) -> Optional[int]:
            return int.from_bytes(value, "big") if isinstance(value, bytes) else value and int(value)

        return number


class _MyUuid(sqltypes.Uuid):  # type: ignore[type-arg]
    """A query of a UUID column returns UUIDs already; anything else returns text (docs/types.md)."""

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        of_text = super().result_processor(dialect, coltype)

        def process(value: Any) -> Any:
            if isinstance(value, uuid.UUID):
                return value if self.as_uuid else str(value)
            return of_text(value) if of_text else value

        return process


_MY_TYPES = {sqltypes.Time: _MyTime, mysql.TIME: _MyTime, mysql.BIT: _MyBit}


class _MyContext(_Batches, mysql.MySQLExecutionContext):
    pass


class MySQL(_Cenote, mysql.MySQLDialect):
    execution_ctx_cls = _MyContext
    supports_statement_cache = True
    supports_sane_rowcount = True
    supports_sane_multi_rowcount = True
    colspecs = {**mysql.MySQLDialect.colspecs, **_MY_TYPES}

    def create_connect_args(self, url: URL) -> Tuple[List[Any], Dict[str, Any]]:
        # SQLAlchemy counts the rows that matched
        return [], {"session_options": {"mysql_login": "found_rows=on"}, **_options(url)}

    def _extract_error_code(self, exception: cenote.Error) -> int:
        return exception.native

    def _detect_charset(self, connection: Any) -> str:
        return "utf8mb4"


class MariaDB(mariadb.MariaDBDialect, MySQL):
    supports_statement_cache = True
    colspecs = {**mariadb.MariaDBDialect.colspecs, **_MY_TYPES, sqltypes.Uuid: _MyUuid}


# ---------------------------------------------------------------------------- SQLite


class _OfText:
    """SQLite stores text. The driver converts it only for a column with that declared type."""

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        of_text = super().result_processor(dialect, coltype)  # type: ignore[misc]
        return lambda value: of_text(value) if isinstance(value, str) else value


class _LiteDateTime(_OfText, sqlite.DATETIME):
    pass


class _LiteDate(_OfText, sqlite.DATE):
    pass


class _LiteTime(_OfText, sqlite.TIME):
    pass


class _LiteNumeric(sqltypes.Numeric):  # type: ignore[type-arg]
    """A column with a declared type returns decimals, an expression doubles."""

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        return super().result_processor(dialect, coltype) if self.asdecimal else processors.to_float


class _LiteContext(_Batches, sqlite.SQLiteExecutionContext):
    pass


def _plain(statement: str) -> str:
    """Double the percent signs: otherwise the driver would take them for placeholders."""
    return statement.replace("%", "%%")


class SQLite(_Cenote, sqlite.SQLiteDialect):
    execution_ctx_cls = _LiteContext
    supports_statement_cache = True
    colspecs = {
        **sqlite.SQLiteDialect.colspecs,
        sqltypes.Date: _LiteDate,
        sqltypes.DateTime: _LiteDateTime,
        sqltypes.Float: sqltypes.Float,
        sqltypes.Numeric: _LiteNumeric,
        sqltypes.Time: _LiteTime,
    }
    # SQLAlchemy's own catalog queries have its placeholders, and ordinary percent signs.
    default_paramstyle = "qmark"
    supports_native_decimal = False

    @classmethod
    def import_dbapi(cls) -> Any:
        """SQLAlchemy asks the module for the version of SQLite, which runs on the pool's host. Report a recent one."""
        module = {**vars(cenote), "paramstyle": cls.default_paramstyle, "sqlite_version_info": (3, 35, 0)}
        return types.SimpleNamespace(**module)

    def do_execute(self, cursor: Any, statement: str, parameters: Any, context: Any = None) -> None:
        if parameters:
            cursor.execute(_plain(statement), parameters)
        else:
            cursor.execute(statement)

    def do_executemany(self, cursor: Any, statement: str, parameters: Any, context: Any = None) -> None:
        cursor.executemany(_plain(statement), parameters)

    def _get_server_version_info(self, connection: Any) -> Tuple[int, ...]:
        version = connection.connection.dbapi_connection.info("server_version")
        return tuple(map(int, version.split(".")))


# ------------------------------------------------------------------------- whichever

DIALECTS = {"postgresql": PostgreSQL, "mysql": MySQL, "sqlite": SQLite}


class AnyServer(_Cenote):
    """cenote://: the dialect of the pool's server."""

    supports_statement_cache = True

    @classmethod
    def get_dialect_cls(cls, url: URL) -> type:
        connection = cenote.connect(**_options(url))
        try:
            return DIALECTS[connection.backend]
        finally:
            connection.close()
