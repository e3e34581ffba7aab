"""``python -m harness.report`` as its users run it."""

from __future__ import annotations

import csv

import pytest
from pyarrow import parquet

from harness import report


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    from workplace import Workplace, write_corpus, write_golden

    root = tmp_path_factory.mktemp("swept")
    place = Workplace(root, root / "documents", root / "golden.jsonl")
    write_corpus(place.documents)
    write_golden(place.golden)
    done = place.sweep("-m", "chunk=16,64")
    assert done.returncode == 0, done.stderr
    return place


def test_the_newest_sweep_becomes_a_page(swept):
    """Without words: report.html in the folder where one stands; it says what five questions can't tell."""
    done = swept.run(module="harness.report")
    page = (swept.root / "report.html").read_text(encoding="utf-8")

    assert done.returncode == 0, done.stderr
    assert str(swept.root / "report.html") in done.stdout
    assert "Both configurations answer every question alike" in page
    assert "The questions are about 4 documents" in page
    assert f"{max(c['metrics']['recall_at_2000_tokens'] for c in swept.results()):.3f}" in page


def test_the_sweeps_are_listed(swept):
    """One line a sweep with its cells, deciding metric, best cell and folder; the newest first."""
    done = swept.run("list", module="harness.report")
    folder = min(swept.root.glob("outputs/*/*/sweep.json")).parent.relative_to(swept.root / "outputs")
    best = max(swept.results(), key=lambda content: content["metrics"]["recall_at_2000_tokens"])
    lines = done.stdout.splitlines()

    assert done.returncode == 0, done.stderr
    assert lines[0].split() == ["sweep", "cells", "decided", "by", "best", "folder"]
    (line,) = (line for line in lines if line.endswith(str(folder)))
    assert "2 cells · chunk" in done.stdout
    assert f"{best['metrics']['recall_at_2000_tokens']:.3f}" in line
    assert "recall@2000t" in line


def test_tables_for_other_programs(swept, monkeypatch):
    """Csv and parquet hold every cell, and every question in every cell."""
    monkeypatch.setenv("HARNESS_ROOT", str(swept.root))
    for kind in ("csv", "parquet"):
        assert report.main([f"format={kind}", f"output={swept.root}/tables/sweep.{kind}"]) == 0
    with (swept.root / "tables" / "sweep.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    questions = parquet.read_table(swept.root / "tables" / "sweep-questions.parquet")
    results = {content["name"]: content["metrics"] for content in swept.results()}

    assert {row["cell"]: float(row["recall_at_5"]) for row in rows} == {
        name: pytest.approx(metrics["recall_at_5"]) for name, metrics in results.items()
    }
    assert questions.num_rows == 2 * 5
    assert {"cell", "question_id", "question", "cause", "recall_at_5"} <= set(questions.column_names)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["format=pdf"], "format is pdf; it must be one of html, csv, parquet."),
        (["sweep=nothing"], "sweep=nothing"),
        (["metric=recall_at_7"], "recall_at_7 was not measured"),
        (["metric=mrr"], "mrr depends on the chunks"),
        (["baseline=nothing"], "neither a cell of"),
        (["pick.margin=3"], "pick.margin is 3"),
        (["-m"], "unexpected argument '-m'."),
        (["latest"], "unexpected argument 'latest'."),
        (["outptu=x"], "outptu"),
    ],
)
def test_mistakes_are_answered_by_a_sentence(swept, monkeypatch, capsys, words, said):
    """Unknown words, formats, sweeps, metrics, cells and margins: what was given, what is allowed."""
    monkeypatch.setenv("HARNESS_ROOT", str(swept.root))
    code = report.main([*words, "output=" + str(swept.root / "never.html")])
    told = capsys.readouterr().err

    assert code == 1
    assert told.startswith("error: ")
    assert said in told
    assert not (swept.root / "never.html").exists()


def test_nothing_to_report_on(workplace, monkeypatch, capsys):
    """Before the first sweep there is a sentence that says what to run."""
    monkeypatch.setenv("HARNESS_ROOT", str(workplace.root))

    assert report.main([]) == 1
    assert "python -m harness -m" in capsys.readouterr().err
    assert not (workplace.root / "report.html").exists()


def test_ctrl_c_is_a_clean_stop(monkeypatch, capsys):
    """A line and the exit code that shells expect."""

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.results.load.finished", interrupted)

    assert report.main([]) == 130
    assert "Stopped" in capsys.readouterr().err
