"""What earlier sweeps on a golden set tell: looks at sets that grow."""

from __future__ import annotations

import json

import pytest
from workplace import QUESTIONS

from harness.results.earlier import record_look
from harness.verdict.power import FIRST_LOOK, level_after_growth


def content(size, primary="recall_at_5"):
    return {
        "primary": primary,
        "config": {"chunker": {"size": size}, "golden": {"path": f"anywhere/{size}"}, "cache": "/tmp"},
    }


def ids(count):
    return [f"q{i}" for i in range(count)]


A, B, C, D = map(content, (64, 128, 256, 512))


def test_a_set_that_grew_is_looked_at_again(tmp_path):
    """50, 100 and 200 questions over the same cells are looks 1 to 3; the level is that of the growth since the first."""
    file = tmp_path / "new" / "looks.jsonl"
    looks = [record_look(file, f"set {n}", ids(n), [A, B]) for n in (50, 100, 200)]

    assert looks[0] == FIRST_LOOK
    assert [look.number for look in looks] == [1, 2, 3]
    assert [look.level for look in looks[1:]] == [level_after_growth(2), level_after_growth(4)]


def test_the_same_sweep_is_no_new_look(tmp_path):
    """Cells in another order, a second time, and after the set has grown: the number stays, and so does the journal."""
    file = tmp_path / "looks.jsonl"
    for n in (50, 100):
        record_look(file, f"set {n}", ids(n), [A, B])
    before = file.read_bytes()

    assert record_look(file, "set 50", ids(50), [B, A]) == FIRST_LOOK
    assert record_look(file, "set 100", ids(100), [A, B]).number == 2
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("digest", "count", "cells", "number"),
    [
        ("grown", 100, [A, B, C], 2),  # another cell beside the two
        ("grown", 100, [A, C], 1),  # nothing was compared before
        ("grown", 100, [content(64, "mrr"), content(128, "mrr")], 1),  # by another metric
        ("edited", 50, [A, B], 1),  # no more questions than before
        ("smaller", 40, [A, B], 1),
        ("set 50", 50, [A, B, C], 1),  # the same set with another cell
    ],
)
def test_what_counts_as_an_earlier_look(tmp_path, digest, count, cells, number):
    """Fewer questions, the same metric, and two of the cells."""
    file = tmp_path / "looks.jsonl"
    record_look(file, "set 50", ids(50), [A, B])

    assert record_look(file, digest, ids(count), cells).number == number


def test_questions_that_were_replaced(tmp_path):
    """Half of the earlier questions must be left for a set to be the same one."""
    file = tmp_path / "looks.jsonl"
    record_look(file, "first", ids(50), [A, B])
    kept, others = ids(50)[:25], [f"new {i}" for i in range(40)]

    assert record_look(file, "kept", [*kept, *others], [A, B]).number == 2
    assert record_look(file, "replaced", [*kept[:24], *others, "one more", "and two"], [A, C]).number == 1
    assert record_look(file, "three lives", [*kept[:24], *others, "one more"], [A, B]).number == 1


def test_looks_at_several_sets_count_from_the_first(tmp_path):
    """Two sweeps on one set are one look, and growth is from the smallest set."""
    file = tmp_path / "looks.jsonl"
    for digest, count, cells in (("a", 40, [A, B]), ("b", 60, [A, B, C]), ("b", 60, [A, B, D])):
        record_look(file, digest, ids(count), cells)
    found = record_look(file, "c", ids(80), [A, B])

    assert found == (3, level_after_growth(2))


def test_a_sweep_counts_its_look_and_survives_a_journal_that_cannot_be_kept(workplace):
    """Three questions, then five; the second is look 2 however often it is run. A broken journal is said and stops nothing."""
    words = ("-m", "retriever=bm25", "chunk=16,32", "tracker=none")
    lines = workplace.golden.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(lines) == len(QUESTIONS) == 5
    looks = []
    for count in (3, 5, 5):
        workplace.golden.write_text("".join(lines[:count]), encoding="utf-8")
        done = workplace.sweep(*words)
        assert done.returncode == 0, done.stderr
        newest = max(workplace.root.glob("outputs/*/*/sweep.json"))
        looks.append(json.loads(newest.read_text(encoding="utf-8"))["look"])
    journal = workplace.root / "outputs" / "looks.jsonl"

    assert [look["number"] for look in looks] == [1, 2, 2]
    assert looks[1]["level"] == pytest.approx(level_after_growth(5 / 3))
    assert len(journal.read_text(encoding="utf-8").splitlines()) == 2
    journal.write_text("no journal\n", encoding="utf-8")
    broken = workplace.sweep(*words)
    assert broken.returncode == 0
    assert "This look at the golden set is not counted." in " ".join(broken.stdout.split())
    assert "looks.jsonl:1" in broken.stdout.replace("\n", "")
