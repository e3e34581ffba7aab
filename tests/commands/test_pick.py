"""From a finished sweep to a file that is deployed, and back: what was picked runs again and answers."""

from __future__ import annotations

import json
import re
import shlex
import shutil

import numpy as np
import pytest
import yaml
from picking import SAMPLE, pick
from workplace import Workplace, write_corpus, write_golden

from harness.decision.baseline import read_production
from harness.decision.deployment import load, save


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
    assert metrics["ci95_lo"] < metrics["recall_at_2000_tokens"]
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

    # The sweep was decided at 2,000 tokens, so that is what comes back: more rows than five, the last one cut.
    assert len(hits) > 10
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    for hit in hits:
        text = (SAMPLE / hit["doc_id"]).read_text(encoding="utf-8")
        assert text[hit["start"] : hit["end"]] == hit["text"]


def test_what_is_recorded_is_the_recall_of_what_comes_back(picked, tmp_path):
    """Characters of the evidence inside the texts that the deployed retriever returns, counted by themselves.

    For a budget, for a smaller budget by a constraint, and for the k that fits the budget.
    """
    place, _ = picked
    lines = (SAMPLE / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [json.loads(line) for line in lines]
    for words, point in (
        ((), {"context_budget": 2000}),
        (("max.context_tokens=1000",), {"context_budget": 1000}),
        (("pick.deploy=k",), {"k": 21}),
    ):
        file = tmp_path / "picked.yaml"
        assert pick(place, f"output={file}", *words).returncode == 0
        production = read_production(file)
        assert production.recorded["operating_point"] == point
        save(production.composed.config, tmp_path / "deployed")
        answers = load(tmp_path / "deployed").answer([question["question"] for question in asked])
        shares = [
            np.mean([share_read(evidence, hits) for evidence in question["evidence"]])
            for question, hits in zip(asked, answers, strict=True)
        ]
        assert np.mean(shares) == pytest.approx(production.recorded["score"], abs=1e-6)
        shutil.rmtree(tmp_path / "deployed")


def share_read(evidence: dict, hits: list[dict]) -> float:
    """The share of the evidence's characters, white space aside, that stand in the returned texts."""
    shares = []
    for place in (evidence, *evidence.get("alternatives", ())):
        text = (SAMPLE / place["doc_id"]).read_text(encoding="utf-8")
        wanted = {i for i in range(place["start"], place["end"]) if not text[i].isspace()}
        read = {
            i for hit in hits if hit["doc_id"] == place["doc_id"] for i in range(hit["start"], hit["end"])
        }
        shares.append(len(wanted & read) / len(wanted))
    return max(shares)


def test_only_another_configuration_makes_a_new_version(picked):
    """Version 1 has tags and a description, and stays for the same pick; another budget is another version; runs end when they ended."""
    from mlflow import MlflowClient

    place, _ = picked
    client = MlflowClient(f"sqlite:///{place.root}/mlruns/mlflow.db")
    folder = min(file.parent for file in place.root.glob("outputs/*/*/sweep.json"))
    words = (f"sweep={folder}", "pick.measure=false", "output=again.yaml")
    first = client.get_model_version_by_alias("retriever", "champion")
    ended = client.get_run(first.run_id).info.end_time
    again = place.run(*words, module="harness.pick")
    same = client.get_model_version_by_alias("retriever", "champion")
    other = place.run(*words, "max.context_tokens=1000", module="harness.pick")
    new = client.get_model_version_by_alias("retriever", "champion")
    run = client.get_run(new.run_id).info

    assert (again.returncode, other.returncode) == (0, 0), again.stderr + other.stderr
    assert (str(first.version), str(same.version), str(new.version)) == ("1", "1", "2")
    assert (
        first.tags.items()
        >= {"cell": "chunk 128", "metric": "recall_at_2000_tokens", "context_budget": "2000"}.items()
    )
    assert float(first.tags["score"]) > 0
    assert "- cell: chunk 128" in first.description
    assert new.tags["context_budget"] == "1000"
    assert (run.status, run.end_time) == ("FINISHED", ended)
    sweep = json.loads((folder / "sweep.json").read_text())
    assert ended <= 1000 * sweep["ended"]


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
    run = pick(place, "baseline=production.yaml", "max.context_tokens=1500", "output=new.yaml")

    assert run.returncode == 3, run.stdout + run.stderr
    assert "Keep what you have" in run.stdout
    assert not (place.root / "new.yaml").exists()
    assert json.loads((place.root / "new.decision.json").read_text())["change"] == "keep"


@pytest.mark.parametrize("word", ["production.yaml", "chunk 128", "chunk=128"])
def test_what_is_picked_may_run_already(picked, word):
    """The production file with its settings, the cell, the cell by another name: exit code 3, and nothing is written."""
    place, _ = picked
    before = (place.root / "production.yaml").read_bytes()
    run = pick(place, f"baseline={word}")
    said = " ".join(run.stdout.split())

    assert run.returncode == 3, run.stdout + run.stderr
    assert "is already what runs: nothing to change. No production file is written." in said
    assert "Keep chunk 128: " in said
    assert "+0.0" not in said
    assert (place.root / "production.yaml").read_bytes() == before


def test_a_file_with_another_setting_is_not_what_runs(picked):
    """The same scores under another configuration: a chunk of 127 was never measured here."""
    place, _ = picked
    text = (place.root / "production.yaml").read_text(encoding="utf-8")
    (place.root / "like.yaml").write_text(text.replace("chunk: 128", "chunk: 127"), encoding="utf-8")
    shutil.copy(place.root / "production.scores.csv", place.root / "like.scores.csv")
    run = pick(place, "baseline=like.yaml", "output=new.yaml")

    assert run.returncode == 3, run.stdout + run.stderr
    assert "already what runs" not in run.stdout
    assert "Keep what you have: like.yaml runs today." in " ".join(run.stdout.split())


def test_cells_with_the_same_results_are_one_line(tmp_path):
    """Three values of one setting, two of which give the same results: one line each everywhere, said once; three runs in MLflow."""
    from mlflow import MlflowClient

    place = Workplace(tmp_path, SAMPLE, SAMPLE / "golden.jsonl")
    values = "retriever.k1=1.2,1.20000001,20"
    swept = place.sweep("-m", "corpus=handbook", "retriever=bm25", values, "chunk=256")
    run = pick(place, "output=one.yaml")
    (folder,) = tmp_path.glob("outputs/*/*/sweep.json")
    page = (folder.parent / "report.html").read_text(encoding="utf-8")
    table = re.search(r"<tbody>(.*?)</tbody>", page, re.DOTALL)
    texts = {
        "terminal": re.search(r"^-{20,}\n(.*?)\n\n", swept.stdout, re.DOTALL | re.MULTILINE),
        "pick": re.search(r"^-{20,}\n(.*?)\n\n", run.stdout, re.DOTALL | re.MULTILINE),
        "leaderboard": re.search(
            r"---:\|\n(.*?)\n\n", (folder.parent / "leaderboard.md").read_text(), re.DOTALL
        ),
        "report": table,
    }
    for where, found in texts.items():
        assert "k1=1.2" in found[1], where
        assert "k1=20" in found[1], where
        assert "1.20000001" not in found[1], where
    said = " ".join(swept.stdout.split())

    assert "best of 3" not in said
    assert "of the 3" not in said
    assert said.count("1.20000001 as bm25 · k1=1.2)") == 1
    assert "Take bm25 · k1=1.2: " in " ".join(run.stdout.split())
    assert "at most)" not in run.stdout
    runs = MlflowClient(f"sqlite:///{tmp_path}/mlruns/mlflow.db").search_runs(["1"])
    verdicts = {one.info.run_name: one.data.tags.get("verdict", "") for one in runs}
    assert len(runs) == 4
    assert next(v for name, v in verdicts.items() if "1.20000001" in name) == "same as bm25 · k1=1.2"


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
    """Given, allowed, what to do; no traceback; an exit code that no answer has."""
    place, _ = picked
    run = pick(place, word) if not word.startswith("sweep=") else place.run(word, module="harness.pick")

    assert run.returncode == 4
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
    """Where no question tells the cells apart and both return the same tokens, the smaller index is taken."""
    place = Workplace(tmp_path, tmp_path / "documents", tmp_path / "golden.jsonl")
    write_corpus(place.documents)
    write_golden(place.golden)
    assert place.sweep("-m", "chunk=16,64", "tracker=none").returncode == 0

    assert "Take chunk 64: the results are the same, and it costs the least." in pick(place).stdout


def test_the_same_configuration_three_times_is_equal_in_latency_too(tmp_path):
    """Cells that differ only in the memory of a search, measured for real: the first is taken, and nothing is saved.

    On a machine that is too busy the sweep's figures stand, marked as such; they are equal as well.
    """
    place = Workplace(tmp_path, tmp_path / "documents", tmp_path / "golden.jsonl")
    write_corpus(place.documents)
    write_golden(place.golden)
    assert place.sweep("-m", "chunk=16", "index.block_mb=16,32,64", "tracker=none").returncode == 0
    run = pick(place, "pick.measure=true", "pick.cost=[query_ms]")
    said = " ".join(run.stdout.split())
    decision = json.loads((tmp_path / "production.decision.json").read_text())
    latency = decision["latency"]

    assert "Take block_mb=16: the results are the same, and it costs the least." in said, (
        run.stdout + run.stderr
    )
    assert decision["choice"]["saves"] is None
    if latency is None:
        assert "Latencies could not be measured here (" in said
        assert "were noted by the sweep in passing, over 5 questions and under its load" in said
    else:
        assert "5 questions, the least of 60 passes each, cells in turns" in said
        assert {cell["passes"] for cell in latency["cells"].values()} == {60}
        assert "Of so few, the slowest stands for the p95." in said


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


def test_a_mean_over_budgets_decides_everywhere(tmp_path):
    """Sweep, pick, gate, report and comparison take it as the primary metric; its score is what was measured."""
    place = Workplace(tmp_path, tmp_path / "documents", tmp_path / "golden.jsonl")
    swept = place.run("-m", "retriever=bm25", "chunk=128,512", "primary=recall_over_budgets")
    assert swept.returncode == 0, swept.stderr
    commands = (
        ("harness.pick", "pick.measure=false"),
        ("harness.gate", "production.yaml"),
        ("harness.report",),
        ("harness.compare", "bm25 128", "bm25 512"),
    )
    for module, *words in commands:
        done = place.run(*words, module=module)
        assert done.returncode == 0, done.stdout + done.stderr
    best = max((result["metrics"] for result in place.results()), key=lambda m: m["recall_over_budgets"])
    at = [best[f"recall_at_{budget}_tokens"] for budget in (500, 1000, 2000, 4000)]
    decision = json.loads((place.root / "production.decision.json").read_text())

    assert best["recall_over_budgets"] == pytest.approx(sum(at) / 4)
    assert decision["choice"]["name"] == "bm25 · 128"
    said = "128 leads at 500 to 4,000 tokens."
    (board,) = place.root.glob("outputs/*/*/leaderboard.md")
    for text in (swept.stdout, board.read_text("utf-8"), (place.root / "report.html").read_text("utf-8")):
        assert said in text
