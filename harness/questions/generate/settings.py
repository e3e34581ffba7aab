"""The settings under ``generator``, checked before anything is read, and the file of weights."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError, SettingError, number, share, shown, switch, whole
from harness.golden.jsonl import Faults, read_lines
from harness.golden.names import Names, shown_id

_COLUMNS = (
    {"doc_id", "id", "document", "path", "page", "url"},
    {"weight", "traffic", "views", "visits", "hits", "count"},
)


@dataclass(frozen=True, kw_only=True)
class GeneratorSettings:
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
        whole(self.n, "generator.n", 1, of="questions")
        whole(self.seed, "generator.seed")
        whole(self.concurrency, "generator.concurrency", 1, 64, of="calls")
        whole(self.max_tokens, "generator.max_tokens", 100, 8192, of="tokens")
        whole(self.retries, "generator.retries", 0, 100, of="tries")
        share(self.max_overlap, "generator.max_overlap")
        number(self.poll, "generator.poll", 0, 3600)
        number(self.timeout, "generator.timeout", 0.001, 3600)
        for name in ("budget_usd", "price_in", "price_out"):
            if getattr(self, name) is not None:
                number(getattr(self, name), f"generator.{name}")
        switch(self.batch, "generator.batch")
        _text(self.model, "generator.model", "the name of a model, such as claude-haiku-4-5")
        if self.weights is not None:
            _text(self.weights, "generator.weights", "a file, or null")
        address = "an address that begins with http:// or https://"
        if self.base_url is not None:
            _text(self.base_url, "generator.base_url", address, ("http://", "https://"))


def _text(value: object, key: str, allowed: str, begins: tuple[str, ...] = ("",)) -> None:
    if not isinstance(value, str) or not value.strip() or not value.startswith(begins):
        raise SettingError(f"{key} is {shown(value)}; it must be {allowed}.", key=key)


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
