"""Traffic by document, from a file of the user's."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path


def read_weights(path: Path, doc_ids: Collection[str]) -> dict[str, float]:
    """Weight by document id. Two columns (comma, tab or semicolon; a header may be there) or JSON lines of ``doc_id`` and ``weight``.

    Raises ``InputError`` with the line for an unknown id (with near ones), an id given twice, a weight that is no number or below 0, and
    when no weight is above 0.
    """
    raise NotImplementedError
