"""What the check proposes, put into the lines of the golden file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.files.atomic import writing
from harness.golden.fields import one_of
from harness.golden.parse import IDS, LOST
from harness.golden.written import evidence_object
from harness.questions.check import Examined, Piece
from harness.questions.check.rewording import Reworded
from harness.records import Evidence


def accepted(
    objects: Sequence[Mapping[str, Any]],
    examined: Examined,
    reworded: Mapping[tuple[int, int], Reworded],
    several: Mapping[tuple[int, int], Sequence[Evidence]],
    copies: Mapping[tuple[int, int], Sequence[Evidence]],
) -> tuple[list[dict[str, Any]], Counter[str]]:
    """The lines as they should be, and how many pieces of evidence were re-anchored, reworded, given alternatives, marked or unmarked.

    ``objects[i]`` is the line of ``examined.questions[i]``. Evidence that is as it should be stays as it was written; so do lines of
    other layouts than our own. A line without an id gets the one that it has had so far.
    """
    lines = [dict(item) for item in objects]
    done: Counter[str] = Counter()
    for piece in examined.pieces():
        line = lines[piece.question]
        given = line.get("evidence")
        if not isinstance(given, list):
            continue
        key = (piece.question, piece.position)
        what, item = _new(
            piece,
            reworded.get(key),
            [*copies.get(key, ()), *several.get(key, ())],
            is_marked=key in examined.marked,
        )
        if item is not None:
            done.update(what)
            line["evidence"] = [*given[: piece.position], item, *given[piece.position + 1 :]]
    if done:
        for line, question in zip(lines, examined.questions, strict=True):
            if one_of(line, IDS, "the id") is None:
                line["question_id"] = question.question_id
    return lines, done


def _new(
    piece: Piece, new: Reworded | None, copies: Sequence[Evidence], *, is_marked: bool
) -> tuple[list[str], dict[str, Any] | None]:
    """What is done to one evidence, and its new object; None where nothing is."""
    now = piece.unit.evidence
    if now is None and new is not None:
        return ["reworded"], evidence_object(
            replace(
                piece.written,
                doc_id=new.doc_id,
                start=new.start,
                end=new.end,
                quote=new.quote,
                alternatives=(),
            )
        )
    if now is None and copies:
        first, *others = copies
        return ["given alternatives"], evidence_object(
            replace(first, grade=piece.written.grade, alternatives=tuple(others))
        )
    if now is None:
        is_lost = piece.unit.state == "LOST" and not is_marked
        return (
            (["marked as lost"], {**evidence_object(piece.written), "state": LOST}) if is_lost else ([], None)
        )
    what = ["re-anchored"] if piece.unit.state == "MOVED" else []
    what += ["given alternatives"] if copies else []
    what += ["unmarked"] if is_marked else []
    if not what:
        return [], None
    return what, evidence_object(replace(now, alternatives=(*now.alternatives, *copies)))


def keep_backup(path: Path) -> Path:
    """A copy of ``path`` beside it, on the disk when this returns; earlier copies are kept. Raises ``StoreError``."""
    number, backup = 1, path.with_name(f"{path.name}.bak")
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.bak{number}")
    remedy = f"Free space or allow writing there; {path.name} was not changed."
    with writing(backup, durable=True, remedy=remedy) as file:
        file.write(path.read_bytes())
    return backup
