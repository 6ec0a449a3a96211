# SPDX-License-Identifier: BSD-2-Clause
"""Database sessions lent from a pool (PEP 249).

    with cenote.connect("cenote:///demo") as connection:
        for row in connection.execute("select %s", (42,)):
            print(row)

cenote.aio has the same for asyncio.
"""

try:
    from ._cenote import VERSION as _LIBRARY
except ImportError as _error:
    if "libcenote" not in str(_error) and "undefined symbol: cenote_" not in str(_error):
        raise
    raise ImportError(
        f"The C library libcenote is missing, or older than this package ({_error}). "
        "After its installation run ldconfig; elsewhere than the system looks, set LD_LIBRARY_PATH."
    ) from _error
from ._errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from ._logic import Column, dict_row, namedtuple_row
from ._sync import Connection, Cursor, connect
from ._types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Json,
    Range,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    Type,
    adapt,
)

apilevel = "2.0"
threadsafety = 2
paramstyle = "pyformat"

__version__ = "0.1.0"
# Of the library that was found at run time: (major, minor, patch).
library_version = (_LIBRARY // 10000, _LIBRARY // 100 % 100, _LIBRARY % 100)

__all__ = [
    "BINARY",
    "Binary",
    "Column",
    "Connection",
    "Cursor",
    "DATETIME",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "Json",
    "NUMBER",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "ROWID",
    "Range",
    "STRING",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Type",
    "Warning",
    "adapt",
    "apilevel",
    "connect",
    "dict_row",
    "library_version",
    "namedtuple_row",
    "paramstyle",
    "threadsafety",
]
