from __future__ import annotations

from sweeps_by_hand import cell, sweep

from harness.decision.findings import Helped, what_helped

F, N, S = "found", "not_retrieved", "split"


def grid():
    """Two models, two sizes; five questions, worked below."""
    causes = {
        ("a", "1"): [F, N, N, S, F],
        ("b", "1"): [F, F, N, F, N],
        ("a", "2"): [N, N, F, F, F],
        ("b", "2"): [F, F, F, F, F],
    }
    cells = [
        cell(f"{model} · {chunk}", {"model": model, "chunk": chunk}, cause=column)
        for (model, chunk), column in causes.items()
    ]
    return sweep(*cells, axes={"model": ["a", "b"], "chunk": ["1", "2"]})


def test_questions_of_a_cause_are_looked_up_where_one_setting_differs() -> None:
    """Worked by hand: only cells one step away count, the most helpful axis comes first, what was lost stands beside."""
    found = {cell.name: what_helped(grid(), cell) for cell in grid().cells}

    # a · 1 misses q1 and q2 (not retrieved). b · 1 finds q1; a · 2 finds q2. b · 1 loses q4 of q0 and q4, a · 2 loses q0 of them.
    assert found["a · 1"][N] == [
        Helped("chunk", "2", "a · 2", found=1, of=2, lost=1, had=2),
        Helped("model", "b", "b · 1", found=1, of=2, lost=1, had=2),
    ]
    # q3 is split in a · 1, and found by both neighbours.
    assert [(h.setting, h.found, h.of) for h in found["a · 1"][S]] == [("chunk", 1, 1), ("model", 1, 1)]
    # b · 2 misses nothing.
    assert found["b · 2"] == {}
    # a · 2 misses q0 and q1: b · 2 finds both and loses nothing; a · 1 finds q0 and loses q2 and q3.
    assert found["a · 2"][N] == [
        Helped("model", "b", "b · 2", found=2, of=2, lost=0, had=3),
        Helped("chunk", "1", "a · 1", found=1, of=2, lost=2, had=3),
    ]


def test_of_several_values_the_best_is_given_once() -> None:
    """An axis with three values gives one entry: the value that finds most, of equals the one that loses least."""
    cells = [
        cell("1", {"chunk": "1"}, cause=[N, N, F, F]),
        cell("2", {"chunk": "2"}, cause=[F, N, N, N]),
        cell("3", {"chunk": "3"}, cause=[F, N, F, N]),
    ]
    made = sweep(*cells, axes={"chunk": ["1", "2", "3"]})

    assert what_helped(made, made.cell("1"))[N] == [Helped("chunk", "3", "3", found=1, of=2, lost=1, had=2)]


def test_a_sweep_of_one_and_a_missing_neighbour() -> None:
    """Nothing differs in one setting only: there is nothing to say, and nothing fails."""
    one = cell("a", {"model": "a", "chunk": "1"}, cause=[N, F])
    other = cell("b", {"model": "b", "chunk": "2"}, cause=[F, F])
    axes = {"model": ["a", "b"], "chunk": ["1", "2"]}

    assert what_helped(sweep(one, axes={}), one) == {N: []}
    assert what_helped(sweep(one, other, axes=axes), one) == {N: []}
    assert what_helped(sweep(one, other, axes=axes), other) == {}


def test_what_does_not_matter_is_no_difference() -> None:
    """A search by words, which has no model, is one step away from the dense search of every model."""
    cells = [
        cell("bm25", {"retriever": "bm25", "model": "-"}, cause=[F, F, N]),
        cell("dense · a", {"retriever": "dense", "model": "a"}, cause=[N, F, F]),
        cell("dense · b", {"retriever": "dense", "model": "b"}, cause=[F, N, F]),
    ]
    made = sweep(*cells, axes={"retriever": ["bm25", "dense"], "model": ["a", "b", "-"]})
    found = {cell.name: what_helped(made, cell) for cell in cells}

    assert [(h.setting, h.value) for h in found["dense · a"][N]] == [("model", "b"), ("retriever", "bm25")]
    assert [(h.setting, h.to) for h in found["bm25"][N]] == [("retriever", "dense · a")]
