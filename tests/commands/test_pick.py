"""From a finished sweep to a file that is deployed, and back: what was picked runs again and answers."""

from __future__ import annotations

import json
import shlex
import shutil

import pytest
import yaml
from picking import SAMPLE, pick
from workplace import Workplace, write_corpus, write_golden


def test_it_says_what_is_ruled_out_and_what_is_taken(picked):
    """The table, the winner with its lead, and where the file is."""
    _, said = picked

    assert "→  chunk 128" in said
    assert "ruled out" in said
    assert "chunk 128 is the best of 2" in said
    assert "production.yaml" in said


def test_the_margin_is_recorded_and_a_plan_knows_what_was_measured(picked):
    """368 questions about 63 texts: the margin that was used stands in the production file, whoever set it.

    The plan of another sweep on the same questions takes the difference that can be found from the first sweep.
    """
    place, _ = picked
    run = pick(place, "pick.margin=0.05", "output=five.yaml")
    assert run.returncode == 0, run.stderr
    margins = [yaml.safe_load((place.root / f).read_text()) for f in ("production.yaml", "five.yaml")]
    plan = place.run("-m", "retriever=bm25", "chunk=64,256", "plan=true")
    said = " ".join(plan.stdout.split())

    assert [content["recorded"]["margin"] for content in margins] == [0.07, 0.05]
    assert "points in recall@2000t would be found in 80% of sweeps, as measured in '2 cells · chunk" in said
    assert "would be found in 80% of sweeps, assuming" not in said


def test_the_same_is_there_for_scripts(picked):
    """No script has to read English."""
    place, _ = picked
    decision = json.loads((place.root / "production.decision.json").read_text())

    assert decision["decided"] is True
    assert decision["winner"] == decision["choice"]["name"] == "chunk 128"
    assert list(decision["ruled_out"]) == ["chunk 512"]


def test_what_was_picked_runs_again_with_the_same_numbers(picked):
    """production.yaml is a configuration of the sweep's own command; every metric comes out the same."""
    place, _ = picked
    before = {result["name"]: result for result in place.results()}["chunk 128"]
    run = place.run("--config-dir", ".", "--config-name", "production")
    assert run.returncode == 0, run.stderr
    newest = max(place.root.glob("outputs/*/*/0/result.json"), key=lambda file: file.stat().st_mtime)
    after = json.loads(newest.read_text())

    assert after["metrics"] == before["metrics"]
    assert after["health"] == before["health"]
    shutil.rmtree(newest.parents[1])


def test_every_run_carries_its_verdict(picked):
    """The cells are tagged, the deciding metric has its limits, and the sweep names the pick."""
    from mlflow import MlflowClient

    place, _ = picked
    client = MlflowClient(f"sqlite:///{place.root}/mlruns/mlflow.db")
    runs = {run.info.run_name: run for run in client.search_runs(["1"])}
    parent = next(run for name, run in runs.items() if name.startswith("2 cells"))

    assert runs["chunk 128"].data.tags["verdict"] == "winner"
    assert runs["chunk 512"].data.tags["verdict"] == "ruled out"
    metrics = runs["chunk 128"].data.metrics
    assert metrics["recall_2000_tokens_lo"] < metrics["recall_at_2000_tokens"]
    assert parent.data.tags["pick"] == "chunk 128"
    assert "**Pick:** [chunk 128](#/experiments/" in parent.data.tags["mlflow.note.content"]


# MLflow's own classes trip over its own check while they are imported.
@pytest.mark.filterwarnings("ignore:.*Any type hint:UserWarning")
def test_the_champion_answers_questions(picked, monkeypatch):
    """The registered model gives ranked spans of documents, whose text is the documents' own."""
    import mlflow

    place, _ = picked
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{place.root}/mlruns/mlflow.db")
    champion = mlflow.pyfunc.load_model("models:/retriever@champion")
    (hits,) = champion.predict(["Can I send a sensor back?"])

    assert len(hits) == 5
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    for hit in hits:
        text = (SAMPLE / hit["doc_id"]).read_text(encoding="utf-8")
        assert text[hit["start"] : hit["end"]] == hit["text"]


def test_constraints_that_nobody_meets_are_a_sentence(picked):
    """It says so, names the nearest, and writes nothing."""
    place, _ = picked
    run = pick(place, "max.context_tokens=10", "output=none.yaml")

    assert run.returncode == 1
    assert "No configuration meets the constraints (at most 10 tokens of context)" in " ".join(
        run.stdout.split()
    )
    assert "comes nearest" in " ".join(run.stdout.split())
    assert not (place.root / "none.yaml").exists()
    decision = json.loads((place.root / "none.decision.json").read_text())
    assert decision["choice"] is None
    assert set(decision["misses"]) == {"chunk 128", "chunk 512"}


def test_keeping_what_runs_today_is_an_answer(picked):
    """A baseline that is not beaten is kept, and no file is written."""
    place, _ = picked
    run = pick(place, "baseline=production.yaml", "output=new.yaml")

    assert run.returncode == 0
    assert "Keep what you have" in run.stdout
    assert not (place.root / "new.yaml").exists()
    assert json.loads((place.root / "new.decision.json").read_text())["change"] == "keep"


def test_a_baseline_that_is_beaten_is_left(picked):
    """Every cell is shown against it."""
    place, _ = picked
    run = pick(place, "baseline=chunk 512", "output=new.yaml")

    assert run.returncode == 0
    assert "which runs today, it is shown to be better" in " ".join(run.stdout.split())
    assert (place.root / "new.yaml").exists()


def test_a_metric_chosen_afterwards_is_called_that(picked):
    """Whoever looks for a metric under which a favourite wins is told on."""
    place, _ = picked
    run = pick(place, "metric=recall_at_1000_tokens", "output=other.yaml")

    assert "recall_at_1000_tokens (post hoc: chosen after seeing the results)" in run.stdout


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("metric=ndcg_at_5", "depends on the chunks"),
        ("metric=recall_at_7", "was not measured"),
        ("baseline=256", "neither a cell of"),
        ("sweep=0123456789", "0123456789"),
        ("pick.margin=2", "pick.margin is 2"),
        ("pick.cost=[money]", "pick.cost is money"),
        ("max.query_ms=-1", "max.query_ms is -1"),
        ("output=/dev/null/x.yaml", "can't be written"),
    ],
)
def test_mistakes_are_sentences(picked, word, said):
    """Given, allowed, what to do; no traceback."""
    place, _ = picked
    run = pick(place, word) if not word.startswith("sweep=") else place.run(word, module="harness.pick")

    assert run.returncode == 1
    assert said in run.stderr
    assert "Traceback" not in run.stderr


def test_a_choice_is_confirmed_on_questions_that_it_never_saw(tmp_path):
    """Half of the sample's questions choose, the other half confirms; every look is counted; what was seen before is refused."""
    lines = (SAMPLE / "golden.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "choose.jsonl").write_text("".join(lines[:160]), encoding="utf-8")
    (tmp_path / "confirm.jsonl").write_text("".join(lines[160:]), encoding="utf-8")
    place = Workplace(tmp_path, SAMPLE, tmp_path / "choose.jsonl")
    assert place.sweep("-m", "chunk=128,512", "corpus=handbook", "tracker=none").returncode == 0
    first, second = (pick(place, f"confirm.file={tmp_path / 'confirm.jsonl'}") for _ in range(2))

    assert "On 208 held-out questions" in " ".join(first.stdout.split()), first.stderr
    assert "the first look at them" in " ".join(first.stdout.split())
    assert "look number 2 at them" in " ".join(second.stdout.split())
    assert (
        "too few questions that can be scored: 160 of at least 200"
        in pick(place, f"confirm.file={place.golden}").stderr
    )
    seen = pick(place, f"confirm.file={SAMPLE / 'golden.jsonl'}")
    assert "160 of its questions were part of the sweep" in seen.stderr


def test_equal_results_go_to_the_cheapest(tmp_path):
    """Where no question tells the cells apart, the one that hands over the least is taken."""
    place = Workplace(tmp_path, tmp_path / "documents", tmp_path / "golden.jsonl")
    write_corpus(place.documents)
    write_golden(place.golden)
    assert place.sweep("-m", "chunk=16,64", "tracker=none").returncode == 0

    assert "Take chunk 16: the results are the same, and it costs the least." in pick(place).stdout


def test_few_questions_name_no_winner(tmp_path):
    """Five questions about four pages: a table, no interval, no winner, and a reason."""
    place = Workplace(tmp_path, tmp_path / "documents", tmp_path / "golden.jsonl")
    write_corpus(place.documents)
    write_golden(place.golden)
    assert place.sweep("-m", "chunk=4,64", "primary=recall_at_1", "tracker=none").returncode == 0
    run = pick(place)

    assert run.returncode == 0, run.stderr
    assert "No winner can be named" in run.stdout


def test_commands_for_a_folder_with_blanks_can_be_pasted(picked):
    """What a shell makes of the lines at the head of the file is what was meant."""
    place, _ = picked
    run = pick(place, "output=my files/it's.yaml")
    assert run.returncode == 0, run.stderr
    head = (place.root / "my files" / "it's.yaml").read_text(encoding="utf-8").splitlines()
    again, after = (shlex.split(line.partition(": ")[2]) for line in head[1:3])

    assert again == [
        *("python", "-m", "harness", "--config-dir", str(place.root / "my files"), "--config-name", "it's"),
    ]
    assert after == ["python", "-m", "harness.gate", "my files/it's.yaml"]
    assert shlex.join(["--config-dir", "my files", "--config-name", "it's"]) in run.stdout
