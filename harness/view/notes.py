"""Sentences about cells that stand in several places: under the table, on a run's page, in the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Below this share of unseen tokens a cell is not worth a warning.
NOTABLE_SHARE = 0.001
# With fewer questions a single one moves a mean by more than most differences between cells.
FEW_QUESTIONS = 50


def truncation(name: str, content: Mapping[str, Any]) -> str | None:
    """What share of the text no vector saw, or None when the model read (almost) everything."""
    health = content["health"]
    if not health["truncated_tokens"] >= NOTABLE_SHARE:  # nan where it is not known
        return None
    window = content["model"].get("window")
    reads = f" (it reads {window} tokens at a time)" if window else ""
    return (
        f"{name}: no vector saw {health['truncated_tokens']:.1%} of the text and {health['truncated_evidence']:.1%} of the evidence; "
        f"{int(health['truncated_chunks'])} of {int(health['chunks'])} chunks are longer than the model reads{reads}."
    )


def rounding(name: str, content: Mapping[str, Any]) -> str | None:
    """For how many questions half-precision vectors leave the order open, or None."""
    count = int(content["health"].get("unsettled_questions", 0))
    if not count:
        return None
    return (
        f"{name}: embeddings kept as float16 are rounded; for {count} of {sum(content['questions'].values())} questions exact ones might "
        "bring other first rows. cache_dtype=float32 settles them."
    )


def precision(name: str, content: Mapping[str, Any]) -> str | None:
    """How far vectors computed in int8 are from exact ones, or None."""
    agreement = content["health"].get("vector_agreement")
    if agreement is None:
        return None
    return (
        f"{name}: computed in {content['model']['precision']}; on a sample its vectors agree with exact ones only to a cosine of "
        f"{agreement:.3f}, which changes rankings. precision=float32 beside it shows what that costs."
    )


# Below this share of what exact search finds, a cell's loss may be its index's.
_NOTABLE_LOSS = 0.99


def approximate(name: str, content: Mapping[str, Any]) -> str | None:
    """What the index misses of what exact search finds, or None where that is next to nothing."""
    recall = content["health"].get("index_recall", 1.0)
    if recall >= _NOTABLE_LOSS:
        return None
    index = content["params"]["index"]
    key = next((key for key in ("ef", "candidates") if key in content["config"]["index"]), "")
    more = f"a larger index.{key} or " if key else ""
    return (
        f"{name}: index={index} brings only {recall:.1%} of the first rows that exact search finds. What is lost there is the index's "
        f"fault and not the model's: compare with {more}index=exact before judging."
    )


# How the figures of a retriever with chunks of its own are said, and what they lead to.
_WRONG = {
    "failed_questions": "{n} of {questions} questions got no answer and count as not found ({example})",
    "unmapped_rows": "{n} of {rows} rows are in no document; they keep their place and count as not relevant ({example})",
    "ambiguous_rows": "the text of {n} rows stands in several places, and the first was taken ({example}); an id or offsets would tell",
    "duplicate_rows": "{n} rows came back twice in one answer ({example})",
    "malformed_rows": "{n} rows have a field of a wrong type ({example})",
    "bad_scores": "{n} scores are no numbers; the order of the rows counts ({example})",
    "surplus_rows": "{n} rows were more than asked for and were cut off ({example})",
    "short_answers": "{n} answers hold fewer rows than the largest k ({example})",
}


def own_chunks(name: str, content: Mapping[str, Any]) -> str | None:
    """What was wrong with the answers of a retriever that brings its own chunks, or None."""
    health, remarks = content["health"], content.get("remarks", {})
    figures = {
        "rows": f"{int(health.get('rows', 0)):,}",
        "questions": f"{sum(content['questions'].values()):,}",
    }
    said = [
        text.format(n=f"{int(health[key]):,}", example=f"for instance {remarks[key]}", **figures)
        for key, text in _WRONG.items()
        if health.get(key) and key in remarks
    ]
    return f"{name}: {'; '.join(said)}." if said else None


def about_questions(contents: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the set of questions can't tell: too few of them, several kinds, labels that were lost."""
    if not contents:
        return []
    lines = []
    questions = contents[0]["questions"]
    count = max(questions.values())
    if count < FEW_QUESTIONS:
        lines.append(
            f"Only {count} questions: one more or less that is found moves a cell by {100 / count:.0f} points."
        )
    if len(questions) > 1:
        lines.append(
            f"The table speaks of the {questions['span']} questions with spans; the {questions['document']} about whole documents "
            "are scored apart (document_... in result.json and MLflow)."
        )
    missing = int(max(content["health"]["lost_evidence"] for content in contents))
    if missing:
        noun = "label does" if missing == 1 else "labels do"
        kept = any(content["config"]["golden"].get("keep_lost") for content in contents)
        fate = (
            ("counts" if missing == 1 else "count") + " as not found"
            if kept
            else ("keeps its question" if missing == 1 else "keep their questions") + " out of every score"
        )
        lines.append(f"{missing} {noun} not stand in the documents as written and {fate}.")
    return lines


# What there may be to say of a cell.
OF_CELLS = (truncation, rounding, precision, approximate, own_chunks)


def cell_note(name: str, content: Mapping[str, Any], primary: str) -> str:
    """The Markdown of a cell's page: the deciding metric, then what to know before believing it."""
    kind, count = next(iter(content["questions"].items()))
    lines = [f"**{name}**: {primary} {content['metrics'][primary]:.3f} over {count} {kind} questions."]
    lines += [f"⚠ {warning}" for about in OF_CELLS if (warning := about(name, content))]
    lines += about_questions([content])
    causes = ", ".join(f"{cause} {n}" for cause, n in content["diagnosis"].items())
    lines.append(f"Diagnosis (suspicions, not findings): {causes}.")
    return "\n\n".join(lines)
