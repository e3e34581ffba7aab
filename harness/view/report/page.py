"""The report of a finished sweep as one HTML page."""

from __future__ import annotations

import math
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, get_args

from markupsafe import Markup

from harness.decision.findings import Findings
from harness.files.atomic import writing
from harness.results.finished import FinishedSweep
from harness.results.scores import rechunks
from harness.verdict import Status
from harness.view.colors import cell_css
from harness.view.formats import counted, figure, limits, point_limits, points, short
from harness.view.notes import about_budgets, noted_in_passing
from harness.view.report.board import board
from harness.view.report.drawing import environment
from harness.view.report.effects import (
    SHARED,
    SHOWN,
    depends,
    effect_groups,
    heat_maps,
    is_clear,
    plain,
)
from harness.view.report.excerpts import hardest
from harness.view.report.payload import payload
from harness.view.report.plots import cost_points, left_grey, recall_lines, scatter
from harness.view.report.questions import MEANING, REMEDIES, causes, golden_set
from harness.view.terminal import seconds_spent
from harness.view.verdict_words import VerdictText, verdict_words

_HERE = "harness.view.report"
# Pattern of the metrics, what the number counts, title and a sentence on how to read it.
_CURVES = (
    (
        r"recall_at_(\d+)",
        "rows read (k)",
        "Recall over rows",
        "In the same number of rows, bigger chunks read more.",
    ),
    (
        r"recall_at_(\d+)_tokens",
        "tokens of context read",
        "Recall over tokens of context",
        "Here each configuration has read the same amount of text.",
    ),
)


class ReportChart(NamedTuple):
    """A drawing with its heading and a sentence on how to read it."""

    title: str
    drawing: Markup
    note: str = ""


def page(sweep: FinishedSweep, findings: Findings) -> str:
    """The whole page, under 5 MB for up to 100 cells and 1,000 questions.

    It needs no network and no file beside it. Where not all texts fit, the page says what is left out.
    Without a verdict it says why there is none.
    """
    packed = payload(sweep, findings.metric)
    assets = {
        "cell_css": cell_css([cell.color for cell in sweep.cells]),
        "css": _text("report.css"),
        "js": _text("report.js"),
        "packed": Markup(packed.packed),  # noqa: S704 - base64 holds nothing that HTML could read
        "left_out": packed.left_out,
    }
    return str(_template().render(sweep=sweep, **_sections(sweep, findings), **assets))


def _sections(sweep: FinishedSweep, findings: Findings) -> dict[str, Any]:
    """What the templates show, section by section."""
    metric, verdict = findings.metric, findings.verdict
    return {
        "metric": short(metric),
        "words": _words(sweep, findings),
        "verdict": verdict,
        "statuses": get_args(Status),
        "findings": findings,
        "places": {cell.name: i for i, cell in enumerate(sweep.cells)},
        "board": board(sweep, findings, same_chunks=not rechunks(sweep.cells)),
        "curves": _curves(sweep),
        "grids": heat_maps(sweep.cells, sweep.axes, metric),
        "costs": _costs(sweep, metric),
        "seconds": seconds_spent([cell.content for cell in sweep.cells]),
        "causes": causes(sweep),
        "meaning": MEANING,
        "remedies": REMEDIES,
        "groups": effect_groups(findings.effects),
        "shown_effects": SHOWN,
        "shared": SHARED,
        "golden": golden_set(sweep, verdict),
        "hardest": hardest(sweep),
    }


def write_page(sweep: FinishedSweep, findings: Findings, path: Path) -> Path:
    """Writes the page to ``path``, whole or not at all, and gives it.

    Raises ``StoreError`` when the disk refuses.
    """
    remedy = "Free space or choose another file with output=FILE."
    with writing(path, make_folder=True, remedy=remedy) as file:
        # UTF-8 can't hold lone surrogates of a user's text.
        file.write(page(sweep, findings).encode("utf-8", "replace"))
    return path


def _words(sweep: FinishedSweep, findings: Findings) -> VerdictText:
    said = verdict_words(findings.verdict, sweep, primary=findings.metric)
    if findings.verdict is None and findings.reason:
        said = said._replace(headline=findings.reason)
    return said._replace(
        details=[*said.details, *about_budgets(findings.budgets)],
        caveats=[*depends(findings.wording), *said.caveats],
    )


@cache
def _template() -> Any:
    made = environment()
    filters = (counted, figure, is_clear, limits, plain, point_limits, points)
    made.filters |= {given.__name__: given for given in filters}
    made.filters |= {"whole": _whole, "key": _key, "signed": _signed}
    return made.get_template("report.html.j2")


def _whole(text: str) -> str:
    """Names of configurations stay on one line: no break at their middle dots."""
    return text.replace(" · ", "\u00a0·\u00a0")


def _key(value: float) -> str:
    """What a column is sorted by; empty where there is no value."""
    return f"{value:.6f}" if math.isfinite(value) else ""


def _signed(difference: float) -> str:
    """A difference in points, without the unit."""
    return points(difference, sign=True).split()[0]


def _text(name: str) -> Markup:
    """A file of the package that goes into the page as it is."""
    return Markup(resources.files(_HERE).joinpath(name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def _curves(sweep: FinishedSweep) -> list[ReportChart]:
    metrics = {cell.name: cell.content["metrics"] for cell in sweep.cells}
    found = []
    for pattern, label, title, note in _CURVES:
        drawing = recall_lines(metrics, pattern, label)
        if drawing is not None:
            grey = left_grey(metrics, pattern)
            more = f" The best and the worst are in colour, {grey} more in grey." if grey else ""
            found.append(ReportChart(title, drawing, note + more))
    return found


def _costs(sweep: FinishedSweep, metric: str) -> list[ReportChart]:
    """Quality against each cost in which the cells differ; at a fixed budget, recall at k and its tokens."""
    fixed = f"recall_at_{sweep.k}" if metric.endswith(("_tokens", "_over_budgets")) else metric
    found = []
    noted = f"They {noted_in_passing(sweep)}."
    for title, cost, label, quality, note in (
        (
            "Tokens of returned context",
            f"context_tokens_at_{sweep.k}",
            f"tokens in {counted(sweep.k, 'row')}",
            fixed,
            "",
        ),
        ("Latency, about", "query_ms_p95", "ms per query, p95", metric, noted),
        ("Index", "index_mb", "index size in MB", metric, ""),
    ):
        drawing = scatter(cost_points(sweep.cells, cost, quality), label, short(quality))
        if drawing is not None:
            found.append(ReportChart(title, drawing, note))
    return found
