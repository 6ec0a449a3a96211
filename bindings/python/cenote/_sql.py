# SPDX-License-Identifier: BSD-2-Clause
"""Placeholders: %s and %(name)s, as in most Python drivers, become those of the server."""

from __future__ import annotations

import functools
import re
from typing import Any, Mapping, Optional, Sequence, Tuple

from ._errors import ProgrammingError

_PLACEHOLDER = re.compile(r"%(?:\(([^)]*)\)s|(.)|$)", re.DOTALL)

# How a backend writes its Nth placeholder. Without a number, each one takes a value of its own.
_NATIVE = {"postgresql": "$%d", "sqlite": "?%d"}


class _Writer:
    """Replaces a statement's placeholders in order, and notes which values they take."""

    def __init__(self, backend: str) -> None:
        self.native = _NATIVE.get(backend)
        self.names: list[str] = []
        self.n_plain = 0

    def number(self, i: int) -> str:
        return self.native % (i + 1) if self.native else "?"

    def named(self, name: str) -> str:
        if not self.native or name not in self.names:
            self.names.append(name)
            return self.number(len(self.names) - 1)
        return self.number(self.names.index(name))

    def replace(self, match: re.Match[str]) -> str:
        name, plain = match.groups()
        if name is not None:
            return self.named(name)
        if plain == "%":
            return "%"
        if plain != "s":
            raise ProgrammingError(
                f"{match[0]!r} is no placeholder: write %s, %(name)s, or %% for a percent sign"
            )
        self.n_plain += 1
        return self.number(self.n_plain - 1)


@functools.lru_cache(maxsize=1024)
def convert(sql: str, backend: str) -> Tuple[bytes, Optional[Tuple[str, ...]]]:
    """Convert the statement for the server. If placeholders have names, also return which values it takes."""
    writer = _Writer(backend)
    native = _PLACEHOLDER.sub(writer.replace, sql)
    if writer.names and writer.n_plain:
        raise ProgrammingError("%s and %(name)s in the same statement")
    return native.encode(), tuple(writer.names) if writer.names else None


def values_of(params: Any, names: Optional[Tuple[str, ...]]) -> Sequence[Any]:
    """Put the values in the order of the statement's placeholders."""
    if names is None:
        if isinstance(params, (tuple, list)):
            return params
        if isinstance(params, Mapping):
            return ()
        if isinstance(params, (str, bytes)):
            raise ProgrammingError("parameters are a sequence of values: (value,)")
        return tuple(params)
    if not isinstance(params, Mapping):
        raise ProgrammingError("the placeholders have names: parameters are a mapping")
    try:
        return [params[name] for name in names]
    except KeyError as e:
        raise ProgrammingError(f"no value for %({e.args[0]})s") from None


def bind(sql: str, params: Any, backend: str) -> Tuple[bytes, Optional[Sequence[Any]]]:
    """The statement and its values. Without parameters, a percent sign is an ordinary character."""
    if not isinstance(sql, str):
        raise TypeError(f"a statement is a str, not {type(sql).__name__}")
    if params is None:
        return sql.encode(), None
    native, names = convert(sql, backend)
    return native, values_of(params, names)
