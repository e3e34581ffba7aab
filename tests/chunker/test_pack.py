from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.chunker.pack import pack, trim
from harness.records import Chunk, Document


def packed(lengths: list[int], size: int, overlap: int = 0, joint: int = 0) -> list[tuple[int, int]]:
    return list(pack(np.array(lengths, np.int64), size, overlap, joint))


def piece_by_piece(lengths: list[int], size: int, overlap: int, joint: int) -> list[tuple[int, int]]:
    """The same rule as a plain loop.

    Add pieces while they fit, then drop from the front until the next one fits.
    """
    runs: list[tuple[int, int]] = []
    run: list[int] = []

    def length(pieces: list[int]) -> int:
        return sum(lengths[piece] for piece in pieces) + joint * (len(pieces) - 1) if pieces else 0

    for piece in range(len(lengths)):
        if run and length([*run, piece]) > size:
            runs.append((run[0], run[-1] + 1))
            while run and (length(run) > overlap or length([*run, piece]) > size):
                run = run[1:]
            while run and not lengths[run[0]] + joint:
                run = run[1:]
        run.append(piece)
    return [*runs, (run[0], run[-1] + 1)] if run else runs


@given(
    lengths=st.lists(st.integers(0, 6), max_size=30),
    size=st.integers(1, 8),
    overlap=st.integers(0, 7),
    joint=st.integers(0, 2),
)
@settings(derandomize=True, max_examples=500)
def test_searching_finds_the_runs_of_the_plain_loop(
    lengths: list[int], size: int, overlap: int, joint: int
) -> None:
    """Binary search on running totals packs as adding piece by piece does."""
    lengths = [
        min(length + joint, size) for length in lengths
    ]  # as in use: a piece weighs its joint at least
    overlap, joint = min(overlap, size - 1), min(joint, size - 1)
    assert packed(lengths, size, overlap, joint) == piece_by_piece(lengths, size, overlap, joint)


def test_a_piece_over_the_size_is_a_run_by_itself() -> None:
    """Nothing is lost and nothing loops when a foreign count makes one piece too long."""
    assert packed([9], 4) == [(0, 1)]
    assert packed([1, 9, 9, 1, 1], 4, 2) == [(0, 1), (1, 2), (2, 3), (3, 5)]


def test_nothing_packs_to_nothing() -> None:
    """No pieces, no runs."""
    assert packed([], 4) == []


def test_trim_leaves_out_white_space_blanks_and_repeats() -> None:
    """A chunk begins and ends with something to read, and no two chunks are the same."""
    document = Document("d", " \n ab c \n\n ")
    spans = [(0, 2), (0, 6), (1, 5), (2, 8), (8, 11)]
    assert list(trim(document, spans)) == [Chunk("d", 3, 5), Chunk("d", 3, 7)]
