"""Every option in conf/index keeps the promises of ``harness.index``. A new YAML file gets these tests by being there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.cell.settings import new
from harness.cli import compose
from harness.cli.command import Words

CONF = Path(__file__).parents[1] / "conf" / "index"
OPTIONS = sorted(path.stem for path in CONF.glob("*.yaml"))
DOC_ROWS = np.array([0, 0, 3, 4, 9, 9, 60, 200])


def unit(rows, seed):
    vectors = np.random.default_rng(seed).normal(size=(rows, 16)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


QUERIES = unit(40, 1)


@pytest.fixture(params=OPTIONS)
def index(request):
    """The option over 120 vectors that 200 rows share, as its YAML sets it up."""
    made = new(compose.composed(Words((), (), ()), [f"index={request.param}"]).config, "index")
    made.build(unit(120, 0), np.random.default_rng(2).integers(0, 120, 200))
    return made


@pytest.mark.parametrize("groups", [None, DOC_ROWS])
def test_the_order_is_total(index, groups):
    """Scores fall, equal ones by the smaller row; no row twice; -1 and -inf behind the last; a smaller depth is a cut."""
    ranking = index.search(QUERIES, 210, groups)

    assert (ranking.rows.dtype, ranking.scores.dtype) == (np.int64, np.float32)
    for rows, scores in zip(ranking.rows, ranking.scores, strict=True):
        found = rows[rows >= 0].tolist()
        assert (rows[len(found) :] == -1).all()
        assert (scores[len(found) :] == -np.inf).all()
        order = list(zip((-scores[: len(found)]).tolist(), found, strict=True))
        assert order == sorted(order)
        assert len(set(found)) == len(found)
    for depth in (1, 7):
        few = index.search(QUERIES, depth, groups)
        assert np.array_equal(few.rows, ranking.rows[:, :depth])
        assert np.array_equal(few.scores, ranking.scores[:, :depth])


@pytest.mark.parametrize("groups", [None, DOC_ROWS])
def test_ranks_agree_with_the_ranking(index, groups):
    """The rank of the best relevant row is its place in the whole ranking; 0 where none comes back."""
    random = np.random.default_rng(3)
    items = np.arange(200) if groups is None else np.flatnonzero(np.diff(groups))
    relevant = [
        np.sort(random.choice(items, min(i % 4, len(items)), replace=False)) for i in range(len(QUERIES))
    ]
    expected = [
        next((rank for rank, row in enumerate(rows.tolist(), start=1) if row in some.tolist()), 0)
        for rows, some in zip(index.search(QUERIES, 200, groups).rows, relevant, strict=True)
    ]
    assert index.first_ranks(QUERIES, relevant, groups).tolist() == expected


def test_it_says_its_size_and_whether_it_misses(index):
    """A size above 0 in MB; an index that claims to be exact, and a graph or code with room enough, miss next to nothing."""
    assert 0 < index.megabytes() < 1
    assert isinstance(index.is_exact, bool)
    exact = new(compose.composed(Words((), (), ()), ["index=exact"]).config, "index")
    exact.build(unit(120, 0), np.random.default_rng(2).integers(0, 120, 200))
    assert np.mean(index.search(QUERIES, 10).rows == exact.search(QUERIES, 10).rows) > 0.99


@pytest.mark.parametrize("option", OPTIONS)
def test_every_number_has_a_comment(option):
    """Whoever opens the file reads what each setting does."""
    lines = (CONF / f"{option}.yaml").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert all("#" in line for line in lines if not line.startswith(("_target_", "#")))
