"""What the tests of the stores share."""

from __future__ import annotations

import pytest

from harness.store import embeddings


@pytest.fixture(autouse=True)
def _round_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices that begin with 256 texts, so that the counts in these tests are easy to follow."""
    monkeypatch.setattr(embeddings, "SLICE_TEXTS", 256)
