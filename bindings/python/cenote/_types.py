# SPDX-License-Identifier: BSD-2-Clause
"""Type objects and constructors of PEP 249, and types that need code in Python."""

from __future__ import annotations

import datetime
import decimal
import enum
import functools
import json
import re
import time
import uuid
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ._errors import ProgrammingError


class Type(enum.IntEnum):
    """The logical types of columns: enum cenote_type."""

    NULL = 0
    BOOL = 1
    INT64 = 2
    UINT64 = 3
    DOUBLE = 4
    DECIMAL = 5
    TEXT = 6
    BYTES = 7
    DATE = 8
    TIME = 9
    TIMESTAMP = 10
    INTERVAL = 11
    UUID = 12
    JSON = 13
    OTHER = 14


class TypeObject:
    """Equal to the type code of every column of its kind (PEP 249, "Type Objects")."""

    def __init__(self, name: str, *types: Type) -> None:
        self.name = name
        self.types = frozenset(types)

    def __eq__(self, other: object) -> bool:
        return self is other or other in self.types

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return "cenote." + self.name


STRING = TypeObject("STRING", Type.TEXT, Type.UUID, Type.JSON, Type.OTHER)
BINARY = TypeObject("BINARY", Type.BYTES)
NUMBER = TypeObject("NUMBER", Type.BOOL, Type.INT64, Type.UINT64, Type.DOUBLE, Type.DECIMAL)
DATETIME = TypeObject("DATETIME", Type.DATE, Type.TIME, Type.TIMESTAMP, Type.INTERVAL)
# SQLite's row ids and MySQL's AUTO_INCREMENT are integers like any other.
ROWID = TypeObject("ROWID", Type.INT64, Type.UINT64)

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:
    """A local date, from seconds since 1970."""
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> datetime.time:
    """A local time of day, from seconds since 1970."""
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    """A local date and time, from seconds since 1970."""
    return Timestamp(*time.localtime(ticks)[:6])


class Json(str):
    """A parameter that is sent as JSON text: `Json({"a": 1})`."""

    def __new__(cls, value: Any, dumps: Callable[[Any], str] = json.dumps) -> Json:
        return super().__new__(cls, dumps(value))


class Range(NamedTuple):
    """A PostgreSQL range: `Range(1, 5)` contains 1 but not 5. None means that there is no bound."""

    lower: Any = None
    upper: Any = None
    bounds: str = "[)"
    is_empty: bool = False

    def __str__(self) -> str:
        """As PostgreSQL reads it."""
        if self.is_empty:
            return "empty"
        lower, upper = ("" if bound is None else _write_element(bound) for bound in self[:2])
        return f"{self.bounds[0]}{lower},{upper}{self.bounds[1]}"

    @classmethod
    def parse(cls, text: str, read: Callable[[str], Any] = str) -> Range:
        """Read the server's text: `Range.parse("[1,5)", int)`."""
        return cls(is_empty=True) if text == "empty" else read_ranges(text, read)[0]


_BOUND = r'(?:"((?:[^"\\]|\\.|"")*)"|([^",\])]*))'
_RANGE = re.compile(rf"([\[(]){_BOUND},{_BOUND}([\])])", re.DOTALL)


def _read_bound(quoted: Optional[str], plain: str, read: Callable[[str], Any]) -> Any:
    if quoted is None and not plain:
        return None
    text = plain if quoted is None else re.sub(r'\\(.)|""', lambda m: m[1] or '"', quoted, flags=re.DOTALL)
    try:
        return read(text)
    except (ValueError, ArithmeticError):
        return text  # infinity does not exist in Python's types


def read_ranges(text: str, read: Callable[[str], Any]) -> List[Range]:
    """Read the text of a range, or of a multirange."""
    return [
        Range(_read_bound(m[2], m[3], read), _read_bound(m[4], m[5], read), m[1] + m[6])
        for m in _RANGE.finditer(text)
    ]


# ------------------------------------------------------- parameters of further types


@functools.singledispatch
def adapt(value: Any) -> Any:
    """Convert a parameter whose type no server knows. NotImplemented: it cannot be converted.

    A program adds types of its own: `cenote.adapt.register(Point, str)`.
    """
    module = type(value).__module__
    if module == "numpy":
        return _adapt_numpy(value)
    return str(value) if module == "ipaddress" else NotImplemented


adapt.register(dict, Json)
adapt.register(Range, str)


def _adapt_numpy(value: Any) -> Any:
    """Convert a scalar, or an array to a list. Python's times have no nanoseconds."""
    is_time = value.dtype.kind in "mM"
    if is_time and value.dtype.name.endswith(("[ns]", "[ps]", "[fs]", "[as]")):
        value = value.astype(f"{value.dtype.kind}8[us]")
    plain = value.tolist()
    # months have no certain length, and Python ends with the year 9999
    return NotImplemented if is_time and isinstance(plain, int) else plain


# IntervalStyle = postgres: "1 year 2 mons -3 days +04:05:06.7"
_INTERVAL = re.compile(
    r"(?:(?P<years>[-+]?\d+) years? ?)?(?:(?P<months>[-+]?\d+) mons? ?)?(?:(?P<days>[-+]?\d+) days? ?)?"
    r"(?:(?P<sign>[-+]?)(?P<hours>\d+):(?P<minutes>\d+):(?P<seconds>\d+(?:\.\d+)?))?"
)


def parse_interval(text: str) -> Any:
    """A timedelta; or the text, if it has years or months or another form."""
    match = _INTERVAL.fullmatch(text)
    if not match or not text or match["years"] or match["months"]:
        return text
    clock = datetime.timedelta(
        hours=int(match["hours"] or 0),
        minutes=int(match["minutes"] or 0),
        seconds=int((match["seconds"] or "0").partition(".")[0]),
        microseconds=int((match["seconds"] or "0").partition(".")[2].ljust(6, "0")[:6]),
    )
    return datetime.timedelta(days=int(match["days"] or 0)) + (-clock if match["sign"] == "-" else clock)


_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d+)?(?:([-+]\d\d)(:\d\d)?)?")


def read_timestamp(text: str) -> datetime.datetime:
    """Read PostgreSQL's text, which not every Python version from 3.9 on can read."""
    match = _TIMESTAMP.fullmatch(text)
    if not match:
        raise ValueError(text)
    clock, fraction, hours, minutes = match.groups()
    offset = hours + (minutes or ":00") if hours else ""
    return datetime.datetime.fromisoformat(f"{clock}{(fraction or '.').ljust(7, '0')}{offset}")


_UNITS = {"": 1, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000}


def parse_duration(text: Optional[str]) -> int:
    """The milliseconds in an option's value ("10s")."""
    match = re.fullmatch(r"(\d+) *([a-z]*)", text or "0")
    return int(match[1]) * _UNITS[match[2]] if match else 0


# ------------------------------------------------------------- arrays of PostgreSQL

_ELEMENT = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^{},"]+))\s*', re.DOTALL)
# By the name of the array's type. Elements of other types stay text.
_ELEMENTS: Dict[str, Callable[[str], Any]] = {
    "_bool": lambda text: text == "t",
    "_bytea": lambda text: bytes.fromhex(text[2:]),
    "_date": datetime.date.fromisoformat,
    "_float4": float,
    "_float8": float,
    "_int2": int,
    "_int4": int,
    "_int8": int,
    "_interval": parse_interval,
    "_numeric": decimal.Decimal,
    "_oid": int,
    "_timestamp": read_timestamp,
    "_timestamptz": read_timestamp,
    "_uuid": uuid.UUID,
}


def _elements(text: str, at: int, read: Callable[[str], Any]) -> Tuple[List[Any], int]:
    """The list that begins after the brace at `at`, and where it ends."""
    items: List[Any] = []
    at += 1
    while text[at] != "}":
        if text[at] == "{":
            inner, at = _elements(text, at, read)
            items.append(inner)
        else:
            match = _ELEMENT.match(text, at)
            if not match:
                raise ValueError(f"not an array: {text!r}")
            quoted, plain = match.groups()
            if quoted is not None:
                items.append(read(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)))
            else:
                items.append(None if plain == "NULL" else read(plain))
            at = match.end()
        if text[at] == ",":
            at += 1
    return items, at + 1


def read_array(type_name: str, text: str) -> Any:
    """A list; or the text, if the array's indexes do not begin with 1 or an element cannot be read."""
    read = _ELEMENTS.get(type_name, str)
    try:
        items, end = _elements(text, 0, read) if text.startswith("{") else (text, len(text))
    except (ValueError, ArithmeticError, IndexError):
        return text
    return items if end == len(text) else text


# PostgreSQL can read what str() returns for these.
_WRITTEN = (
    str,
    int,
    float,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    uuid.UUID,
)


def write_array(items: Sequence[Any]) -> str:
    """A list as PostgreSQL reads it."""
    return "{" + ",".join(map(_write_element, items)) + "}"


def _write_element(item: Any) -> str:
    if item is None:
        return "NULL"
    if isinstance(item, (list, tuple)) and not isinstance(item, Range):
        return write_array(item)
    if isinstance(item, (bytes, bytearray, memoryview)):
        item = "\\x" + bytes(item).hex()
    if not isinstance(item, _WRITTEN):
        plain = adapt(item)
        if plain is NotImplemented:
            raise ProgrammingError(f"an element of an array is of {type(item)}: no server knows that type")
        return _write_element(plain)
    escaped = str(item).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
