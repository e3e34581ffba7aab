"""What is said of a configuration scored again: by ``verify``, and on held-out questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from harness.cli.say import wrapped
from harness.decision.holdout import Confirmation
from harness.decision.rank_agreement import Parity
from harness.view.formats import counted, in_brackets, limits, point_limits, points, returned, short
from harness.view.table import Head, TextTable

# Questions that lost or differ most, in tables and files.
SHOWN = 10
# Means that differ by less differ by the digits that were written down, or by a processor.
_ROUNDING = 5e-4
TOO_FEW = "The questions are about too few texts for an interval"


def confirmed(found: Confirmation) -> str:
    """What the choice scores on questions that nothing was chosen by."""
    score = f"{short(found.metric)} {found.score.value:.3f}{in_brackets(limits(found.score))}"
    look = "This was the first look at them."
    if found.looks > 1:
        look = f"This was look number {found.looks} at them: each further look makes them less of a test."
    return f"On {counted(found.questions, 'held-out question')}, it scores {score}. {look}"


def parity_sentences(found: Parity, *, in_parity: bool, min_equal: float, margin: float) -> list[str]:
    """The outcome of ``verify`` first, then what it rests on."""
    same, total = sum(alike.in_order for alike in found.alike.values()), len(found.alike)
    within = "rows within " if found.point.k is None else ""
    rows = f"get the same {within}{returned(found.point)} in the same order"
    head = "In parity" if in_parity else "Not in parity"
    said = [
        f"{head}: {same:,} of {counted(total, 'question')} ({same / total:.1%}) {rows}.",
        f"In any order: {found.share('as_sets'):.1%}.",
        f"The same documents in the same order: {found.share('documents'):.1%}.",
        f"Of all rows, {found.share('shared'):.1%} are the same.",
    ]
    enough = same / total >= min_equal
    if enough and same == total:
        return said
    metric, change = short(found.primary), found.change
    required = f"At least {min_equal:.1%} must be the same"
    within = f"shown to differ by less than {points(margin)}"
    if enough:
        said.append(f"{required}.")
    elif in_parity:
        said.append(f"The rows differ, but {metric} is {within}.")
    elif change.difference.lo is None:
        said += [f"{required}.", f"{TOO_FEW}: what {metric} loses can't be told."]
    else:
        said.append(f"{required}, or {metric} must be {within}. Neither holds.")
    said.append(f"By {metric}, {counted(change.better, 'question')} better live and {change.worse:,} worse.")
    if not in_parity:
        said.append("Compare its documents and settings with the production file, and verify again.")
    return said


def parity_content(found: Parity) -> dict[str, Any]:
    """The figures as plain values for scripts; None where there is none."""
    metrics = [
        {"metric": name, "recorded": recorded, "live": live, "limits_95": [difference.lo, difference.hi]}
        for name, (recorded, live, difference) in found.metrics.items()
    ]
    differing = [
        {key: None if value != value else value for key, value in question._asdict().items()}  # noqa: PLR0124 - nan
        for question in found.differing
    ]
    shares = {name: found.share(name) for name in ("in_order", "as_sets", "documents", "shared")}
    head = {"questions": len(found.alike), **found.point.settings(), **shares}
    return {**head, "metrics": metrics, "differing": differing}


def moved(found: Parity, recorded: float) -> list[str]:
    """That the configuration itself no longer scores what was recorded, if so."""
    now = next(iter(found.metrics.values()))[0]
    if abs(now - recorded) < _ROUNDING:
        return []
    return [
        f"The configuration scores {short(found.primary)} {now:.3f} here; {recorded:.3f} was recorded.",
        "Documents, labels, models or code have changed since.",
        "python -m harness.gate tells whether that matters.",
    ]


def parity_table(found: Parity) -> list[str]:
    """The metrics of both, the deciding one first; then the questions that differ most."""
    rows = [
        [
            short(name),
            f"{recorded:.3f}",
            f"{live:.3f}",
            points(difference.value, sign=True),
            point_limits(difference) or "no interval",
        ]
        for name, (recorded, live, difference) in found.metrics.items()
    ]
    heads = [Head("metric", left=True), *map(Head, ("recorded", "live", "live − recorded", "95%"))]
    lines = ["", *TextTable(heads, rows).lines()]
    shown = found.differing[:SHOWN]
    if shown:
        title = f"Rows differ most ({len(shown)} of {len(found.differing):,}), {short(found.primary)}"
        lines += ["", f"{title} recorded → live:"]
    for q in shown:
        head = f"{q.question_id}  {_score(q.recorded)} → {_score(q.live)}  {q.shared} of {q.rows} rows alike"
        cited = {"evidence": q.evidence, "recorded": q.first_recorded, "live": q.first_live}
        lines += in_full(head, q.question, cited)
    return lines


def in_full(head: str, question: str, cited: Mapping[str, str]) -> list[str]:
    """A question below its ``head``, with what is ``cited`` of documents, each behind its label."""
    lines = [head, *wrapped(question, "  ")]
    for label, text in cited.items():
        lines += wrapped(f"{label:<10} {text}", "  ", " " * 13)
    return lines


def left_out(reasons: Mapping[str, str]) -> list[str]:
    """The questions that can't be scored any more, each with its reason; the first few of many."""
    if not reasons:
        return []
    count = len(reasons)
    verb, them = ("is", "it") if count == 1 else ("are", "they")
    subject = f"{counted(count, 'question')} {verb} left out on both sides"
    said = [f"{subject}, because {them} can't be scored any more:"]
    said += [f"  {name}: {reason}." for name, reason in list(reasons.items())[:SHOWN]]
    return said + ([f"  and {count - SHOWN:,} more."] if count > SHOWN else [])


def _score(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
