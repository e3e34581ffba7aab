"""What ``verify`` says: whether the two are in parity, on what that rests, and where they differ."""

from __future__ import annotations

import math
from collections.abc import Iterator

from harness.decision.rank_agreement import Parity
from harness.verdict import Interval
from harness.view.table import short
from harness.view.verdict_words import limits, points

# Questions that differ most.
SHOWN = 10
# Means that differ by less differ by the digits that were written down, or by a processor.
_ROUNDING = 5e-4


def sentences(found: Parity, *, in_parity: bool, min_equal: float, margin: float) -> list[str]:
    """The outcome first, then what it rests on."""
    same, total = sum(alike.in_order for alike in found.alike.values()), len(found.alike)
    head = "In parity" if in_parity else "Not in parity"
    said = [
        f"{head}: {same:,} of {total:,} questions ({same / total:.1%}) get the same {found.k} rows in the same order."
    ]
    said.append(
        f"In any order {found.share('as_sets'):.1%}, of the same documents in the same order {found.share('documents'):.1%}; "
        f"{found.share('shared'):.1%} of the rows are the same."
    )
    enough = same / total >= min_equal
    if enough and same == total:
        return said
    metric, change = short(found.primary), found.change
    if enough:
        said.append(f"At least {min_equal:.1%} must be the same.")
    elif change.outcome == "non-inferior":
        said.append(f"The rows differ, but {metric} is shown to lose less than {points(margin)}.")
    elif change.difference.lo is None:
        said.append(
            f"{min_equal:.1%} must be the same; and what {metric} loses can't be told: the questions are about too few texts for an interval."
        )
    else:
        said.append(
            f"{min_equal:.1%} must be the same, or {metric} shown to lose less than {points(margin)}: neither holds."
        )
    said.append(f"By {metric}, {change.better} questions are better live and {change.worse} worse.")
    return said


def moved(found: Parity, recorded: float) -> list[str]:
    """That the configuration itself no longer scores what was recorded, if so: documents, models or code have changed since."""
    now = next(iter(found.metrics.values()))[0]
    if abs(now - recorded) < _ROUNDING:
        return []
    said = f"The configuration itself scores {short(found.primary)} {now:.3f} here and {recorded:.3f} when it was recorded: documents, labels, "
    return [said + "models or code have changed since. python -m harness.gate tells whether that matters."]


def table(found: Parity) -> Iterator[str]:
    """The metrics of both with their difference; the deciding one first."""
    rows = [("metric", "recorded", "live", "live − recorded", "95%")]
    for name, (recorded, live, difference) in found.metrics.items():
        moved = points(difference.value, sign=True)
        rows.append((short(name), f"{recorded:.3f}", f"{live:.3f}", moved, _between(difference)))
    sizes = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(
            t.ljust(n) if i == 0 else t.rjust(n) for i, (t, n) in enumerate(zip(row, sizes, strict=True))
        )
        for row in rows
    ]
    yield ""
    yield lines[0]
    yield "-" * len(lines[0])
    yield from lines[1:]


def differing(found: Parity) -> Iterator[str]:
    """The questions that differ most."""
    if not found.differing:
        return
    shown = found.differing[:SHOWN]
    width = max(len(question.question_id) for question in shown)
    yield ""
    yield f"differ most ({len(shown)} of {len(found.differing):,}): {short(found.primary)} recorded → live"
    for question in shown:
        scores = f"{_score(question.recorded)} → {_score(question.live)}"
        yield f"  {question.question_id:<{width}}  {scores}  {question.shared} of {question.rows} rows the same"


def _between(difference: Interval) -> str:
    return limits(difference, scale=100, digits=1) or "no interval"


def _score(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
