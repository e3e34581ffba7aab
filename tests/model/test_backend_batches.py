from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model import backends as module
from harness.model.backends import batches, cores


@given(
    lengths=st.lists(st.integers(0, 60), max_size=80),
    tokens=st.integers(1, 300),
    most=st.none() | st.integers(1, 9),
    padded=st.booleans(),
)
def test_every_text_is_in_one_batch_that_keeps_its_limits(
    lengths: list[int], tokens: int, most: int | None, padded: bool
) -> None:
    """All texts with a token, once, longest first; no batch is too big, and padding is a third of a text at most."""
    found = list(batches([np.zeros(n, dtype=np.int64) for n in lengths], tokens, most, padded=padded))
    order = [int(row) for rows in found for row in rows]

    assert sorted(order) == [row for row, n in enumerate(lengths) if n]
    assert [lengths[row] for row in order] == sorted((n for n in lengths if n), reverse=True)
    for rows in found:
        own = [lengths[row] for row in rows]
        assert len(rows) == 1 or max(own) * len(rows) <= tokens
        assert most is None or len(rows) <= most
        assert max(own) * 3 <= min(own) * 4 if padded else len(set(own)) == 1


def test_batches_are_as_big_as_they_may_be() -> None:
    """Lengths 6, 5, 3, 3, 3 in 12 tokens: (6, 5) take 12 with padding, 3 is below three quarters of 6; then 3 x 3 = 9."""
    ids = [np.zeros(n, dtype=np.int64) for n in (3, 6, 3, 5, 3)]

    assert [rows.tolist() for rows in batches(ids, 12, padded=True)] == [[1, 3], [0, 2, 4]]
    assert [rows.tolist() for rows in batches(ids, 6, padded=False)] == [[1], [3], [0, 2], [4]]


@pytest.mark.parametrize(
    ("quota", "asked", "expected"),
    [
        ("max 100000", None, 8),
        ("250000 100000", None, 3),  # two and a half cores: three threads
        ("50000 100000", None, 1),
        (None, "2", 2),
        (None, "2,1", 2),
        (None, "0", 8),
        (None, "many", 8),
        ("250000 100000", "64", 3),
    ],
)
def test_threads_are_those_that_may_be_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, quota: str | None, asked: str | None, expected: int
) -> None:
    """The least of affinity (8 here), container's quota and OMP_NUM_THREADS, and never none."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    monkeypatch.setattr(module, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if quota:
        (tmp_path / "cpu.max").write_text(f"{quota}\n")
    if asked:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)

    assert cores() == expected
