"""A cell whose index misses what exact search finds says so, and blames the index."""

from __future__ import annotations

import pytest

from harness.view.cell_notes import approximate


@pytest.mark.models
def test_a_tiny_ef_is_blamed_and_not_the_model(workplace):
    """With ef=1 at most one chunk comes back: a fifth of exact search's five, said under the table; with room, nothing is said."""
    words = ("chunk=16", "tracker=none", "k=5")
    done = workplace.sweep("-m", *words, "index=hnsw", "index.ef=1,200")
    assert done.returncode == 0, done.stdout + done.stderr
    tiny, roomy = workplace.results()

    assert tiny["health"]["index_recall"] == pytest.approx(0.2)
    assert roomy["health"]["index_recall"] == 1
    assert roomy["health"]["index_mb"] > 0
    assert roomy["timing"]["index_seconds"] > 0
    said = " ".join(done.stdout.split())
    assert "index=hnsw finds only 20.0% of the first rows that exact search finds" in said
    assert "The index loses them, not the model" in said
    assert said.count("finds only") == 1
    exact = workplace.sweep(*words, "index=exact")
    assert exact.returncode == 0, exact.stderr
    result = workplace.results()[-1]
    assert "index_recall" not in result["health"]
    assert result["metrics"] == roomy["metrics"]
    # The rankings it was compared with are those of index=exact: one folder for each of the three.
    assert len(list((workplace.root / "cache" / "rankings").iterdir())) == 3


@pytest.mark.models
def test_with_words_and_a_fusion(workplace):
    """bm25 uses no index, so none is compared; what a hybrid loses is measured on its own fused rows."""
    done = workplace.sweep(
        "-m", "chunk=16", "tracker=none", "k=5", "retriever=bm25,hybrid", "index=binary", "index.candidates=1"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    bm25, hybrid = workplace.results()
    assert "index_recall" not in bm25["health"]
    assert 0.2 <= hybrid["health"]["index_recall"] < 1


def test_the_sentence_names_the_setting_that_helps():
    """An index with candidates is told to take more of them; above 99% nothing is said."""
    content = {
        "health": {"index_recall": 0.5},
        "params": {"index": "binary"},
        "config": {"index": {"candidates": 5}},
    }
    assert "larger index.candidates or index=exact" in approximate("a", content)
    content["health"]["index_recall"] = 0.995
    assert approximate("a", content) is None
    content["health"].clear()
    assert approximate("a", content) is None
