"""Sentences about cells that stand in several places: under the table, on a run's page, in the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Below this share of unseen tokens a cell is not worth a warning.
NOTABLE_SHARE = 0.001


def truncation(name: str, content: Mapping[str, Any]) -> str | None:
    """What share of the text no vector saw, or None when the model read (almost) everything."""
    health = content["health"]
    if health["unseen_tokens"] < NOTABLE_SHARE:
        return None
    window = content["model"].get("window")
    reads = f" (it reads {window} tokens at a time)" if window else ""
    return (
        f"{name}: no vector saw {health['unseen_tokens']:.1%} of the text and {health['unseen_evidence']:.1%} of the evidence; "
        f"{int(health['truncated_chunks'])} of {int(health['chunks'])} chunks are longer than the model reads{reads}."
    )


def lost(contents: Sequence[Mapping[str, Any]]) -> str | None:
    """How many labels no longer stand in the documents, or None."""
    count = int(max((content["health"]["lost_evidence"] for content in contents), default=0))
    if not count:
        return None
    noun = "label is" if count == 1 else "labels are"
    return f"{count} {noun} no longer in the documents and kept out of every score."


def cell_note(name: str, content: Mapping[str, Any], primary: str) -> str:
    """The Markdown of a cell's page: the deciding metric, then what to know before believing it."""
    asked = " and ".join(f"{n} {kind} questions" for kind, n in content["questions"].items())
    lines = [f"**{name}**: {primary} {content['metrics'][primary]:.3f} over {asked}."]
    warning = truncation(name, content)
    if warning:
        lines.append(f"⚠ {warning}")
    causes = ", ".join(f"{cause} {n}" for cause, n in content["diagnosis"].items())
    lines.append(f"Diagnosis (suspicions, not findings): {causes}.")
    return "\n\n".join(lines)
