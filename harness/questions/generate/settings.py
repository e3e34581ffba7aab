"""The settings under ``generator``, checked before anything is read, and the file of weights."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import InputError, SettingError
from harness.golden.jsonl import Faults, read_lines
from harness.golden.names import Names, shown_id

_COLUMNS = (
    {"doc_id", "id", "document", "path", "page", "url"},
    {"weight", "traffic", "views", "visits", "hits", "count"},
)
# What a number means, and its limits.
_WHOLE = {
    "n": ("the number of questions", 1, None),
    "seed": ("a whole number", 0, None),
    "concurrency": ("a number of calls", 1, 64),
    "max_tokens": ("a number of tokens", 100, 8192),
    "retries": ("a number of tries", 0, 100),
}
_DOLLARS = ("a number of dollars", 0.0, 1e6)
_NUMBERS = {
    "max_overlap": ("a share", 0.0, 1.0),
    "poll": ("a number of seconds", 0.0, 3600.0),
    "timeout": ("a number of seconds", 0.001, 3600.0),
    "budget_usd": _DOLLARS,
    "price_in": _DOLLARS,
    "price_out": _DOLLARS,
}
_OPTIONAL = {"budget_usd", "price_in", "price_out", "weights", "base_url"}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What ``conf/command/generate.yaml`` explains.

    Raises ``SettingError`` for a value that is not allowed.
    """

    n: int
    model: str
    max_overlap: float
    seed: int
    weights: str | None
    concurrency: int
    batch: bool
    poll: float
    budget_usd: float | None
    price_in: float | None
    price_out: float | None
    max_tokens: int
    timeout: float
    retries: int
    base_url: str | None

    def __post_init__(self) -> None:
        for name, (what, low, high) in _WHOLE.items():
            limits = f"of at least {low}" if high is None else f"from {low} to {high}"
            self._check(name, (int,), low, high, f"{what}, {limits}")
        for name, (what, least, most) in _NUMBERS.items():
            self._check(name, (int, float), least, most, f"{what} from {least:g} to {most:g}")
        if not isinstance(self.batch, bool):
            self._refuse("batch", "true or false")
        for name, allowed in (
            ("model", "the name of a model, such as claude-haiku-4-5"),
            ("weights", "a text, or null"),
            ("base_url", "a text, or null"),
        ):
            value = getattr(self, name)
            if not (value is None and name in _OPTIONAL) and not (isinstance(value, str) and value.strip()):
                self._refuse(name, allowed)
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            self._refuse("base_url", "an address that begins with http:// or https://")

    def _check(
        self, name: str, kinds: tuple[type, ...], low: float, high: float | None, allowed: str
    ) -> None:
        value = getattr(self, name)
        if value is None and name in _OPTIONAL:
            return
        is_number = isinstance(value, kinds) and not isinstance(value, bool)
        if not is_number or not low <= value <= (math.inf if high is None else high):
            self._refuse(name, allowed)

    def _refuse(self, name: str, allowed: str) -> None:
        value: Any = getattr(self, name)
        shown = "empty" if value in {None, ""} else value
        raise SettingError(f"generator.{name} is {shown}; it must be {allowed}.", key=f"generator.{name}")


def read_weights(path: Path, doc_ids: Collection[str]) -> dict[str, float]:
    """Weight by document id, from two columns or from JSON lines of ``doc_id`` and ``weight``.

    Raises ``InputError`` with lines for unknown or repeated ids and for weights that are no number from 0 on,
    and when no weight is above 0.
    """
    if not path.is_file():
        raise InputError(
            f"generator.weights is {path}, and there is no such file (looked from {Path.cwd()}).", path=path
        )
    faults, names = Faults(path), Names(doc_ids)
    weights: dict[str, float] = {}
    lines: dict[str, int] = {}
    for line, cells in _rows(path):
        if len(cells) != 2:
            faults.add(line, f"found {len(cells)} values; a document id and a weight are expected.")
        elif cells[0] not in doc_ids:
            faults.add(line, f"{names.no_document(cells[0])}. Ids are paths relative to the corpus folder.")
        elif cells[0] in weights:
            faults.add(
                line, f"{shown_id(cells[0])} was given in line {lines[cells[0]]} already; add the two up."
            )
        else:
            weights[cells[0]], lines[cells[0]] = _weight(cells[1]), line
            if not 0 <= weights[cells[0]] < math.inf:
                faults.add(line, f"the weight is {cells[1]!r}; a number from 0 on is expected.")
    faults.raise_if_any()
    if not any(weights.values()):
        raise InputError(
            f"{path} gives no document a weight above 0. Lines of a document id and a number are expected.",
            path=path,
        )
    return weights


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The values of each line, without a header."""
    separator = ""
    for line, text in read_lines(path):
        if text.lstrip().startswith("{"):
            yield line, _entries(text)
            continue
        is_first, separator = not separator, separator or next((mark for mark in "\t;," if mark in text), ",")
        cells = [cell.strip() for cell in next(csv.reader([text], delimiter=separator))]
        if not (is_first and all(c.lower() in names for c, names in zip(cells, _COLUMNS, strict=False))):
            yield line, cells


def _entries(text: str) -> list[str]:
    try:
        item = json.loads(text)
    except (ValueError, RecursionError):
        item = {}
    return [str(item["doc_id"]), json.dumps(item["weight"])] if {"doc_id", "weight"} <= item.keys() else []


def _weight(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        return math.nan
