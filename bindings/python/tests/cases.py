# SPDX-License-Identifier: BSD-2-Clause
"""The cases of tests/conformance/README.md, as they are for one backend."""

import re
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

BACKENDS = ("sqlite", "postgresql", "mysql", "freetds", "odbc")

# Words of a step itself; all others are of what it must give.
STEP_WORDS = ("bind", "copy_fail", "copy_in", "extended", "format", "formats", "max_rows")
REPEATED = ("bind", "copy_in", "copy_out", "notice", "notification", "parameter", "row")


@dataclass
class Step:
    line: int
    sql: Optional[str] = None
    op: Optional[str] = None
    words: Dict[str, list] = field(default_factory=dict)
    expects: List[Dict[str, list]] = field(default_factory=lambda: [{}])


@dataclass
class Case:
    file: str
    line: int
    name: str
    setup: List[str] = field(default_factory=list)
    steps: List[Step] = field(default_factory=list)
    not_ways: List[str] = field(default_factory=list)
    is_left_out: bool = False


_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_PLAIN = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"s": b" "}
_ONE_BYTE = re.compile(r"(\\x[0-9a-fA-F]{2})\1+")


def unescape(text: str) -> bytes:
    """A value; backslashes as in C."""
    if _ONE_BYTE.fullmatch(text):  # millions of them
        return bytes([int(text[2:4], 16)]) * (len(text) // 4)
    return _ESCAPE.sub(
        lambda m: bytes([int(m[1], 16)]) if m[1] else _PLAIN.get(m[2], m[2]), text.encode()
    )


def value(text: str) -> Optional[bytes]:
    text = text.strip(" ")
    return None if text == r"\N" else unescape(text)


def split_row(text: str) -> List[Optional[bytes]]:
    return [value(cell) for cell in re.split(r"(?<!\\)\|", text)]


def expand(line: str) -> str:
    return re.sub(r"\\R\{(\d+)\|([^}]*)\}", lambda m: m[2] * int(m[1]), line)


class Parser:
    def __init__(self, path: str, backend: str) -> None:
        self.path, self.backend = path, backend
        self.cases: List[Case] = []
        self.case: Optional[Case] = None
        self.step: Optional[Step] = None
        # of the line before: its word, and whether it was a variant
        self.last: Tuple[str, bool] = ("", False)
        self.variant_rows = False

    def is_for_us(self, names: str) -> bool:
        unknown = set(names.split(",")) - set(BACKENDS)
        if unknown:
            raise ValueError(f"no backend is called {unknown}")
        return self.backend in names.split(",")

    def parse(self) -> List[Case]:
        with open(self.path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                line = line.rstrip("\n")
                if not line or line.startswith("#"):
                    continue
                try:
                    self.on_line(number, expand(line))
                except (ValueError, AttributeError) as e:
                    raise ValueError(f"{self.path}:{number}: {e}") from e
        return [case for case in self.cases if not case.is_left_out]

    def on_line(self, number: int, line: str) -> None:
        full, _, text = line.partition(" ")
        word, _, names = full.partition(".")
        if names and not self.is_for_us(names) and word != "not":
            return
        if names and word == "not" and not self.is_for_us(names):
            return
        replaces = bool(names) and self.last == (word, False)
        if word == "case":
            self.case, self.step = Case(self.path, number, text), None
            self.cases.append(self.case)
        elif word in ("only", "except", "not", "setup"):
            self.on_case_word(word, text, replaces)
        elif word in ("sql", "op"):
            self.on_step(number, word, text, replaces)
        else:
            self.on_step_word(word, text, bool(names), replaces)
        self.last = (word, bool(names))

    def on_case_word(self, word: str, text: str, replaces: bool) -> None:
        before = text.partition(":")[0]
        if word == "setup":
            if replaces:
                self.case.setup.pop()
            self.case.setup.append(text)
        elif word == "not":
            self.case.not_ways = before.split()
        elif self.is_for_us(before) == (word == "except"):
            self.case.is_left_out = True

    def on_step(self, number: int, word: str, text: str, replaces: bool) -> None:
        if not replaces:
            self.step = Step(number)
            self.case.steps.append(self.step)
        if word == "sql":
            self.step.sql = unescape(text.strip(" ")).decode()
        else:
            self.step.op = text
        self.variant_rows = False

    def on_step_word(self, word: str, text: str, is_variant: bool, replaces: bool) -> None:
        if word == "next":
            self.step.expects.append({})
            self.variant_rows = False
            return
        words = self.step.words if word in STEP_WORDS else self.step.expects[-1]
        if word == "row":
            if is_variant and not self.variant_rows:
                words.pop(word, None)
            self.variant_rows = is_variant
        elif replaces or word not in REPEATED:
            if replaces and word in REPEATED:
                words[word].pop()
            else:
                words.pop(word, None)
        if word == "error" and not text:
            return
        words.setdefault(word, []).append(text)


def read(path: str, backend: str) -> List[Case]:
    return Parser(path, backend).parse()
