from __future__ import annotations

import pytest
from sweeps_by_hand import CHUNKER, cell, sweep

from harness.errors import SettingError
from harness.results.scores import compared, rechunks


def test_own_chunks_are_other_chunks():
    """Beside a built retriever, metrics that depend on the chunks decide nothing, whatever chunker stands in the configuration."""
    config = {"chunker": CHUNKER, "retriever": {"url": "http://x/"}}
    given = {"recall_at_5": [1.0, 0.0], "mrr": [1.0, 0.0]}
    built = cell("dense", {"retriever": "dense"}, content={"config": config}, **given)
    own = cell("http", {"retriever": "http"}, content={"config": config, "health": {}}, **given)
    both = sweep(built, own, axes={"retriever": ["dense", "http"]})

    assert rechunks([built, own])
    assert not rechunks([built, built])
    assert compared(both, "recall_at_5").outcomes.values.shape == (2, 2)
    with pytest.raises(SettingError, match="mrr depends on the chunks"):
        compared(both, "mrr")
