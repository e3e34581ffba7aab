"""Precisions that change rankings, as a user of the command meets them."""

from __future__ import annotations

import pytest


@pytest.mark.models
def test_int8_says_how_far_it_is_from_exact(workplace):
    """Asked for by name, beside float32: the cell's health and the terminal tell the agreement, in a later process too."""
    words = ("-m", "model=minilm", "precision=int8,float32", "tracker=none")
    first = workplace.sweep(*words)
    again = workplace.sweep(*words)

    for done in (first, again):
        assert done.returncode == 0, done.stderr
        assert "precision=int8: computed in int8; on a sample, its vectors have a cosine of only" in " ".join(
            done.stdout.split()
        )
        assert "precision=float32: computed" not in done.stdout
    rough, exact, *later = workplace.results()
    assert 0.97 < rough["health"]["vector_agreement"] < 0.9999
    assert (rough["model"]["precision"], exact["model"]["precision"]) == ("int8", "float32")
    assert "vector_agreement" not in exact["health"]
    assert [result["health"] for result in later] == [rough["health"], exact["health"]]
    assert later[0]["timing"]["texts_embedded"] == 0
