"""What to know before believing a verdict: few documents, synthetic questions, text that no vector saw, failures."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from harness.results.finished import FinishedSweep
from harness.verdict import Verdict
from harness.view import notes

# So many names are written out; of more, the first ones and how many there are besides.
NAMED = 3
# An interval over fewer documents says nothing of other documents.
FEW_DOCUMENTS = 30


def about_set(verdict: Verdict | None, sweep: FinishedSweep) -> list[str]:
    """What the questions can't tell: few documents, clusters, synthetic ones, lost labels."""
    if not sweep.cells:
        return []
    lines = []
    columns = sweep.cells[0].questions
    count = documents(sweep)
    if 0 < count < FEW_DOCUMENTS:
        noun = "document" if count == 1 else "documents"
        lines.append(
            f"The questions are about {count} {noun}: intervals speak of more questions about these, not of other documents."
        )
    if verdict is not None and verdict.method == "cr2":
        lines.append(
            f"Questions about the same text are not independent: these weigh like {verdict.effective_clusters:.0f} texts, "
            "few enough that the intervals are wide and rest on an approximation."
        )
    sources = columns["source"]
    synthetic = int(np.count_nonzero(sources == "synthetic"))
    if synthetic:
        share = "All" if synthetic == len(sources) else f"{synthetic:,} of {len(sources):,}"
        lines.append(
            f"{share} questions were written by a model from the documents: they use the documents' words more than users do. "
            "They rank configurations; they don't predict how many of your users find what they need."
        )
    return lines + notes.about_questions([cell.content for cell in sweep.cells])


def about_cells(sweep: FinishedSweep) -> list[str]:
    """What is to be known of single configurations (truncation, rounding, ...) and failures, the first few in full."""
    warnings: list[str] = []
    for about in notes.OF_CELLS:
        said = [about(cell.name, cell.content) for cell in sweep.cells]
        warnings += _first([text for text in said if text], "configurations")
    failed = [str(failure["name"]) for failure in sweep.failures]
    if failed:
        total = len(failed) + len(sweep.cells)
        warnings.append(f"{len(failed)} of {total} configurations failed: {listed(failed)}.")
    return warnings


def _first(lines: Sequence[str], noun: str) -> list[str]:
    if len(lines) <= NAMED:
        return list(lines)
    return [*lines[:NAMED], f"The same holds, more or less, for {len(lines) - NAMED} more {noun}."]


def documents(sweep: FinishedSweep) -> int:
    """How many documents the questions' first evidence is in; blocks of a long document (``doc.md#3``) are one."""
    clusters = sweep.cells[0].questions["cluster"].tolist() if sweep.cells else []
    return len({re.sub(r"#\d+$", "", str(cluster)) for cluster in clusters})


def listed(names: Sequence[str], most: int = NAMED) -> str:
    """``a, b and c``; of more than ``most`` the first ones, and how many more."""
    if len(names) > most + 1:
        return ", ".join(names[:most]) + f" and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else "none"
