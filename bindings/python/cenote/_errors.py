# SPDX-License-Identifier: BSD-2-Clause
"""The exceptions of PEP 249, with what the server reported about an error."""

from __future__ import annotations

from typing import Mapping, Optional

# enum cenote_status
OK = 0
ERR_ARG = -1
ERR_STATE = -2
ERR_SERVER = -4
ERR_CONVERT = -5
ERR_LIMIT = -6
ERR_UNSUPPORTED = -7
ERR_TIMEOUT = -8


class Warning(Exception):  # noqa: A001, the name is PEP 249's
    """A notice of the server, as found in `messages`. It is never raised."""

    sqlstate = "00000"
    fields: Mapping[str, str] = {}


class Error(Exception):
    """The base of all of them.

    sqlstate  five characters
    native    the server's error number; 0: there is none
    status    enum cenote_status: what libcenote returned
    fields    everything that the server reported, by letter (cenote_diag_field())
    """

    sqlstate = "HY000"
    native = 0
    status = ERR_STATE
    fields: Mapping[str, str] = {}

    def _field(self, letter: str) -> Optional[str]:
        return self.fields.get(letter)

    @property
    def severity(self) -> Optional[str]:
        """ERROR, FATAL, …; for a notice NOTICE, WARNING, …."""
        return self._field("S")

    @property
    def detail(self) -> Optional[str]:
        """More about the error."""
        return self._field("D")

    @property
    def hint(self) -> Optional[str]:
        """What might help."""
        return self._field("H")

    @property
    def position(self) -> Optional[int]:
        """Where in the statement, in characters from 1."""
        text = self._field("P")
        return int(text) if text else None

    @property
    def schema_name(self) -> Optional[str]:
        """The schema of the table, if the error is about one."""
        return self._field("s")

    @property
    def table_name(self) -> Optional[str]:
        """The table that the error is about."""
        return self._field("t")

    @property
    def column_name(self) -> Optional[str]:
        """The column that the error is about."""
        return self._field("c")

    @property
    def constraint_name(self) -> Optional[str]:
        """The constraint that was violated."""
        return self._field("n")


class InterfaceError(Error):
    """A mistake in the use of this module, such as using a closed connection."""


class DatabaseError(Error):
    """An error of the database, or of the connection to it."""


class DataError(DatabaseError):
    """A value that does not fit: out of range, not a number, division by zero."""


class OperationalError(DatabaseError):
    """An error that is not the program's fault: a lost session, a time limit, no memory."""


class IntegrityError(DatabaseError):
    """A constraint that was violated."""


class InternalError(DatabaseError):
    """The session's state does not allow the statement, such as after an error in a transaction."""


class ProgrammingError(DatabaseError):
    """A mistake in a statement or its parameters."""


class NotSupportedError(DatabaseError):
    """A feature that this server does not have."""


# By the SQLSTATE's class.
_BY_SQLSTATE = {
    "07": ProgrammingError,
    "08": OperationalError,
    "0A": NotSupportedError,
    "21": ProgrammingError,
    "22": DataError,
    "23": IntegrityError,
    "24": InternalError,
    "25": InternalError,
    "26": ProgrammingError,
    "27": OperationalError,
    "28": OperationalError,
    "2B": InternalError,
    "2D": InternalError,
    "2F": InternalError,
    "34": ProgrammingError,
    "3B": ProgrammingError,
    "3D": ProgrammingError,
    "3F": ProgrammingError,
    "40": OperationalError,
    "42": ProgrammingError,
    "44": IntegrityError,
    "53": OperationalError,
    "54": OperationalError,
    "55": OperationalError,
    "57": OperationalError,
    "58": OperationalError,
    "HY": OperationalError,
    "P0": InternalError,
    "XX": InternalError,
}

# What a status means if no server was involved.
_BY_STATUS = {
    ERR_ARG: ProgrammingError,
    ERR_STATE: ProgrammingError,
    ERR_CONVERT: DataError,
    ERR_LIMIT: OperationalError,
    ERR_UNSUPPORTED: NotSupportedError,
    ERR_TIMEOUT: OperationalError,
}


def _class_of(status: int, sqlstate: str) -> type:
    if sqlstate == "08003":
        return InterfaceError
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return _BY_SQLSTATE.get(sqlstate[:2], DatabaseError if status == ERR_SERVER else OperationalError)


def make_error(
    status: int, sqlstate: str, native: int, message: str, fields: Optional[Mapping[str, str]]
) -> Exception:
    """Make the exception for diagnostics of libcenote; a Warning if they are not an error."""
    error = Warning(message) if status == OK else _class_of(status, sqlstate)(message)
    error.sqlstate = sqlstate
    error.fields = fields or {}
    if isinstance(error, Error):
        error.native = native
        error.status = status
    return error


# In messages and for pickle, they belong to the package.
for _class in (Warning, Error, *Error.__subclasses__(), *DatabaseError.__subclasses__()):
    _class.__module__ = "cenote"
