"""The snippets of documents that a report shows: around every evidence, and the first rows of every cell.

``texts.json.gz`` holds text and is not written with ``tracker.texts=false``. ``evidence.jsonl.gz`` holds ids
and offsets.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.files.atomic import writing
from harness.records import Document, Evidence, IntArray, Question

TEXTS, EVIDENCE = "texts.json.gz", "evidence.jsonl.gz"
# Characters shown on either side of an evidence or a row.
AROUND = 300
# Of a row or an evidence that is longer (a whole document, a book's chapter), so many characters are shown.
LONGEST = 3000
MOST_BYTES = 5_000_000
# Text of this kind packs to about a third; more than this is not even tried.
_PACKS_AT_BEST = 8


class Spans(NamedTuple):
    """Spans of documents: int64 (spans,) each; ``doc`` is a position in the sequence of documents."""

    doc: IntArray
    start: IntArray
    end: IntArray


def write_excerpts(
    folder: Path, documents: Sequence[Document], questions: Sequence[Question], k: int, *, texts: bool
) -> list[Path]:
    """Writes both files for the finished cells below ``folder``; gives those that were written.

    ``documents``: in the order of the rankings (by id). ``k``: how many rows of each ranking are shown, if
    they fit into 5 MB; with fewer rows, ``texts.json.gz`` says so under ``left_out``.
    """
    lines = "".join(json.dumps(_line(question)) + "\n" for question in questions)
    files = {folder / EVIDENCE: gzip.compress(lines.encode(), mtime=0)}
    if texts:
        files[folder / TEXTS] = _fitting(documents, _labelled(documents, questions), folder, k)
    for file, content in files.items():
        with writing(file) as target:
            target.write(content)
    return list(files)


def read_excerpts(
    folder: Path,
) -> tuple[dict[str, list[tuple[int, str]]], dict[str, list[dict[str, Any]]]]:
    """Snippets of each document and evidence of each question; empty where the files are missing.

    The quotes of the evidence are taken from the snippets. Raises ``OSError`` or ``ValueError`` for a damaged
    file.
    """
    pieces: dict[str, list[tuple[int, str]]] = {}
    if (folder / TEXTS).is_file():
        content = json.loads(gzip.decompress((folder / TEXTS).read_bytes()))
        pieces = {
            doc: [(start, text) for start, text in found] for doc, found in content["documents"].items()
        }
    evidence: dict[str, list[dict[str, Any]]] = {}
    if (folder / EVIDENCE).is_file():
        for line in gzip.decompress((folder / EVIDENCE).read_bytes()).decode().splitlines():
            question = json.loads(line)
            evidence[question["question_id"]] = [_quoted(unit, pieces) for unit in question["evidence"]]
    return pieces, evidence


def text_at(pieces: Mapping[str, Sequence[tuple[int, str]]], doc_id: str, start: int, end: int) -> str | None:
    """The characters of a document from ``start`` to ``end``; None where the snippets lack some of them."""
    for begin, text in pieces.get(doc_id, ()):
        if begin <= start and end <= begin + len(text):
            return text[start - begin : end - begin]
    return None


def merged(spans: Spans, lengths: IntArray, around: int) -> Spans:
    """The spans widened by ``around`` characters within their documents; overlapping ones are joined."""
    order = np.lexsort((spans.start, spans.doc))
    doc = spans.doc[order]
    start = np.maximum(spans.start[order] - around, 0)
    end = np.minimum(spans.end[order] + around, lengths[doc])
    if not len(doc):
        return Spans(doc, start, end)
    # All documents in one line with a gap between them: one running maximum serves them all.
    base = np.concatenate([[0], np.cumsum(lengths + 1)])[doc]
    reached = np.maximum.accumulate(base + end)
    first = np.concatenate([[True], (base + start)[1:] > reached[:-1]])
    last = np.concatenate([np.flatnonzero(first)[1:] - 1, [len(doc) - 1]])
    return Spans(doc[first], start[first], reached[last] - base[first])


def _fitting(documents: Sequence[Document], evidence: Spans, folder: Path, k: int) -> bytes:
    """The evidence with as many rows of each ranking as fit, else as much of the evidence as fits."""
    lengths = np.array([len(document.text) for document in documents], np.int64)
    rankings = sorted(folder.glob("*/rankings.npz"))
    for rows in dict.fromkeys((k, k // 2, 1, 0)):
        shown = _joined([evidence, *(_returned(file, rows, len(documents)) for file in rankings)])
        said = (
            f"Only the first {rows} of {k} rows of each ranking are here; the limit is {MOST_BYTES:,} bytes."
        )
        content = _packed(documents, merged(_cut(shown), lengths, AROUND), said if rows < k else "")
        if content is not None:
            return content
    count = len(evidence.doc)
    said = f"Only the first of {count:,} evidence spans are here; the limit is {MOST_BYTES:,} bytes."
    for halvings in range(1, count.bit_length() + 1):
        some = Spans(*(column[: count >> halvings] for column in evidence))
        content = _packed(documents, merged(_cut(some), lengths, AROUND), said)
        if content is not None:
            return content
    return _compressed({}, said)


def _packed(documents: Sequence[Document], shown: Spans, left_out: str) -> bytes | None:
    """The file's bytes, or None when they would be too many."""
    if int(np.sum(shown.end - shown.start)) > _PACKS_AT_BEST * MOST_BYTES:
        return None
    pieces: dict[str, list[tuple[int, str]]] = {}
    for doc, start, end in zip(*(column.tolist() for column in shown), strict=True):
        document = documents[doc]
        pieces.setdefault(document.doc_id, []).append((start, document.text[start:end]))
    content = _compressed(pieces, left_out)
    return content if len(content) <= MOST_BYTES else None


def _compressed(pieces: Mapping[str, Sequence[tuple[int, str]]], left_out: str) -> bytes:
    text = json.dumps({"left_out": left_out, "documents": pieces}, ensure_ascii=False)
    # Lone surrogates can occur in JSON, and UTF-8 can't encode them.
    return gzip.compress(text.encode("utf-8", "backslashreplace"), mtime=0)


def _returned(file: Path, rows: int, documents: int) -> Spans:
    """The first ``rows`` rows of every question of a cell; rows outside the ``documents`` are left out."""
    parts = []
    with np.load(file, allow_pickle=False) as archive:
        for kind in ("span", "document"):
            if f"{kind}_doc" not in archive:
                continue
            columns = [
                archive[f"{kind}_{name}"][:, :rows].astype(np.int64) for name in ("doc", "start", "end")
            ]
            there = (columns[0] >= 0) & (columns[0] < documents)
            parts.append(Spans(*(column[there] for column in columns)))
    return _joined(parts)


def _labelled(documents: Sequence[Document], questions: Sequence[Question]) -> Spans:
    """All evidence spans in the documents, in the order of the questions."""
    positions = {document.doc_id: i for i, document in enumerate(documents)}
    spans = []
    for question in questions:
        for place in (place for evidence in question.evidence for place in evidence.places):
            position = positions.get(place.doc_id)
            if position is not None:
                end = len(documents[position].text) if place.end is None else place.end
                spans.append((position, place.start or 0, end))
    return Spans(*np.array(spans, np.int64).reshape(-1, 3).T)


def _joined(parts: Sequence[Spans]) -> Spans:
    nothing = Spans(*(np.zeros(0, np.int64) for _ in Spans._fields))
    return Spans(*(np.concatenate(column) for column in zip(nothing, *parts, strict=True)))


def _cut(spans: Spans) -> Spans:
    return spans._replace(end=np.minimum(spans.end, spans.start + LONGEST))


def _line(question: Question) -> dict[str, Any]:
    evidence = [
        _place(unit) | ({"alternatives": [_place(p) for p in unit.alternatives]} if unit.alternatives else {})
        for unit in question.evidence
    ]
    return {"question_id": question.question_id, "source": question.source, "evidence": evidence}


def _place(place: Evidence) -> dict[str, Any]:
    span = {} if place.start is None else {"start": place.start, "end": place.end}
    grade = {} if place.grade == 1 else {"grade": place.grade}
    return {"doc_id": place.doc_id, **span, **grade}


def _quoted(unit: dict[str, Any], pieces: Mapping[str, Sequence[tuple[int, str]]]) -> dict[str, Any]:
    quote = text_at(pieces, unit["doc_id"], unit["start"], unit["end"]) if "start" in unit else None
    others = [_quoted(place, pieces) for place in unit.get("alternatives", ())]
    return unit | ({} if quote is None else {"quote": quote}) | ({"alternatives": others} if others else {})
