"""What to know before believing scores: sentences about cells, questions and a whole sweep."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.decision.budget_order import BudgetOrder
from harness.decision.decide import Decision
from harness.results.finished import FinishedSweep
from harness.retriever import LATENCY_QUESTIONS
from harness.verdict import Verdict
from harness.verdict.latency import P95_FROM
from harness.view.cell_notes import OF_CELLS
from harness.view.formats import NAMED, counted, listed
from harness.view.unjudged import unjudged

# With fewer questions a single one moves a mean by more than most differences between cells.
FEW_QUESTIONS = 50
# An interval over fewer documents says nothing of other documents.
FEW_DOCUMENTS = 30


def about_latency(decision: Decision) -> str:
    """What the milliseconds of a decision's cells rest on."""
    found = decision.latency
    if found is None:
        noted = noted_in_passing(decision.sweep)
        return f"Milliseconds with ~ {noted}: only one twentieth of another counts as lower."
    one = next(iter(found.cells.values()))
    load = "" if math.isnan(found.load) else f" at a load of {found.load:.1f}"
    few = "" if len(one.ms) >= P95_FROM else " Of so few, the slowest stands for the p95."
    return (
        f"Milliseconds without ~: {counted(len(one.ms), 'question')}, the least of {one.passes} passes each, "
        f"cells in turns on one of {counted(os.cpu_count() or 1, 'core')}{load}.{few}"
    )


def noted_in_passing(sweep: FinishedSweep) -> str:
    """That a sweep's latencies are no measurement, and over how many of its questions they are."""
    questions = max((len(cell.questions["question_id"]) for cell in sweep.cells), default=0)
    count = counted(min(questions, LATENCY_QUESTIONS), "question")
    return f"were noted by the sweep in passing, over {count} and under its load"


def about_questions(contents: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the set of questions can't tell: too few of them, several kinds, labels that were lost."""
    if not contents:
        return []
    lines = []
    questions = contents[0]["questions"]
    count = max(questions.values())
    if count < FEW_QUESTIONS:
        lines.append(
            f"Only {counted(count, 'question')}: one more or less that is found moves a cell by "
            f"{100 / count:.0f} points."
        )
    if len(questions) > 1:
        lines.append(
            f"The table speaks of the {counted(questions['span'], 'question')} with spans. "
            f"Scored apart: {questions['document']:,} about whole documents "
            "(document_... in result.json and MLflow)."
        )
    missing = int(max(content["health"]["lost_evidence"] for content in contents))
    if missing:
        kept = any(content["config"]["golden"].get("keep_lost") for content in contents)
        verb = "is" if missing == 1 else "are"
        fate = "counted as missed" if kept else "left out of every score"
        lines.append(
            f"{counted(missing, 'label')} {verb} not found in the documents as written and {verb} {fate}."
        )
    return lines


def cell_note(name: str, content: Mapping[str, Any], primary: str) -> str:
    """The Markdown of a cell's page: the deciding metric, then what to know before believing it."""
    kind, count = next(iter(content["questions"].items()))
    lines = [
        f"**{name}**: {primary} {content['metrics'][primary]:.3f} over {counted(count, f'{kind} question')}."
    ]
    lines += [f"⚠ {warning}" for about in OF_CELLS if (warning := about(name, content))]
    lines += about_questions([content])
    causes = ", ".join(f"{cause} {n}" for cause, n in content["diagnosis"].items())
    lines.append(f"Diagnosis (suspicions, not findings): {causes}.")
    return "\n\n".join(lines)


def about_set(verdict: Verdict | None, sweep: FinishedSweep) -> list[str]:
    """What the questions can't tell: few documents, clusters, synthetic ones, lost labels."""
    if not sweep.cells:
        return []
    lines = []
    count = documents(sweep)
    if 0 < count < FEW_DOCUMENTS:
        lines.append(
            f"The questions are about {counted(count, 'document')}: intervals speak of more questions "
            "about these, not of other documents."
        )
    if verdict is not None and verdict.method == "cr2":
        lines.append(
            "Questions about the same text are not independent: these weigh like "
            f"{counted(round(verdict.effective_clusters), 'text')}. "
            "The intervals are wide and rest on an approximation."
        )
    sources = sweep.cells[0].questions["source"]
    synthetic = int(np.count_nonzero(sources == "synthetic"))
    if synthetic:
        some = f"{synthetic:,} of {counted(len(sources), 'question')}"
        share = "All questions" if synthetic == len(sources) else some
        lines.append(
            f"{share} were written by a model from the documents: "
            "they use the documents' words more than users do. "
            "They rank configurations; they don't predict how many of your users find what they need."
        )
    return [*lines, *unjudged(sweep), *about_questions([cell.content for cell in sweep.cells])]


def about_cells(sweep: FinishedSweep) -> list[str]:
    """What is to be known of single configurations and of failures, the first few in full."""
    warnings: list[str] = []
    for about in OF_CELLS:
        said = [text for cell in sweep.cells if (text := about(cell.name, cell.content))]
        warnings += said[:NAMED]
        if len(said) > NAMED:
            warnings.append(
                f"The same holds, more or less, for {counted(len(said) - NAMED, 'more configuration')}."
            )
    failed = [str(failure["name"]) for failure in sweep.failures]
    if failed:
        total = counted(len(failed) + len(sweep.cells), "configuration")
        warnings.append(f"{len(failed)} of {total} failed: {listed(failed)}.")
    return warnings


def about_budgets(order: BudgetOrder | None) -> list[str]:
    """In one sentence, whether another budget has another best configuration; "leads" is observed."""
    if order is None:
        return []
    every = list(order.leaders)
    at = {name: [b for b in every if order.leaders[b] == name] for name in order.leaders.values()}
    if len(at) == 1:
        return [f"{order.leaders[every[0]]} leads at {_budgets(every, every)} tokens."]
    leads = ", ".join(f"{name} at {_budgets(budgets, every)}" for name, budgets in at.items())
    if order.depends:
        return [f"The best depends on the budget in tokens: {leads}. Choose your budget."]
    return [f"Highest observed by budget in tokens: {leads}. That the best depends on it is not shown."]


def _budgets(budgets: Sequence[int], every: Sequence[int]) -> str:
    """``500 to 2,000`` for three or more neighbours among ``every`` budget, else all of them."""
    first = every.index(budgets[0])
    if len(budgets) > 2 and list(budgets) == list(every[first : first + len(budgets)]):
        return f"{budgets[0]:,} to {budgets[-1]:,}"
    return listed([f"{budget:,}" for budget in budgets], len(budgets))


def documents(sweep: FinishedSweep) -> int:
    """How many documents hold the questions' first evidence; blocks (``doc.md#3``) are one document."""
    clusters = sweep.cells[0].questions["cluster"].tolist() if sweep.cells else []
    return len({re.sub(r"#\d+$", "", str(cluster)) for cluster in clusters})
