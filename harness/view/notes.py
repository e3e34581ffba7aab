"""What to know before believing scores: sentences about cells, questions and a whole sweep."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.results.finished import FinishedSweep
from harness.verdict import Verdict
from harness.view.formats import NAMED, counted, listed

# Below this share of truncated tokens a cell is not worth a warning.
NOTABLE_SHARE = 0.001
# With fewer questions a single one moves a mean by more than most differences between cells.
FEW_QUESTIONS = 50
# An interval over fewer documents says nothing of other documents.
FEW_DOCUMENTS = 30
# Below this share of what exact search finds, a cell's loss may be its index's.
_NOTABLE_LOSS = 0.99
# How the figures of a retriever that returns its own chunks are said, and what is counted by each.
_PROBLEMS = {
    "failed_questions": ("of {questions} got no answer, counted as not found", ""),
    "empty_answers": ("of {questions} got no row, counted as not found", ""),
    "unmapped_rows": ("of {rows} matched no document, counted as not relevant", ""),
    "cleaned_rows": ("of {rows} were found in spite of typography, Markdown or HTML", ""),
    "ambiguous_rows": ("had a text that stands in several places; the first was taken", "row"),
    "duplicate_rows": ("removed, as the same answer had it already", "repeated row"),
    "malformed_rows": ("could not be read in full", "row"),
    "bad_scores": ("could not be read as a number; the order of the rows counts", "score"),
    "surplus_rows": ("exceeded the requested number, cut off", "row"),
    "short_answers": ("held fewer rows than the largest k", "answer"),
}


def truncation(name: str, content: Mapping[str, Any]) -> str | None:
    """What share of the text and the evidence was truncated, or None when it is next to nothing."""
    health = content["health"]
    if not health["truncated_tokens"] >= NOTABLE_SHARE:  # nan where it is not known
        return None
    window = content["model"].get("window")
    most = f" of {window} tokens" if window else ""
    return (
        f"{name}: {health['truncated_tokens']:.1%} of the text and {health['truncated_evidence']:.1%} of the "
        f"evidence are truncated: beyond the model's maximum sequence length{most}. "
        f"{int(health['truncated_chunks'])} of {counted(int(health['chunks']), 'chunk')} are longer."
    )


def rounding(name: str, content: Mapping[str, Any]) -> str | None:
    """For how many questions float16 embeddings leave the order of the first rows open, or None."""
    count = int(content["health"].get("unsettled_questions", 0))
    if not count:
        return None
    return (
        f"{name}: embeddings are cached as float16. For {count} of {sum(content['questions'].values())} "
        "questions, rounding may change the first rows; cache_dtype=float32 avoids it."
    )


def precision(name: str, content: Mapping[str, Any]) -> str | None:
    """How far vectors computed in int8 are from exact ones, or None."""
    agreement = content["health"].get("vector_agreement")
    if agreement is None:
        return None
    return (
        f"{name}: computed in {content['model']['precision']}; on a sample, its vectors have a cosine of "
        f"only {agreement:.3f} to exact ones, which changes rankings. precision=float32 shows what it costs."
    )


def approximate(name: str, content: Mapping[str, Any]) -> str | None:
    """What the index misses of what exact search finds, or None where that is next to nothing."""
    recall = content["health"].get("index_recall", 1.0)
    if recall >= _NOTABLE_LOSS:
        return None
    index = content["params"]["index"]
    key = next((key for key in ("ef", "candidates") if key in content["config"]["index"]), "")
    more = f"a larger index.{key} or " if key else ""
    return (
        f"{name}: index={index} finds only {recall:.1%} of the first rows that exact search finds. "
        f"The index loses them, not the model: compare with {more}index=exact before judging."
    )


def own_chunks(name: str, content: Mapping[str, Any]) -> str | None:
    """What was wrong with the answers of a retriever that returns its own chunks, or None."""
    health, remarks = content["health"], content.get("remarks", {})
    totals = {
        "rows": counted(int(health.get("rows", 0)), "row"),
        "questions": counted(sum(content["questions"].values()), "question"),
    }
    said = [
        f"{counted(int(health[key]), noun) if noun else f'{int(health[key]):,}'} {text.format(**totals)} "
        f"(for instance {remarks[key]})"
        for key, (text, noun) in _PROBLEMS.items()
        if health.get(key) and key in remarks
    ]
    return f"{name}: {'; '.join(said)}." if said else None


# What there may be to say of a cell.
OF_CELLS = (truncation, rounding, precision, approximate, own_chunks)


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
    return lines + about_questions([cell.content for cell in sweep.cells])


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


def documents(sweep: FinishedSweep) -> int:
    """How many documents hold the questions' first evidence; blocks (``doc.md#3``) are one document."""
    clusters = sweep.cells[0].questions["cluster"].tolist() if sweep.cells else []
    return len({re.sub(r"#\d+$", "", str(cluster)) for cluster in clusters})
