"""The snippets of documents that a report shows: around every evidence, and the first rows of every cell.

``texts.json.gz`` holds text and is not written with ``tracker.texts=false``. ``evidence.jsonl.gz`` holds ids
and offsets.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.files.atomic import writing
from harness.golden.question_json import evidence_object
from harness.records import Document, IntArray, Question

TEXTS, EVIDENCE = "texts.json.gz", "evidence.jsonl.gz"
# Characters shown on either side of an evidence or a row.
AROUND = 300
# Of a row or an evidence that is longer (a whole document, a book's chapter), so many characters are shown.
LONGEST = 3000
MOST_BYTES = 5_000_000
# Text of this kind packs to about a third; more than this is not even tried.
_PACKS_AT_BEST = 8


def write_excerpts(
    folder: Path, documents: Sequence[Document], questions: Sequence[Question], k: int, *, texts: bool
) -> list[Path]:
    """Writes both files for the finished cells below ``folder``; gives those that were written.

    ``documents``: in the order of the rankings (by id). ``k``: how many rows of each ranking are shown, if
    they fit into 5 MB.
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


def merged(spans: IntArray) -> IntArray:
    """The union of spans as int64 (spans, 3), sorted; spans that touch are joined."""
    if not len(spans):
        return spans.reshape(0, 3)
    order = np.lexsort((spans[:, 1], spans[:, 0]))
    doc, start, end = spans[order].T
    # Documents are laid end to end, a gap between them, so that one running maximum serves all.
    stride = int(end.max()) + 2
    reach = np.maximum.accumulate(doc * stride + end)
    first = np.concatenate(([True], doc[1:] * stride + start[1:] > reach[:-1]))
    last = np.concatenate((np.flatnonzero(first)[1:] - 1, [len(doc) - 1]))
    return np.stack([doc[first], start[first], reach[last] - doc[last] * stride], axis=1)


def clipped(spans: IntArray) -> IntArray:
    """Spans without what lies beyond their first ``LONGEST`` characters."""
    short = spans.copy()
    short[:, 2] = np.minimum(spans[:, 2], spans[:, 1] + LONGEST)
    return short


def widened(spans: IntArray, lengths: IntArray | None = None) -> IntArray:
    """Spans, cut as in ``clipped``, with what stands around them; ``lengths``: of the documents."""
    wide = clipped(spans)
    wide[:, 1] = np.maximum(wide[:, 1] - AROUND, 0)
    wide[:, 2] += AROUND
    if lengths is not None:
        wide[:, 2] = np.minimum(wide[:, 2], lengths[wide[:, 0]])
    return wide


def _fitting(documents: Sequence[Document], evidence: IntArray, folder: Path, k: int) -> bytes:
    """The evidence with as many rows of each ranking as fit, else as much of the evidence as fits."""
    lengths = np.array([len(document.text) for document in documents], np.int64)
    rankings = sorted(folder.glob("*/rankings.npz"))
    count = len(evidence)
    tries = [(rows, count) for rows in dict.fromkeys((k, k // 2, 1, 0))]
    tries += [(0, count >> halvings) for halvings in range(1, count.bit_length())]
    for rows, spans in tries:
        returned = (_returned(file, rows, len(documents)) for file in rankings)
        shown = np.concatenate([evidence[:spans], *returned])
        content = _packed(documents, merged(widened(shown, lengths)))
        if content is not None:
            return content
    return _compressed({})


def _packed(documents: Sequence[Document], shown: IntArray) -> bytes | None:
    """The file's bytes, or None when they would be too many."""
    if int(np.sum(shown[:, 2] - shown[:, 1])) > _PACKS_AT_BEST * MOST_BYTES:
        return None
    pieces: dict[str, list[tuple[int, str]]] = {}
    for doc, start, end in shown.tolist():
        document = documents[doc]
        pieces.setdefault(document.doc_id, []).append((start, document.text[start:end]))
    content = _compressed(pieces)
    return content if len(content) <= MOST_BYTES else None


def _compressed(pieces: Mapping[str, Sequence[tuple[int, str]]]) -> bytes:
    text = json.dumps({"documents": pieces}, ensure_ascii=False)
    # Lone surrogates can occur in JSON, and UTF-8 can't encode them.
    return gzip.compress(text.encode("utf-8", "backslashreplace"), mtime=0)


def _returned(file: Path, rows: int, documents: int) -> IntArray:
    """The first ``rows`` rows of every question of a cell; rows outside the ``documents`` are left out."""
    parts = [np.zeros((0, 3), np.int64)]
    with np.load(file, allow_pickle=False) as archive:
        for kind in ("span", "document"):
            if f"{kind}_doc" not in archive:
                continue
            columns = [
                archive[f"{kind}_{name}"][:, :rows].astype(np.int64) for name in ("doc", "start", "end")
            ]
            there = (columns[0] >= 0) & (columns[0] < documents)
            parts.append(np.stack([column[there] for column in columns], axis=1))
    return np.concatenate(parts)


def _labelled(documents: Sequence[Document], questions: Sequence[Question]) -> IntArray:
    """All evidence spans in the documents, in the order of the questions."""
    positions = {document.doc_id: i for i, document in enumerate(documents)}
    spans = []
    for question in questions:
        for place in (place for evidence in question.evidence for place in evidence.places):
            position = positions.get(place.doc_id)
            if position is not None:
                end = len(documents[position].text) if place.end is None else place.end
                spans.append((position, place.start or 0, end))
    return np.array(spans, np.int64).reshape(-1, 3)


def _line(question: Question) -> dict[str, Any]:
    evidence = [
        evidence_object(
            replace(unit, quote=None, alternatives=tuple(replace(p, quote=None) for p in unit.alternatives))
        )
        for unit in question.evidence
    ]
    return {"question_id": question.question_id, "source": question.source, "evidence": evidence}


def _quoted(unit: dict[str, Any], pieces: Mapping[str, Sequence[tuple[int, str]]]) -> dict[str, Any]:
    quote = text_at(pieces, unit["doc_id"], unit["start"], unit["end"]) if "start" in unit else None
    others = [_quoted(place, pieces) for place in unit.get("alternatives", ())]
    return unit | ({} if quote is None else {"quote": quote}) | ({"alternatives": others} if others else {})
