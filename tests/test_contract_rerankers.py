"""Every option in conf/reranker keeps the promises of ``harness.reranker``. A new YAML file gets these tests by being there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_cross_encoder import make

from harness.cell.settings import new
from harness.cli import compose
from harness.cli.command import Words
from harness.store.reranker_scores import CachedReranker

CONF = Path(__file__).parents[1] / "conf" / "reranker"
OPTIONS = sorted(path.stem for path in CONF.glob("*.yaml"))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return make(tmp_path_factory.mktemp("cross"))


@pytest.fixture(params=OPTIONS)
def reranker(request, tiny, tmp_path):
    """The option; what names a model gets a tiny one of its kind."""
    words = [f"reranker={request.param}", f"cache={tmp_path}"]
    if "name:" in (CONF / f"{request.param}.yaml").read_text(encoding="utf-8"):
        words.append(f"reranker.name={tiny}")
    return new(compose.composed(Words((), (), ()), words).config, "reranker")


def test_scores_are_finite_and_repeatable(reranker):
    """One finite number for each text, the same when asked again, whatever else is asked with it."""
    texts = ["red fox", "", "an owl and a hen", "x" * 3000]
    scores = reranker.scores("who?", texts)

    assert (scores.shape, scores.dtype) == ((4,), np.float32)
    assert np.isfinite(scores).all()
    assert np.array_equal(reranker.scores("who?", texts), scores)
    alone = np.concatenate([reranker.scores("who?", [text]) for text in texts])
    assert alone == pytest.approx(scores, abs=1e-4)
    assert reranker.scores("who?", []).shape == (0,)


def test_identity_says_what_changes_scores(reranker):
    """It is JSON, and empty only where nothing is read."""
    identity = CachedReranker(reranker, None).identity()
    assert bool(identity) == (reranker.depth > 0)
    assert all(isinstance(key, str) for key in identity)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_setting_has_a_comment(option):
    """Whoever opens the file reads what each setting does."""
    lines = (CONF / f"{option}.yaml").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    plain = ("_target_", "#", "cache_dir", "licence", "name:", "defaults")
    assert all("#" in line for line in lines if not line.startswith(plain))
