"""``python -m harness.compare``: two cells question by question, in numbers worked by hand and as people read and type it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len
from sweeps_by_hand import cell, sweep

from harness import compare as command_compare
from harness.decision.compare import compare
from harness.errors import SettingError
from harness.view.comparison import comparison

N = 40


def pair(**changes):
    """Forty questions about forty texts: the first is ahead on q0 to q19, behind on q20 to q23, equal on the others."""
    first, second = np.full(N, 0.5), np.full(N, 0.5)
    first[:20], second[:20] = 1.0, 0.0
    first[20:24], second[20:24] = 0.0, 1.0
    ranks = np.where(first > second, 1.0, 50.0)
    # q3 fell furthest of those that lost everything, q5 a little: it changes least.
    second_ranks = np.where(second > first, 1.0, 60.0)
    second_ranks[3], second_ranks[4], second_ranks[21] = math.nan, 500.0, 2.0
    second[5] = 0.75
    causes = np.where(second == 1.0, "found", "not_retrieved")
    overlap = np.arange(N) / N
    shared = {"overlap": overlap, "question": np.array([f"What about {i}?" for i in range(N)], dtype=object)}
    one = cell(
        "a · 1", {"model": "a", "chunk": "1"}, run_id="a" * 32, recall_at_5=first, first_rank=ranks, **shared
    )
    two = cell(
        "b · 1",
        {"model": "b", "chunk": "1"},
        run_id="b" * 32,
        recall_at_5=second,
        first_rank=second_ranks,
        cause=causes,
        **shared,
    )
    return sweep(one, two, axes={"model": ["a", "b"]}, **changes)


def compared(given, **changes):
    return compare(
        (given, given.cells[0]), (given, given.cells[1]), **({"metric": None, "worst": 3} | changes)
    )


def test_questions_are_won_lost_or_tied():
    """Worked by hand: 20 won, 4 lost, 16 tied; the mean difference is what the questions add up to; the better one is named."""
    found = compared(pair())

    assert (found.won, found.lost, found.tied) == (20, 4, 16)
    # 19 questions of 1, one of 0.25, four of −1, of 40.
    assert found.verdict.standings[0].name == "a · 1"
    assert found.verdict.standings[0].to_best.value == pytest.approx((19 + 0.25 - 4) / 40)
    assert found.verdict.winner == "a · 1"
    assert found.settings == {"model": ("a", "b")}
    assert not found.post_hoc


def test_those_that_changed_most_come_first():
    """By the difference, then by how far the first relevant row fell: from 1 to nowhere, then to 500, then to 60."""
    found = compared(pair())

    assert [changed.question_id for changed in found.for_first] == ["q03", "q04", "q00"]
    assert compared(pair(), worst=99).for_first[-1].question_id == "q05"
    assert [changed.question_id for changed in found.for_second] == ["q20", "q22", "q23"]
    first = found.for_first[0]
    assert (first.values, first.ranks[0], first.causes) == ((1.0, 0.0), 1.0, ("found", "not_retrieved"))
    assert math.isnan(first.ranks[1])
    assert first.text == "What about 3?"


def test_the_wording_is_looked_at():
    """The first wins where few words are shared and loses where some are: said, as it is shown in both."""
    found = compared(pair())
    assert [group.group for group in found.by_overlap.groups] == ["low", "middle", "high"]
    assert found.by_overlap.groups[0].difference.value > 0.5
    assert len(found.by_source.groups) == 1


def test_another_metric_is_marked():
    """Whoever chooses the metric after the results is told so; a metric that was never measured is answered with the nearest."""
    given = pair()
    cells = [
        replace(c, questions={**c.questions, "recall_at_3": c.questions["recall_at_5"]}) for c in given.cells
    ]
    cells = [
        replace(c, content={**c.content, "chunk_independent": ["recall_at_3", "recall_at_5"]}) for c in cells
    ]
    found = compared(replace(given, cells=cells), metric="recall_at_3")

    assert found.post_hoc
    assert "recall_at_3 (post hoc) over 40 questions decides" in list(comparison(found))
    with pytest.raises(SettingError, match="Did you mean recall_at_5"):
        compared(given, metric="recall_at_50")


def with_(one, params=(), **content):
    return replace(one, content={**one.content, **content, "params": one.content["params"] | dict(params)})


def test_two_k_of_one_index_are_never_tested():
    """The larger can't lose: refused in words, however the cells came about; with other documents it is another question."""
    given = pair()
    same = with_(given.cells[0])
    larger = with_(replace(given.cells[1], name="a · 10"), params={"k": "10", "model": "a"})
    with pytest.raises(SettingError, match=r"differ only in k \(5 and 10\).*the larger k can't lose"):
        compare((given, same), (given, larger), None, 3)
    compare((given, same), (given, with_(larger, corpus_digest="other")), None, 3)


def test_what_is_no_comparison_is_refused():
    """One cell with itself, other questions, other tokenizers, sweeps that were to be decided by different metrics."""
    given = pair()
    first, second = given.cells
    with pytest.raises(SettingError, match="Both are the cell 'a · 1'"):
        compare((given, first), (given, first), None, 3)
    other = replace(
        second, questions={**second.questions, "question_id": np.array([f"x{i}" for i in range(N)])}
    )
    some = replace(
        other,
        questions={**other.questions, "question_id": np.array(["q00", *other.questions["question_id"][1:]])},
    )
    with pytest.raises(SettingError, match=r"can't be compared.*1 of its 40 are among the 40"):
        compare((given, first), (given, some), None, 3)
    with pytest.raises(SettingError, match="different tokenizers"):
        compare((given, first), (given, with_(second, tokenizer_digest="u")), None, 3)
    later = replace(given, primary="mrr")
    with pytest.raises(
        SettingError, match=r"by recall_at_5, the other by mrr\. Choose a metric: metric=recall_at_5"
    ):
        compare((given, first), (later, second), None, 3)


def test_cells_of_one_name_are_told_apart():
    """The same configuration before and after a change of the documents: both bear a part of their run's id, and the change is said."""
    given = pair()
    first = given.cells[0]
    later = with_(replace(given.cells[1], name=first.name), corpus_digest="later")
    found = compare((given, first), (given, later), None, 1)
    text = "\n".join(comparison(found))

    assert [c.name for c in found.cells] == ["a · 1 (aaaaaaaa)", "a · 1 (bbbbbbbb)"]
    assert "The two cells searched different documents" in text


def test_no_difference_is_said():
    """Equal on every question: nothing is won, nothing listed, no winner."""
    given = pair()
    twin = replace(given.cells[0], name="twin", folder=given.cells[1].folder)
    lines = list(
        comparison(compare((given, given.cells[0]), (given, with_(twin, params={"model": "t"})), None, 3))
    )

    assert "No difference: a · 1 and twin have the same recall@5 on every question." in lines
    assert not any("Better in" in line or "By how many" in line for line in lines)


def test_few_texts_show_nothing():
    """Below ten effective clusters there is neither interval nor winner, and that is said."""
    given = pair()
    cells = [replace(c, questions={**c.questions, "cluster": np.array(["one.md"] * N)}) for c in given.cells]
    text = " ".join(comparison(compared(replace(given, cells=cells))))

    assert "too few texts for an interval: nothing is shown" in text
    assert "is better" not in text


@pytest.fixture
def swept(workplace):
    done = workplace.sweep("-m", "chunk=16,32", "k=1,3")
    assert done.returncode == 0, done.stderr
    return workplace


def test_the_command(swept):
    """By name and by id, ranks, causes, words and evidence, 80 columns, exit code 0; mistakes are a sentence and exit code 1."""
    done = swept.run("chunk 16", "chunk 32", "metric=complete_at_1", module="harness.compare")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "complete_at_1 (post hoc) over 5 questions decides" in lines
    assert all(cell_len(line) <= 80 for line in lines)
    runs = [
        json.loads(file.read_text())["run_id"] for file in sorted(swept.root.glob("outputs/*/*/*/run.json"))
    ]
    again = swept.run(runs[0][:6], runs[1][:6], "metric=complete_at_1", module="harness.compare")
    assert again.stdout == done.stdout
    for words, answer in (
        (["chunk 16"], "error: Give two runs: python -m harness.compare RUN_A RUN_B."),
        (["chunk 16", "chunk 33"], "error: unknown cell 'chunk 33' of '2 cells"),
        (
            ["chunk 16", "chunk 32", "worst=-1"],
            "error: worst is -1; it must be a whole number of questions, at least 0.",
        ),
        (
            ["chunk 16", "chunk 32", "metric=complete_at_5"],
            "error: complete_at_5 was not measured in chunk 16.",
        ),
        (["chunk 16", "chunk 32", "swep=x"], "error: unknown setting 'swep'. Did you mean sweep?"),
        (["chunk 16", "chunk 16"], "error: Both are the cell 'chunk 16'"),
    ):
        wrong = swept.run(*words, module="harness.compare")
        assert (wrong.returncode, wrong.stdout) == (1, "")
        assert wrong.stderr.startswith(answer)


@pytest.mark.parametrize(
    "pair",
    [("parent=256", "parent=512"), ("context=none · bm25", "k=5"), ("256", "metrics=mine"), ("a", "b")],
)
def test_names_that_look_like_settings_are_names(monkeypatch, pair):
    """Every name of the table can be typed, in either order; what stands beside it is set."""
    asked = []
    monkeypatch.setattr(
        command_compare, "_run", lambda config, *runs: asked.append((config.worst, *runs)) or 0
    )

    assert command_compare.main([pair[0], "worst=3", "tracker.uri=sqlite:///x.db", pair[1]]) == 0
    assert command_compare.main(["worst=3", pair[1], pair[0], "pick.margin=0.1", "tracker=mlflow"]) == 1
    assert command_compare.main(["worst=3", pair[1], pair[0], "tracker=mlflow"]) == 0
    assert asked == [(3, *pair), (3, *reversed(pair))]


def test_a_setting_beside_two_names_is_one(capsys):
    """Whoever mistypes a setting is told of that."""
    assert command_compare.main(["parent=256", "wurst=3", "b"]) == 1
    assert "unknown setting" in capsys.readouterr().err
    assert command_compare.main(["a", "wurst=3", "b"]) == 1
    assert capsys.readouterr().err == "error: unknown setting 'wurst'. Did you mean worst?\n"
