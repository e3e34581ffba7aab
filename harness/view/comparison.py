"""Two cells side by side, in the terminal: the difference, who answered what, and the questions that changed most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from harness.cli.say import wrapped
from harness.decision.compare import Changed, Comparison
from harness.verdict import Interval
from harness.view.table import short

_QUOTE = 160
# Thirds of overlap, in their order and in words.
_SHARED = {"low": (0, "few"), "middle": (1, "some"), "high": (2, "many"), "unknown": (3, "unknown")}


def comparison(found: Comparison) -> Iterator[str]:
    """All lines, at most as wide as the terminal; names and ids are never cut."""
    yield from _heading(found)
    yield ""
    yield from _standings(found)
    yield ""
    for sentence in (*_sentences(found), *found.caveats):
        yield from wrapped(sentence, "")
    yield from _to_baseline(found)
    yield from _by_wording(found)
    first, second = (cell.name for cell in found.cells)
    yield from _changes(first, f"{first} → {second}", found.for_first, found.won)
    yield from _changes(second, f"{first} → {second}", found.for_second, found.lost)


def _heading(found: Comparison) -> Iterator[str]:
    names = dict.fromkeys(sweep.name for sweep in found.sweeps)
    yield from wrapped(" and ".join(names), "")
    afterwards = " (chosen after seeing the results)" if found.post_hoc else ""
    yield from wrapped(f"{found.metric}{afterwards} over {found.verdict.questions:,} questions decides", "")


def _standings(found: Comparison) -> Iterator[str]:
    """Both cells with their scores, then the settings in which they differ."""
    means = {standing.name: standing.mean for standing in found.verdict.standings}
    names = [cell.name for cell in found.cells]
    settings = list(found.settings)
    rows = [("cell", short(found.metric), *settings)]
    for i, name in enumerate(names):
        rows.append((name, _score(means[name]), *(found.settings[key][i] for key in settings)))
    sizes = [max(cell_len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(
            text + " " * (size - cell_len(text)) for text, size in zip(row, sizes, strict=True)
        ).rstrip()


def _sentences(found: Comparison) -> Iterator[str]:
    first, second = (cell.name for cell in found.cells)
    best = found.verdict.standings[0]
    difference, ahead, behind = best.to_best, best.name, second if best.name == first else first
    if not found.won and not found.lost:
        yield f"No difference: {first} and {second} have the same {short(found.metric)} on every question."
        return
    yield (
        f"{first} won {found.won:,}, {second} won {found.lost:,}, {found.tied:,} {'is' if found.tied == 1 else 'are'} tied."
    )
    limits = _limits(difference)
    size = f"{100 * difference.value:.1f} points" + (f" (95%: {limits})" if limits else "")
    if found.verdict.winner is not None:
        yield f"{ahead} is better than {behind}: by {size}."
    elif found.verdict.method == "none":
        yield f"{ahead} is ahead of {behind} by {size}, but the questions are about too few texts for an interval: nothing is shown."
    else:
        yield f"They can't be told apart: {ahead} is ahead of {behind} by {size}." + _needed(found)


def _needed(found: Comparison) -> str:
    needed = found.verdict.required_sample_size
    if needed is None:
        return ""
    # An estimate: two digits of it are more than is known.
    return f" About {round(needed, 2 - len(str(needed))):,} questions would separate them if the difference stayed so."


def _to_baseline(found: Comparison) -> Iterator[str]:
    if found.to_baseline:
        yield ""
        yield from wrapped(f"Against {found.baseline}, which runs today, with limits that hold for both:", "")
        yield from _aligned([(name, *_points(difference)) for name, difference in found.to_baseline.items()])


def _by_wording(found: Comparison) -> Iterator[str]:
    """The difference by third of overlap and by source, where there is more than one of them."""
    for heading, compared, depends in (
        (
            "By how many words questions share with their evidence",
            found.by_overlap,
            "how users word their questions",
        ),
        ("By where the questions come from", found.by_source, "where the questions come from"),
    ):
        if len(compared.groups) < 2 or not (found.won or found.lost):
            continue
        yield ""
        yield from wrapped(f"{heading} (first − second):", "")
        groups = sorted(compared.groups, key=lambda group: _SHARED.get(group.group, (9, ""))[0])
        yield from _aligned(
            [
                (
                    _SHARED.get(group.group, (9, group.group))[1],
                    f"{group.questions:,} questions",
                    *_points(group.difference),
                )
                for group in groups
            ]
        )
        if compared.changes_sign:
            yield from wrapped(f"Which of the two is better depends on {depends}.", "")


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns: the first flush left, the others flush right."""
    sizes = [max(cell_len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        padding = [" " * (size - cell_len(text)) for text, size in zip(row, sizes, strict=True)]
        others = [pad + text for text, pad in zip(row[1:], padding[1:], strict=True)]
        yield "  ".join(["  " + row[0] + padding[0], *others]).rstrip()


def _points(difference: Interval) -> tuple[str, str]:
    """The difference in points with its sign, and its limits in brackets."""
    limits = _limits(difference)
    return f"{100 * difference.value:+.1f} points".replace(
        "-", "−"
    ), f"({limits})" if limits else "(no interval)"


def _changes(better: str, arrow: str, changed: Sequence[Changed], total: int) -> Iterator[str]:
    if not changed:
        return
    yield ""
    shown = f"{len(changed)} of {total:,}" if len(changed) < total else f"{total:,}"
    yield from wrapped(f"Better in {better} ({shown}); {arrow}:", "")
    size = max(cell_len(question.question_id) for question in changed)
    indent = " " * min(size + 2, 16)
    for question in changed:
        scores = " → ".join(f"{value:.2f}" for value in question.values)
        ranks = "first rank " + " → ".join(map(_rank, question.ranks))
        causes = " → ".join(dict.fromkeys(question.causes))
        padded = question.question_id + " " * (size - cell_len(question.question_id))
        yield from wrapped(f"{padded}  {scores}  {ranks}  {causes}", "", indent)
        if question.text:
            yield from wrapped(" ".join(question.text.split()), indent)
        yield from _evidence(question, indent)


def _evidence(question: Changed, indent: str) -> Iterator[str]:
    """Where the first evidence stands, and how it begins."""
    for place in question.evidence[:1]:
        quote = " ".join(str(place.get("quote", "")).split())
        some = quote if len(quote) <= _QUOTE else quote[:_QUOTE].rsplit(" ", 1)[0] + " …"
        more = f" and {len(question.evidence) - 1} more" if len(question.evidence) > 1 else ""
        yield from wrapped(f"{place['doc_id']}{more}" + (f": “{some}”" if some else ""), indent)


def _score(mean: Interval) -> str:
    limits = "" if mean.lo is None or mean.hi is None else f" ({mean.lo:.3f} to {mean.hi:.3f})"
    return f"{mean.value:.3f}{limits}"


def _limits(difference: Interval) -> str:
    if difference.lo is None or difference.hi is None:
        return ""
    return " to ".join(f"{100 * value:.1f}".replace("-", "−") for value in (difference.lo, difference.hi))


def _rank(rank: float) -> str:
    return "none" if math.isnan(rank) else f"{rank:.0f}"
