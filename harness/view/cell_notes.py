"""What to know before believing the scores of one cell: sentences about what was not read or found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.view.formats import counted

# Below this share of truncated tokens a cell is not worth a warning.
NOTABLE_SHARE = 0.001
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
# How the figures of a lexical search are said.
_UNSEARCHED = {
    "wordless_questions": "of {questions} without a word that is searched, so that nothing is found; "
    "retriever.identifiers=split also searches names such as 2.1.0 and C++",
    "other_script_questions": "of {questions} not in the script of retriever.language={language}; "
    "set it to their language, or to none",
    "other_script_documents": "of {documents} not in the script of retriever.language={language}; "
    "set it to their language, or to none",
    "named_documents": "of {documents} full of names such as getUser or get_user, which are searched as a "
    "whole only; retriever.identifiers=split searches their parts too",
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


def truncated_questions(name: str, content: Mapping[str, Any]) -> str | None:
    """How many questions the model, and pairs of question and chunk the reranker, can't read to the end."""
    health, said = content["health"], []
    for figure, of, reader in (
        ("truncated_questions", sum(content["questions"].values()), "model"),
        ("truncated_pairs", int(health.get("pairs", 0)), "reranker"),
    ):
        if count := int(health.get(figure, 0)):
            what = "questions" if reader == "model" else "pairs of question and chunk"
            given = content.get(reader, {})
            window = given.get("window") or given.get("max_tokens")
            most = f"the {window} tokens" if window else "what"
            verb = "is" if count == 1 else "are"
            said.append(f"{count:,} of {of:,} {what} {verb} longer than {most} that the {reader} reads")
    return f"{name}: {'; '.join(said)}; what stands beyond is not searched." if said else None


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
    return _problems(name, content, _PROBLEMS)


def unsearched(name: str, content: Mapping[str, Any]) -> str | None:
    """Which questions and documents a lexical search can't do justice, and what to set, or None."""
    return _problems(name, content, {key: (text, "") for key, text in _UNSEARCHED.items()})


def _problems(name: str, content: Mapping[str, Any], texts: Mapping[str, tuple[str, str]]) -> str | None:
    health, remarks = content["health"], content.get("remarks", {})
    totals = {
        "rows": counted(int(health.get("rows", 0)), "row"),
        "questions": counted(sum(content["questions"].values()), "question"),
        "documents": counted(int(health.get("documents", 0)), "document"),
        "language": content.get("config", {}).get("retriever", {}).get("language", ""),
    }
    said = [
        f"{counted(int(health[key]), noun) if noun else f'{int(health[key]):,}'} {text.format(**totals)} "
        f"(for instance {remarks[key]})"
        for key, (text, noun) in texts.items()
        if health.get(key) and key in remarks
    ]
    return f"{name}: {'; '.join(said)}." if said else None


# What there may be to say of a cell.
OF_CELLS = (truncation, truncated_questions, rounding, precision, approximate, own_chunks, unsearched)
