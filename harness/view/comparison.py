"""Two cells side by side in the terminal: the difference, who won which questions, and what changed most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from harness.cli.say import wrapped
from harness.decision.compare import Changed, Comparison
from harness.verdict import Interval
from harness.view.formats import counted, in_brackets, limits, point_limits, points, rounded, short
from harness.view.sample_size import is_realistic
from harness.view.table import Head, TextTable

_QUOTE = 160
# Thirds of overlap in words.
_SHARED = {"low": "few", "middle": "some", "high": "many", "unknown": "unknown"}
_DIFFERENCE = (Head("difference"), Head("95%"))


def comparison(found: Comparison) -> Iterator[str]:
    """All lines, at most as wide as the terminal; names and ids are never cut."""
    yield from _heading(found)
    yield ""
    yield from _standings(found)
    yield ""
    for sentence in (*_sentences(found), *found.caveats):
        yield from wrapped(sentence, "")
    yield from _by_wording(found)
    first, second = (cell.name for cell in found.cells)
    yield from _changes(first, f"{first} → {second}", found.for_first, found.won)
    yield from _changes(second, f"{first} → {second}", found.for_second, found.lost)


def _heading(found: Comparison) -> Iterator[str]:
    names = dict.fromkeys(sweep.name for sweep in found.sweeps)
    yield from wrapped(" and ".join(names), "")
    post_hoc = " (post hoc)" if found.post_hoc else ""
    questions = counted(found.verdict.questions, "question")
    yield from wrapped(f"{found.metric}{post_hoc} over {questions} decides", "")


def _standings(found: Comparison) -> list[str]:
    """Both cells with their scores, then the settings in which they differ."""
    means = {standing.name: standing.mean for standing in found.verdict.standings}
    rows = []
    for i, cell in enumerate(found.cells):
        mean = means[cell.name]
        score = f"{mean.value:.3f}{in_brackets(limits(mean))}"
        rows.append([cell.name, score, *(values[i] for values in found.settings.values())])
    settings = (Head(key, left=True, wraps=True) for key in found.settings)
    return TextTable([Head("cell", left=True), Head(short(found.metric)), *settings], rows).lines()


def _sentences(found: Comparison) -> Iterator[str]:
    first, second = (cell.name for cell in found.cells)
    best = found.verdict.standings[0]
    ahead, behind = best.name, second if best.name == first else first
    if not found.won and not found.lost:
        yield f"No difference: {first} and {second} have the same {short(found.metric)} on every question."
        return
    tied = f"{found.tied:,} {'is' if found.tied == 1 else 'are'} tied"
    yield f"{first} won {found.won:,}, {second} won {found.lost:,}, {tied}."
    size = points(best.to_best.value) + in_brackets(point_limits(best.to_best), "95%: ")
    if found.verdict.winner is not None:
        yield f"{ahead} is better than {behind}: by {size}."
    elif found.verdict.method == "none":
        yield f"{ahead} is ahead of {behind} by {size}."
        yield "The questions are about too few texts for an interval: nothing is shown."
    else:
        yield f"They can't be told apart: {ahead} is ahead of {behind} by {size}."
        needed = found.verdict.required_sample_size
        if needed is not None:
            yield (
                f"About {counted(rounded(needed), 'question')} would separate them "
                "if the difference stayed so."
                if is_realistic(needed, found.verdict.questions)
                else "More questions will hardly separate them: as observed, they are as good as equal."
            )


def _by_wording(found: Comparison) -> Iterator[str]:
    """The difference by third of overlap and by source, where there is more than one of them."""
    shared, came = "how many words questions share with their evidence", "where the questions come from"
    for compared, grouped, depends in (
        (found.by_overlap, shared, "how users word their questions"),
        (found.by_source, came, came),
    ):
        if len(compared.groups) < 2 or not (found.won or found.lost):
            continue
        yield ""
        yield from wrapped(f"By {grouped} (first − second):", "")
        rows = [
            [_SHARED.get(one.group, one.group), f"{one.questions:,}", *_points(one.difference)]
            for one in compared.groups
        ]
        yield from TextTable([Head("group", left=True), Head("questions"), *_DIFFERENCE], rows).lines()
        if compared.changes_sign:
            yield from wrapped(f"Which of the two is better depends on {depends}.", "")


def _points(difference: Interval) -> tuple[str, str]:
    """The difference in points with its sign, and its limits."""
    return points(difference.value, sign=True), point_limits(difference) or "no interval"


def _changes(better: str, arrow: str, changed: Sequence[Changed], total: int) -> Iterator[str]:
    """The questions that changed most in favour of one cell, with their texts and evidence."""
    if not changed:
        return
    yield ""
    shown = f"{len(changed)} of {total:,}" if len(changed) < total else f"{total:,}"
    yield from wrapped(f"Better in {better} ({shown}); {arrow}:", "")
    for question in changed:
        scores = " → ".join(f"{value:.2f}" for value in question.values)
        ranks = "first rank " + " → ".join("none" if math.isnan(r) else f"{r:.0f}" for r in question.ranks)
        causes = " → ".join(dict.fromkeys(question.causes))
        yield from wrapped(f"{question.question_id}  {scores}  {ranks}  {causes}", "", "    ")
        if question.text:
            yield from wrapped(" ".join(question.text.split()), "    ")
        yield from _evidence(question)


def _evidence(question: Changed) -> Iterator[str]:
    """Where the first evidence stands, and how it begins."""
    for place in question.evidence[:1]:
        quote = " ".join(str(place.get("quote", "")).split())
        some = quote if len(quote) <= _QUOTE else quote[:_QUOTE].rsplit(" ", 1)[0] + " …"
        more = f" and {len(question.evidence) - 1} more" if len(question.evidence) > 1 else ""
        yield from wrapped(f"{place['doc_id']}{more}" + (f": “{some}”" if some else ""), "    ")
