"""Whether retrieval has become worse since it was picked: every outcome with its exit code and its way out."""

from __future__ import annotations

import json
import shutil

import pytest
from picking import SAMPLE, pick
from workplace import Workplace


def gate(place: Workplace, *words: str):
    return place.run("production.yaml", *words, module="harness.gate")


def said(run) -> str:
    """What was printed, as one line."""
    return " ".join(run.stdout.split())


def without(tmp_path, *patterns):
    """The settings for a copy of the sample without the pages that match."""
    fewer = tmp_path / "documents"
    shutil.copytree(SAMPLE, fewer)
    for pattern in patterns:
        for page in fewer.glob(pattern):
            page.unlink()
    return f"corpus.path={fewer}", f"golden.path={SAMPLE / 'golden.jsonl'}"


def test_nothing_changed(picked):
    """The same rows and the same scores pass without any statistics: exit code 0."""
    place, _ = picked
    run = gate(place, "output=gate.md")

    assert (run.returncode, run.stderr) == (0, "")
    assert said(run).startswith("Passed, unchanged: all 368 questions return the same")
    assert (place.root / "gate.md").read_text().startswith("### Retrieval gate: Passed, unchanged")


def test_a_regression(picked):
    """Chunks of 512 where 128 were picked: exit code 1, and the questions that lost are shown."""
    place, _ = picked
    run = gate(place, "chunk=512", "output=gate.json")
    found = json.loads((place.root / "gate.json").read_text())

    assert run.returncode == 1, run.stdout + run.stderr
    assert said(run).startswith("Regression: ")
    assert "evidence   " in run.stdout
    assert "first row  " in run.stdout
    assert found["outcome"] == "regression"
    assert found["limits_90"][1] < 0
    assert 0 < found["other_rows"] <= 368
    assert {"question_id", "question", "evidence", "first_row"} <= set(found["lost"][0])


def test_a_deleted_page_leaves_both_sides(picked, tmp_path):
    """One question about a page that is gone is left out and named with its reason; the gate passes."""
    place, _ = picked
    run = gate(place, *without(tmp_path, "company/office-fridge.md"), "output=gate.json")
    found = json.loads((place.root / "gate.json").read_text())

    assert run.returncode == 0, run.stdout + run.stderr
    assert "1 question is left out on both sides" in said(run)
    assert found["questions"] == 367
    assert len(found["left_out"]) == 1
    assert "office-fridge.md" in next(iter(found["left_out"].values()))


def test_a_deleted_line_leaves_both_sides(picked, tmp_path):
    """A question that is no longer in the golden set is left out too."""
    place, _ = picked
    lines = (SAMPLE / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    other = tmp_path / "golden.jsonl"
    other.write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    run = gate(place, f"golden.path={other}")

    assert run.returncode == 0, run.stdout + run.stderr
    assert "it is no longer in the golden set" in said(run)


def test_too_many_deleted_pages(picked, tmp_path):
    """More than a tenth of the questions: exit code 5, with the setting that allows it."""
    place, _ = picked
    words = without(tmp_path, "policies/*.md", "hardware/*.md")
    run = gate(place, *words, "output=gate.json")

    assert run.returncode == 5, run.stdout + run.stderr
    assert "recorded questions can't be scored any more; max_left_out=0.1 allows fewer" in said(run)
    assert json.loads((place.root / "gate.json").read_text())["outcome"] == "too many left out"
    assert gate(place, *words, "gate.max_left_out=0.9").returncode != 5


def test_another_golden_set(picked, tmp_path):
    """Exit code 5 with counts, an example, and what to do."""
    place, _ = picked
    other = tmp_path / "other.jsonl"
    lines = (SAMPLE / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    other.write_text("\n".join(lines[:100]) + "\n", encoding="utf-8")
    run = gate(place, f"golden.path={other}")

    assert run.returncode == 5
    assert "268 of the 368 recorded questions can't be scored any more" in said(run)
    assert "give golden.path and corpus.path" in said(run)


def test_another_metric(picked):
    """Exit code 2: what was recorded is another number."""
    place, _ = picked

    assert gate(place, "primary=recall_at_5").returncode == 2


def test_undecided(picked):
    """Exit code 3 where the set could show the margin; a warning and 0 where it can't, or where that is chosen."""
    place, _ = picked
    words = ("chunk=160", "gate.min_effect=0.5")
    undecided = gate(place, *words, "gate.margin=0.001", "gate.undecided=fail")
    warned = gate(place, *words, "gate.margin=0.001")

    assert undecided.returncode == 3, undecided.stdout
    assert said(undecided).startswith("Undecided: ")
    assert warned.returncode == 0
    assert said(warned).startswith("Passed with a warning, undecided: ")
    assert "So few questions exclude" in said(warned)
    assert gate(place, *words, "gate.margin=0.001", "gate.undecided=warn").returncode == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "One production file is expected"),
        (("missing.yaml",), "does not exist"),
        (("notes.yaml",), "is not a production file"),
        (("production.yaml", "gate.margin=7"), "gate.margin is 7"),
        (("production.yaml", "gate.undecided=maybe"), "gate.undecided is maybe"),
        (("production.yaml", "corpus.path=nowhere"), "nowhere"),
        (("production.yaml", "gate.mragin=0.1"), "mragin"),
    ],
)
def test_errors_have_an_exit_code_of_their_own(picked, words, sentence):
    """Exit code 4 and a sentence, which is also written to ``output``: a CI job must not read a typo as a regression."""
    place, _ = picked
    (place.root / "notes.yaml").write_text("a: 1\n")
    run = place.run(*words, "output=error.json", module="harness.gate")

    assert run.returncode == 4
    assert sentence in run.stderr
    assert "Traceback" not in run.stderr
    found = json.loads((place.root / "error.json").read_text())
    (place.root / "error.json").unlink()
    assert (found["outcome"], found["exit_code"]) == ("error", 4)
    assert sentence in found["sentences"][0]
    assert f"error: {found['sentences'][0]}" == run.stderr.strip()


@pytest.mark.parametrize(
    ("words", "code", "outcome"),
    [
        ((), 0, "unchanged"),
        (("primary=recall_at_5",), 2, "not comparable"),
        (("chunk=512",), 1, "regression"),
    ],
)
def test_the_file_has_the_exit_code_of_the_command(picked, words, code, outcome):
    """In a folder that did not exist, under a name with a quotation mark; no file where none is wanted."""
    place, _ = picked
    run = gate(place, *words, "output=new folder/it's.json")
    file = place.root / "new folder" / "it's.json"
    found = json.loads(file.read_text())
    file.unlink()

    assert (run.returncode, found["exit_code"], found["outcome"]) == (code, code, outcome), run.stderr
    assert said(run).startswith(" ".join(found["sentences"][0].split()))
    gate(place, *words, "output=null")
    assert not (place.root / "null").exists()


def test_a_file_that_can_not_be_written_is_an_error(picked):
    """Exit code 4 with the reason, not the outcome's own."""
    place, _ = picked
    run = gate(place, "output=/dev/null/gate.json")

    assert run.returncode == 4
    assert "/dev/null/gate.json can't be written" in run.stderr
    assert "Traceback" not in run.stderr


def test_documents_without_a_default_place_are_named_in_the_file(workplace):
    """A corpus that has no default path runs again too, and the gate finds it."""
    assert workplace.sweep("tracker=none").returncode == 0
    assert pick(workplace).returncode == 0
    run = gate(workplace)

    assert run.returncode == 0, run.stdout + run.stderr
    assert said(run).startswith("Passed, unchanged: all 5 questions")


def test_a_file_without_rows_is_compared_by_scores(workplace):
    """A production file of an earlier version records no rows: a set of five questions passes with a warning."""
    assert workplace.sweep("tracker=none").returncode == 0
    assert pick(workplace).returncode == 0
    scores = workplace.root / "production.scores.csv"
    lines = [line.rsplit(",", 1)[0] for line in scores.read_text().splitlines()]
    scores.write_text("\n".join(lines) + "\n")
    run = gate(workplace)

    assert run.returncode == 0, run.stdout + run.stderr
    assert said(run).startswith("Passed with a warning, undecided: ")
    assert "other rows" not in said(run)
