"""Whether the evidence stands where the labels say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.golden import State
from harness.questions.check import Examined, Finding, Look, Piece, counted, shortened
from harness.questions.check.rewording import Reworded

_STATES: tuple[State, ...] = ("VALID", "MOVED", "CHANGED", "LOST")


def labels(examined: Examined, reworded: Mapping[tuple[int, int], Reworded]) -> Look:
    """States of all evidence, and what to do about what is not VALID.

    ``reworded``: for evidence that changed, by position of question and evidence, the text that seems to have taken its place.
    """
    pieces = list(examined.pieces())
    states = Counter(piece.unit.state for piece in pieces)
    fact = ", ".join(f"{states[state]:,} {state}" for state in _STATES if states[state])
    changed = [piece for piece in pieces if piece.unit.state == "CHANGED"]
    ambiguous = [piece for piece in changed if piece.unit.reason.startswith("AMBIGUOUS")]
    lost = [piece for piece in pieces if piece.unit.state == "LOST"]
    known = [piece for piece in lost if (piece.question, piece.position) in examined.marked]
    found = (
        _moved(examined, [piece for piece in pieces if piece.unit.state == "MOVED"]),
        _changed(examined, [piece for piece in changed if piece not in ambiguous], reworded),
        _ambiguous(examined, ambiguous),
        _lost(examined, [piece for piece in lost if piece not in known]),
        _known(examined, known),
    )
    return Look("labels", fact, tuple(finding for finding in found if finding))


def _moved(examined: Examined, pieces: Sequence[Piece]) -> Finding | None:
    if not pieces:
        return None
    return Finding(
        "moved",
        "note",
        _ids(examined, pieces),
        f"{counted(len(pieces), 'label has', 'labels have')} MOVED: the quote stands elsewhere now, once. It was found and is scored.",
        "accept=true writes the new places down.",
        tuple(_line(examined, piece, _place(piece)) for piece in pieces),
    )


def _changed(
    examined: Examined, pieces: Sequence[Piece], reworded: Mapping[tuple[int, int], Reworded]
) -> Finding | None:
    if not pieces:
        return None
    details = []
    for piece in pieces:
        new = reworded.get((piece.question, piece.position))
        if new is None:
            details.append(_line(examined, piece, piece.unit.reason))
        else:
            details += [
                _line(examined, piece, f"{new.doc_id} at {new.start:,}"),
                f"  was: {shortened(piece.written.quote or '', 300)}",
                f"  now: {shortened(new.quote, 300)}",
            ]
    return Finding(
        "changed",
        "serious",
        _ids(examined, pieces),
        f"{counted(len(pieces), 'quote', 'quotes')} CHANGED in the documents; {_out(examined, pieces)}.",
        "Compare old and new; accept=true takes over the new text where it still answers the question. Else correct or delete the line.",
        tuple(details),
    )


def _ambiguous(examined: Examined, pieces: Sequence[Piece]) -> Finding | None:
    if not pieces:
        return None
    return Finding(
        "ambiguous",
        "serious",
        _ids(examined, pieces),
        f"{counted(len(pieces), 'quote stands', 'quotes stand')} in several places, and the label does not say in which; {_out(examined, pieces)}.",
        "accept=true lets any of the places count; where only one answers the question, give its start and end instead.",
        tuple(_line(examined, piece, piece.unit.reason) for piece in pieces),
    )


def _lost(examined: Examined, pieces: Sequence[Piece]) -> Finding | None:
    if not pieces:
        return None
    return Finding(
        "lost",
        "serious",
        _ids(examined, pieces),
        f"{counted(len(pieces), 'quote is', 'quotes are')} LOST: nothing like it stands in the documents; {_out(examined, pieces)}.",
        "Was it deleted on purpose? Then accept=true marks the label and keeps it. Else give the evidence that answers now.",
        tuple(_line(examined, piece, piece.unit.reason) for piece in pieces),
    )


def _known(examined: Examined, pieces: Sequence[Piece]) -> Finding | None:
    if not pieces:
        return None
    return Finding(
        "known to be lost",
        "note",
        _ids(examined, pieces),
        f"{counted(len(pieces), 'label is', 'labels are')} marked as LOST in the file; {_out(examined, pieces)}.",
        "Nothing to do: should the text come back, so does the question.",
    )


def _out(examined: Examined, pieces: Sequence[Piece]) -> str:
    number = len(_ids(examined, pieces))
    return f"{counted(number, 'question is', 'questions are')} out of every score"


def _ids(examined: Examined, pieces: Sequence[Piece]) -> tuple[str, ...]:
    return examined.ids([piece.question for piece in pieces])


def _place(piece: Piece) -> str:
    now = piece.unit.evidence
    if now is None:
        return ""
    at = "" if now.start is None else f" at {now.start:,}"
    moved = (
        f"in {now.doc_id}" if now.doc_id == piece.written.doc_id else f"{piece.written.doc_id} → {now.doc_id}"
    )
    return f"{moved}{at}: “{shortened(now.quote or '')}”"


def _line(examined: Examined, piece: Piece, text: str) -> str:
    return f"{examined.questions[piece.question].question_id}: {text}"
