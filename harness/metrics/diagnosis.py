"""Why a question was not answered: one suspicion per question, the first that holds."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from harness.metrics.coverage import Reach
from harness.metrics.judged import Judged
from harness.metrics.nonblank import NonblankOffsets
from harness.metrics.overlap import union_lengths
from harness.metrics.relevance import UNRANKED, ranks_of
from harness.metrics.seen import nonblank_inside, seen_part
from harness.metrics.sums import sum_by
from harness.records import Chunks, Encoded, FloatArray, IntArray, Ranking

CAUSES = ("not_in_index", "found", "truncated", "split", "partial", "ranked_low", "not_retrieved")

# ``ranked_low`` looks down to this rank, or to a tenth of the rows where that is less.
_LOW_RANK = 100
_PRIMARY = re.compile(r"_at_(\d+)(_tokens)?$")


def diagnose(
    judged: Judged, ranking: Ranking, chunks: Chunks, encoded: Encoded | None, primary: str
) -> tuple[str, ...]:
    """One of ``CAUSES`` for each question, at the k or budget of the metric ``primary``.

    A metric without a k (or with a budget, for documents) is diagnosed at k = 5, or at the largest k if 5 is not asked for.

    - ``not_in_index``: all chunks together do not hold some evidence, so no ranking could have helped. Where not all chunks are known, only
      evidence in documents that are not there.
    - ``found``: every evidence is covered.
    - ``truncated``: more than half of the missing characters were seen by no vector.
    - ``split``: some evidence is covered in part, and unread parts of it lie in other chunks.
    - ``partial``: one evidence is covered, another is not.
    - ``ranked_low``: missing evidence has a relevant row not far below.
    - ``not_retrieved``: none of these.
    """
    reach = primary_reach(judged, primary)
    labels, coverage = judged.labels, judged.coverage
    shares = coverage.place_shares(reach)
    best = _best_place(judged, shares)
    covered = shares[best]
    complete = judged.is_complete(covered)
    missing = ~complete
    holds = {
        "not_in_index": _any(judged, _out_of_reach(judged, chunks)),
        "found": ~_any(judged, missing),
        "truncated": _truncated(judged, best[missing], reach, ranking, chunks, encoded),
        "split": _any(judged, missing & (covered > 0) & _has_unread_piece(judged, reach)[best]),
        "partial": _any(judged, complete) & _any(judged, missing),
        "ranked_low": _any(judged, missing & _ranked_low(judged, chunks.returned)),
    }
    # A question without evidence has nothing that could be found.
    holds["not_in_index"] |= np.bincount(labels.unit_question, minlength=judged.questions) == 0
    chosen = np.select(list(holds.values()), list(range(len(holds))), default=len(holds))
    return tuple(CAUSES[cause] for cause in chosen)


def _out_of_reach(judged: Judged, chunks: Chunks) -> npt.NDArray[np.bool_]:
    """For each unit, bool (units,): no ranking could have covered it."""
    if chunks.complete:
        return ~judged.is_complete(judged.coverage.reachable())
    labels = judged.labels
    there = np.bincount(labels.place_unit[labels.place_doc >= 0], minlength=labels.units) > 0
    return ~there


def primary_reach(judged: Judged, primary: str) -> Reach:
    """What had been read at the k or budget that the name of ``primary`` ends with."""
    found = _PRIMARY.search(primary)
    if found and found[2] and int(found[1]) in judged.reach_of:
        return judged.reach_of[int(found[1])]
    if found and not found[2]:
        return judged.reach_at(int(found[1]))
    return judged.reach_at(5 if 5 in judged.ks else max(judged.ks, default=5))


def _any(judged: Judged, of_unit: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether it holds, bool (questions,), for one of the question's units."""
    return np.bincount(judged.labels.unit_question[of_unit], minlength=judged.questions) > 0


def _best_place(judged: Judged, shares: FloatArray) -> IntArray:
    """int64 (units,): the place of each unit that was read best, the first of equals."""
    unit = judged.labels.place_unit
    order = np.lexsort((-shares, unit))
    return order[np.searchsorted(unit, np.arange(judged.labels.units))]


def _has_unread_piece(judged: Judged, reach: Reach) -> npt.NDArray[np.bool_]:
    """For each place, bool (places,): a part of the place stands only in rows of which nothing was read."""
    coverage = judged.coverage
    last = reach.whole + (reach.cut >= 0)
    unread = coverage.rank > last[coverage.question]
    return np.bincount(coverage.place[unread], minlength=len(coverage.place_unit)) > 0


def _ranked_low(judged: Judged, chunks: Chunks) -> npt.NDArray[np.bool_]:
    """For each unit, bool (units,): a row relevant to the unit stands within the first hundred, or the first tenth of the rows."""
    rows = len(chunks.documents) if judged.kind == "document" else len(chunks)
    return judged.unit_rank <= min(_LOW_RANK, rows // 10)


def _truncated(
    judged: Judged,
    place: IntArray,
    reach: Reach,
    ranking: Ranking,
    chunks: Chunks,
    encoded: Encoded | None,
) -> npt.NDArray[np.bool_]:
    """For each question, bool (questions,): more than half of what was not read of the missing places was not seen."""
    labels = judged.labels
    if encoded is None or not np.any(encoded.seen_tokens < encoded.tokens):
        return np.zeros(judged.questions, dtype=np.bool_)
    doc, start, end = labels.place_doc[place], labels.place_start[place], labels.place_end[place]
    question = labels.place_question[place]
    nonblank = judged.nonblank or NonblankOffsets(chunks.documents, doc)
    read = _read_nonblank(judged.kind, question, (doc, start, end), reach, ranking, chunks.returned, nonblank)
    low, high, pairs = nonblank_inside(seen_part(chunks, encoded), doc, start, end, nonblank)
    total = nonblank.before(doc, end) - nonblank.before(doc, start)
    missing = total - union_lengths(*read, len(place))
    span, low, high = (np.concatenate(both) for both in zip(read, (pairs.span, low, high), strict=True))
    unseen = total - union_lengths(span, low, high, len(place))
    of_question = (sum_by(question, part, judged.questions) for part in (unseen, missing))
    unseen_characters, missing_characters = of_question
    return 2 * unseen_characters > missing_characters


def _read_nonblank(
    kind: str,
    question: IntArray,
    spans: tuple[IntArray, IntArray, IntArray],
    reach: Reach,
    ranking: Ranking,
    chunks: Chunks,
    nonblank: NonblankOffsets,
) -> tuple[IntArray, IntArray, IntArray]:
    """The intervals of the spans that were read: span, low and high in non-blank characters."""
    if kind == "document":  # a missing document is one of which nothing was read
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing
    low, high, (span, row) = nonblank_inside(chunks, *spans, nonblank)
    owner = question[span]
    rank = ranks_of(ranking.rows, owner, row, len(chunks))
    is_cut = (rank == reach.whole[owner] + 1) & (rank != UNRANKED)
    high = np.where(is_cut, np.minimum(high, reach.cut_nonblank[owner]), high)
    kept = (rank <= reach.whole[owner]) | (is_cut & (high > low))
    return span[kept], low[kept], high[kept]
