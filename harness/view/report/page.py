"""The report of a finished sweep as one HTML string."""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from harness.decision.findings import Findings
from harness.files.atomic import writing
from harness.results.finished import FinishedSweep
from harness.results.scores import rechunks
from harness.verdict import Verdict
from harness.view.caveats import documents
from harness.view.report import heat, shares
from harness.view.report.board import board
from harness.view.report.by_wording import depends, wordings
from harness.view.report.effects import SHOWN, effect_groups
from harness.view.report.golden_health import golden_health
from harness.view.report.lines import left_grey, recall_lines
from harness.view.report.palette import cell_css
from harness.view.report.payload import payload
from harness.view.report.remedies import remedies
from harness.view.report.scatter import points, scatter
from harness.view.table import short
from harness.view.verdict_words import Words, verdict_words
from harness.view.verdict_words import points as in_points

_HERE = "harness.view.report"
# Questions listed for readers without JavaScript: those that most configurations miss.
_HARDEST = 40


class Chart(NamedTuple):
    """A drawing with its heading and a sentence on how to read it."""

    title: str
    drawing: Markup
    note: str = ""


def page(sweep: FinishedSweep, findings: Findings) -> str:
    """The whole page, under 5 MB for up to 100 cells and 1,000 questions; needs no network and no file beside it.

    Where not all texts fit, the page says what is left out. Without a verdict it says why there is none.
    """
    metric, verdict = findings.metric, findings.verdict
    packed = payload(sweep, metric)
    same_chunks = not rechunks(sweep.cells)
    bars, causes = shares.causes(sweep)
    timed, stages = shares.seconds(sweep)
    best = sweep.cells[0] if sweep.cells else None
    return str(
        _template().render(
            sweep=sweep,
            metric=short(metric),
            words=_words(sweep, findings),
            verdict=verdict,
            tiles=_tiles(sweep, verdict),
            places={cell.name: i for i, cell in enumerate(sweep.cells)},
            cell_css=cell_css([cell.color for cell in sweep.cells]),
            css=_text("report.css"),
            js=_text("report.js"),
            board=board(sweep, findings, same_chunks=same_chunks),
            curves=_curves(sweep),
            grids=heat.grids(sweep, metric),
            costs=_costs(sweep, metric),
            bars=bars,
            causes=causes,
            meaning=shares.MEANING,
            remedies=remedies(best.content["diagnosis"], findings.helped.get(best.name, {})) if best else [],
            groups=effect_groups(findings.effects),
            shown_effects=SHOWN,
            wordings=wordings(findings.wording),
            golden=golden_health(sweep, verdict),
            timed=timed,
            stages=stages,
            packed=Markup(packed.packed),  # noqa: S704 - base64 holds nothing that HTML could read
            left_out=packed.left_out,
            hardest=_hardest(sweep),
        )
    )


def write_page(sweep: FinishedSweep, findings: Findings, path: Path) -> Path:
    """Writes the page to ``path``, whole or not at all, and gives it. Raises ``StoreError`` when the disk refuses."""
    remedy = "Free space or choose another file with output=FILE."
    with writing(path, make_folder=True, remedy=remedy) as file:
        # UTF-8 can't hold lone surrogates of a user's text.
        file.write(page(sweep, findings).encode("utf-8", "replace"))
    return path


def _words(sweep: FinishedSweep, findings: Findings) -> Words:
    said = verdict_words(findings.verdict, sweep, primary=findings.metric)
    if findings.verdict is None and findings.reason:
        said = said._replace(headline=findings.reason)
    return said._replace(caveats=[*depends(findings.wording), *said.caveats])


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["whole"] = _whole
    return made.get_template("report.html.j2")


def _whole(text: str) -> str:
    """Names of configurations stay on one line: no break at their middle dots."""
    return text.replace(" · ", "\u00a0·\u00a0")


def _text(name: str) -> Markup:
    """A file of the package that goes into the page as it is."""
    return Markup(resources.files(_HERE).joinpath(name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def _tiles(sweep: FinishedSweep, verdict: Verdict | None) -> list[tuple[str, str, str]]:
    """Figure, what it is, and a remark, for the line below the verdict."""
    if not sweep.cells:
        return []
    asked = sum(sweep.cells[0].content["questions"].values())
    count = documents(sweep)
    tiles = [(f"{asked:,}", "questions", f"about {count:,} document{'' if count == 1 else 's'}")]
    if verdict is not None and len(verdict.standings) > 1:
        status = Counter(standing.status for standing in verdict.standings)
        tiles.append(
            (f"{status['ruled out']} of {len(verdict.standings)}", "ruled out", "at most 5% risk of an error")
        )
        if verdict.minimum_detectable_effect is not None:
            figure, unit = in_points(verdict.minimum_detectable_effect).split()
            tiles.append((figure, unit, "the difference such a set can show"))
        if verdict.expected is not None:
            tiles.append((f"{verdict.expected:.3f}", "expected score", "of the best, on new questions"))
    return tiles


def _curves(sweep: FinishedSweep) -> list[Chart]:
    found = []
    for pattern, label, title, note in (
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
    ):
        drawing = recall_lines(sweep.cells, pattern, label)
        if drawing is not None:
            grey = left_grey(sweep.cells, pattern)
            more = f" The best and the worst are in colour, {grey} more in grey." if grey else ""
            found.append(Chart(title, drawing, note + more))
    return found


def _costs(sweep: FinishedSweep, metric: str) -> list[Chart]:
    """Quality against each cost in which the cells differ; at a fixed budget of tokens, recall at k against what k costs."""
    fixed = f"recall_at_{sweep.k}" if metric.endswith("_tokens") else metric
    found = []
    for title, cost, label, quality in (
        ("Tokens handed to the LLM", f"context_tokens_at_{sweep.k}", f"tokens in {sweep.k} rows", fixed),
        ("Latency", "query_ms_p95", "ms per query, p95", metric),
        ("Index", "index_mb", "index size in MB", metric),
    ):
        drawing = scatter(points(sweep.cells, cost, quality), label, short(quality))
        if drawing is not None:
            found.append(Chart(title, drawing))
    return found


def _hardest(sweep: FinishedSweep) -> list[tuple[str, str, int]]:
    """Id, text and number of cells that answer it, of the questions that most cells miss."""
    if not sweep.cells:
        return []
    columns = sweep.cells[0].questions
    texts = columns.get("question", columns["question_id"])
    answered: Counter[str] = Counter()
    for cell in sweep.cells:
        found = cell.questions["cause"].astype(str) == "found"
        answered.update(cell.questions["question_id"][found].tolist())
    rows = [
        (str(i), str(text), answered[i])
        for i, text in zip(columns["question_id"].tolist(), texts.tolist(), strict=True)
    ]
    return sorted(rows, key=lambda row: row[2])[:_HARDEST]
