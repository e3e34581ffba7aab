"""Finished sweeps, read again: real sweeps in real stores, from this machine, from another, and all that can be wrong."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3

import numpy as np
import pyarrow as pa
import pytest
from mlflow import MlflowClient
from pyarrow import parquet
from workplace import PAGES, QUESTIONS, Workplace, write_corpus, write_golden

from harness.cli import compose
from harness.cli.command import take_apart
from harness.errors import SettingError, StoreError
from harness.results.load import finished, finished_cell, read_folder
from harness.results.snippets import text_at


def made(root) -> Workplace:
    documents, golden = root / "documents", root / "golden.jsonl"
    write_corpus(documents)
    write_golden(golden)
    return Workplace(root, documents, golden)


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> Workplace:
    """A sweep of four cells, of which one failed: an overlap of 20 does not fit into chunks of 16, which this chunker finds out late."""
    place = made(tmp_path_factory.mktemp("swept"))
    (place.root / "late.py").write_text(
        "from harness.chunker.recursive import Recursive\n"
        "class Late(Recursive):\n"
        "    def __post_init__(self): pass\n"
        "    def split(self, document, tokens):\n"
        "        if self.overlap >= self.size: raise ValueError(f'overlap {self.overlap} in {self.size}')\n"
        "        return super().split(document, tokens)\n"
    )
    (place.root / "chunker").mkdir()
    (place.root / "chunker" / "late.yaml").write_text(
        "_target_: late.Late\nsize: ${chunk}\noverlap: ${overlap}\n"
    )
    path = os.pathsep.join([str(place.root), *filter(None, [os.environ.get("PYTHONPATH")])])
    words = ["--config-dir=.", "chunker=late", "chunk=16,32", "overlap=0,20"]
    done = place.sweep("-m", *words, PYTHONPATH=path)
    assert done.returncode == 1, done.stderr
    return place


@pytest.fixture
def config(swept, monkeypatch):
    """The configuration of a command that reads, over the store of the sweep."""
    monkeypatch.setenv("HARNESS_ROOT", str(swept.root))
    for name in [name for name in os.environ if name.startswith("MLFLOW_T")]:
        monkeypatch.delenv(name)

    def composed(*given):
        words = take_apart(given)
        return compose.composed(words, ["+command=compare", *words.overrides]).config

    return composed


@pytest.fixture
def client(swept) -> MlflowClient:
    return MlflowClient(tracking_uri=f"sqlite:///{swept.root}/mlruns/mlflow.db")


def same(one, other) -> bool:
    """Two readings of one sweep, wherever their files are."""
    plain = [
        (
            s.name,
            s.run_id,
            s.experiment_id,
            s.uri,
            s.primary,
            s.k,
            dict(s.axes),
            s.failures,
            s.texts,
            s.evidence,
        )
        for s in (one, other)
    ]
    cells = [[(c.name, c.run_id, c.color, c.content["metrics"]) for c in s.cells] for s in (one, other)]
    columns = [
        np.array_equal(a.questions[key], b.questions[key], equal_nan=a.questions[key].dtype.kind == "f")
        for a, b in zip(one.cells, other.cells, strict=True)
        for key in a.questions
    ]
    return plain[0] == plain[1] and cells[0] == cells[1] and all(columns)


def test_all_that_was_tracked_is_read(config):
    """Cells best first with ids and colours, the failed one with its message, every metric at every k, settings of the sweep."""
    sweep = finished(config())

    assert [cell.name for cell in sweep.cells] == ["16 · overlap=0", "32 · overlap=0", "32 · overlap=20"]
    assert [failure["name"] for failure in sweep.failures] == ["16 · overlap=20"]
    assert "overlap" in sweep.failures[0]["error"]
    assert (sweep.primary, sweep.k) == ("recall_at_2000_tokens", 5)
    assert sweep.axes == {"chunk": ["16", "32"], "overlap": ["0", "20"]}
    assert len({cell.run_id for cell in sweep.cells}) == 3
    assert all(len(cell.run_id) == 32 and cell.color[0] == "#" for cell in sweep.cells)
    for cell in sweep.cells:
        questions = cell.questions
        assert questions["question_id"].tolist() == ["q1", "q2", "q3", "q4", "q5"]
        assert questions["question"].tolist() == [text for _, text, _, _ in QUESTIONS]
        assert questions["cluster"].tolist() == [doc_id for _, _, doc_id, _ in QUESTIONS]
        # q2 asks "How long do I leave black tea", and the evidence is "four minutes in boiling water": no word of seven.
        assert questions["overlap"][1] == 0
        # q4 asks "how many seconds does a shot take", and the evidence is "25 to 30 seconds": one word of seven.
        assert questions["overlap"][3] == pytest.approx(1 / 7)
        assert {name: questions[name].mean() for name in cell.content["metrics"]} == pytest.approx(
            cell.content["metrics"]
        )
        assert set(cell.content["metrics"]) >= {
            f"{metric}_at_{k}" for metric in ("recall", "ndcg", "context_tokens") for k in (1, 3, 5, 10)
        }


def test_evidence_and_what_came_back_can_be_shown(config):
    """Quotes stand where the evidence is, and the text of each of the first k rows of every cell is there."""
    sweep = finished(config())

    for question_id, _, doc_id, quote in QUESTIONS:
        start = PAGES[doc_id].index(quote)
        place = {"doc_id": doc_id, "start": start, "end": start + len(quote), "quote": quote}
        assert sweep.evidence[question_id] == [place]
    for cell in sweep.cells:
        with np.load(cell.folder / "rankings.npz") as rows:
            doc, start, end = (rows[f"span_{name}"][:, : sweep.k].ravel() for name in ("doc", "start", "end"))
            ids = rows["doc_ids"][doc]
        for doc_id, first, last in zip(ids.tolist(), start.tolist(), end.tolist(), strict=True):
            assert text_at(sweep.texts, doc_id, first, last) == PAGES[doc_id][first:last]


def test_a_sweep_is_found_by_id_name_or_folder(config):
    """Of the sweep or of one of its cells, also the failed one; from here, from outputs/, in any experiment."""
    sweep = finished(config())
    folder = sweep.folder
    words = [sweep.run_id[:6], sweep.run_id, sweep.cells[1].run_id[:8], sweep.name]
    words += [str(folder), str(folder / "0"), str(folder.relative_to(folder.parents[1]))]

    assert all(same(finished(config(f"sweep={word}")), sweep) for word in words)
    assert same(finished(config(f"sweep={sweep.run_id[:6]}", "tracker.experiment=other")), sweep)
    assert finished_cell(config(), "32 · overlap=20")[1].name == "32 · overlap=20"
    assert finished_cell(config("sweep=nothing"), sweep.cells[1].run_id[:6])[1].name == sweep.cells[1].name


def test_a_sweep_of_another_machine_is_the_same(config, swept, capfd):
    """Without its folder everything comes out of MLflow, silently, once; another sweep's folder in its place deceives nobody."""
    sweep = finished(config())
    away = swept.root / "away"
    sweep.folder.rename(away)
    try:
        copied = finished(config())
        assert copied.folder == swept.root / "cache" / "sweeps" / sweep.run_id
        assert same(copied, sweep)
        written = {file: file.stat().st_mtime_ns for file in copied.folder.rglob("*")}
        sweep.folder.mkdir()
        about = json.loads((away / "sweep.json").read_text())
        about["tracker"]["run_id"] = "0" * 32
        (sweep.folder / "sweep.json").write_text(json.dumps(about))
        assert same(finished(config()), sweep)
        assert {file: file.stat().st_mtime_ns for file in copied.folder.rglob("*")} == written
    finally:
        shutil.rmtree(sweep.folder, ignore_errors=True)
        away.rename(sweep.folder)
    assert capfd.readouterr() == ("", "")


def test_deleted_artifacts_are_named(config, swept, client):
    """A cell without its table is no cell, with the reason; a sweep without its own file can't be read, in a sentence."""
    sweep = finished(config())
    away, cache = swept.root / "away", f"cache={swept.root / 'elsewhere'}"
    artifacts = swept.root / "mlruns" / "artifacts"
    of_cell = artifacts / sweep.cells[0].run_id / "artifacts" / "questions.parquet"
    of_sweep = artifacts / sweep.run_id / "artifacts" / "sweep.json"
    sweep.folder.rename(away)
    try:
        of_cell.rename(swept.root / "kept")
        partly = finished(config(cache))
        assert [cell.name for cell in partly.cells] == ["32 · overlap=0", "32 · overlap=20"]
        assert {failure["name"]: failure["error"] for failure in partly.failures}["16 · overlap=0"] == (
            f"Its questions.parquet can't be found among the artifacts of run {sweep.cells[0].run_id[:12]}; deleted?"
        )
        (swept.root / "kept").rename(of_cell)
        of_sweep.rename(swept.root / "kept")
        shutil.rmtree(swept.root / "elsewhere")
        with pytest.raises(StoreError, match=r"has no sweep\.json among its artifacts.*Run the sweep again"):
            finished(config(cache))
        assert not list((swept.root / "elsewhere").rglob("*.json"))
    finally:
        for place in (of_cell, of_sweep):
            if not place.exists():
                (swept.root / "kept").rename(place)
        away.rename(sweep.folder)


def test_words_that_mean_nothing_are_answered(config):
    """What was given, what there is, and what is nearest."""
    sweep = finished(config())
    for word, answer in {
        "abc": "sweep=abc is too short; give at least 6 characters of an id",
        "abcdef": f"no sweep of this name or id .* The newest is {sweep.run_id[:12]}",
        sweep.name[:-1]: f"The nearest is {sweep.run_id[:12]}",
        str(sweep.folder.parent): "the folder has no sweep.json",
    }.items():
        with pytest.raises(SettingError, match=answer) as raised:
            finished(config(f"sweep={word}"))
        assert raised.value.key == "sweep"
    with pytest.raises(SettingError, match=r"unknown cell .* Did you mean 16 · overlap=0"):
        finished_cell(config(), "16 · overlap=1")
    with pytest.raises(SettingError, match=r"has no scores: .*overlap"):
        finished_cell(config(), "16 · overlap=20")
    with pytest.raises(SettingError, match="is a sweep or a failed cell, not a cell"):
        finished_cell(config(), sweep.run_id[:6])
    with pytest.raises(StoreError, match=r"no sweep in the experiment 'tea' .*experiments are: .*retrieval"):
        finished(config("tracker.experiment=tea"))


def test_what_means_several_is_refused(config, swept, client):
    """Two sweeps of one name, two runs whose ids begin alike: the ids are told, nothing is guessed."""
    sweep = finished(config())
    twin = client.create_run(
        sweep.experiment_id, run_name=sweep.name, tags={"harness.kind": "sweep"}
    ).info.run_id
    other = sweep.run_id[:8] + "f" * 24
    try:
        with pytest.raises(SettingError, match=f"2 sweeps of that name; .*{twin[:12]}"):
            finished(config(f"sweep={sweep.name}"))
        with sqlite3.connect(swept.root / "mlruns" / "mlflow.db") as db:
            db.execute("pragma foreign_keys=off")
            for table in ("runs", "tags"):
                db.execute(f"update {table} set run_uuid=? where run_uuid=?", (other, twin))
        with pytest.raises(SettingError, match=f"2 runs whose ids begin like this; .*{other[:12]}"):
            finished(config(f"sweep={sweep.run_id[:8]}"))
        assert finished(config(f"sweep={sweep.run_id[:16]}")).run_id == sweep.run_id
    finally:
        with sqlite3.connect(swept.root / "mlruns" / "mlflow.db") as db:
            db.execute("pragma foreign_keys=off")
            for table in ("runs", "tags"):
                db.execute(f"delete from {table} where run_uuid in (?, ?)", (other, twin))


def test_sweeps_that_have_not_ended(config, client, swept):
    """One that runs is not read, by no word; the newest that was closed is the latest; one that was stopped is offered by its id."""
    sweep = finished(config())
    experiment = client.create_experiment("busy")
    busy = "tracker.experiment=busy"
    with pytest.raises(StoreError, match=r"no sweep in the experiment 'busy' .* yet"):
        finished(config(busy))
    run = client.create_run(experiment, run_name="mine", tags={"harness.kind": "sweep"}).info.run_id
    for words in ([busy], [busy, "sweep=mine"], [f"sweep={run[:6]}"]):
        with pytest.raises(StoreError, match=rf"'mine' \({run[:6]}\) is still running"):
            finished(config(*words))
    client.set_terminated(run, "FAILED")
    with pytest.raises(StoreError, match=rf"No sweep .* was finished; .*sweep={run[:6]}"):
        finished(config(busy))
    with pytest.raises(StoreError, match="stopped before its end"):
        finished(config(f"sweep={run[:6]}"))
    newer = client.create_run(sweep.experiment_id, tags={"harness.kind": "sweep"}).info.run_id
    try:
        assert finished(config()).run_id == sweep.run_id
    finally:
        client.delete_run(newer)


@pytest.fixture
def copy(config, tmp_path):
    """The folder of the sweep, to be damaged."""
    shutil.copytree(finished(config()).folder, tmp_path / "copy")
    return tmp_path / "copy"


def edited(file, **changes):
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def renamed(file, ids):
    """Other ids for the questions of a cell, in their order."""
    content = parquet.read_table(file)
    parquet.write_table(content.slice(0, len(ids)).set_column(0, "question_id", pa.array(ids)), file)


def folder_of(copy, name):
    return next(f.parent for f in copy.glob("*/result.json") if json.loads(f.read_text())["name"] == name)


def test_versions_are_told_apart(copy):
    """Files of a newer and of an older program, and what is no such file, are refused with what to do."""
    for schema, answer in ((99, "newer version .* Update"), (1, "older version .* Run the sweep again")):
        edited(copy / "sweep.json", schema=schema)
        with pytest.raises(StoreError, match=answer):
            read_folder(copy)
    (copy / "sweep.json").write_text("{")
    with pytest.raises(StoreError, match=r"sweep\.json can't be read"):
        read_folder(copy)


def test_a_sweep_that_did_not_end_is_not_read_by_its_folder(copy):
    """Killed or running: how far it came, and what to do."""
    edited(copy / "sweep.json", ended=None)
    with pytest.raises(StoreError, match="has not ended; cells with results: 3 of 4"):
        read_folder(copy)


def test_no_cell_is_left(copy):
    """All failed: a sentence with the first reason instead of an empty table."""
    for file in copy.glob("*/result.json"):
        name = json.loads(file.read_text())["name"]
        file.unlink()
        (file.parent / "failure.json").write_text(json.dumps({"name": name, "error": "The model is gone."}))
    with pytest.raises(
        StoreError, match=r"No cell of the sweep .* 4 failed\. For instance 16 · overlap=0: The model is gone"
    ):
        read_folder(copy)


def test_a_damaged_cell_is_a_failed_one(copy):
    """Half a table: the others are read, the reason names the folder."""
    file = folder_of(copy, "32 · overlap=0") / "questions.parquet"
    file.write_bytes(file.read_bytes()[:200])
    sweep = read_folder(copy)

    assert [cell.name for cell in sweep.cells] == ["16 · overlap=0", "32 · overlap=20"]
    assert str(file.parent) in {f["name"]: f["error"] for f in sweep.failures}["32 · overlap=0"]


def test_cells_with_other_questions_are_refused(copy):
    """Most cells decide which questions are compared; without a single common one nothing is."""
    cells = {
        name: folder_of(copy, name) / "questions.parquet" for name in ("16 · overlap=0", "32 · overlap=0")
    }
    renamed(cells["16 · overlap=0"], ["q1", "q2", "q3", "x4"])
    sweep = read_folder(copy)
    assert [cell.name for cell in sweep.cells] == ["32 · overlap=0", "32 · overlap=20"]
    assert {f["name"]: f["error"] for f in sweep.failures}["16 · overlap=0"].startswith(
        "It was scored on other questions: 3 of its 4 are among the 5 of the other cells"
    )

    renamed(cells["16 · overlap=0"], ["x1", "x2", "x3", "x4"])
    assert len(read_folder(copy).cells) == 2
    renamed(cells["32 · overlap=0"], ["y1", "y2", "y3"])
    with pytest.raises(
        StoreError, match=r"share no question \(16 · overlap=0 4, 32 · overlap=0 3, 32 · overlap=20 5\)"
    ):
        read_folder(copy)


def test_rows_are_put_in_one_order(copy):
    """Tables written in another order are compared question by question all the same."""
    plain = read_folder(copy)
    file = folder_of(copy, "32 · overlap=0") / "questions.parquet"
    content = parquet.read_table(file)
    parquet.write_table(content.take(list(range(content.num_rows))[::-1]), file)

    assert same(read_folder(copy), plain)


def test_nothing_is_created_by_looking(workplace, monkeypatch):
    """No store, no outputs: a sentence each, and no file is left."""
    monkeypatch.setenv("HARNESS_ROOT", str(workplace.root))
    before = set(workplace.root.rglob("*"))
    for words, answer in (
        ((), "There is no tracking store at sqlite:"),
        (("tracker=none",), "There is no sweep in "),
    ):
        given = take_apart(words)
        composed = compose.composed(given, ["+command=compare", *given.overrides]).config
        with pytest.raises(StoreError, match=f"{answer}.*python -m harness -m model="):
            finished(composed)
    assert set(workplace.root.rglob("*")) == before


def test_the_latest_may_be_one_that_nothing_tracked(workplace, monkeypatch):
    """A tracked sweep and then an untracked one: ``latest`` is the second; after another tracked one, that."""
    monkeypatch.setenv("HARNESS_ROOT", str(workplace.root))
    latest = []
    for words in (("chunk=16,32",), ("chunk=16,64", "tracker=none"), ("chunk=32,64",)):
        assert workplace.sweep("-m", *words).returncode == 0
        config = compose.composed(take_apart([]), ["+command=compare"]).config
        latest.append({cell.name for cell in finished(config).cells})

    assert latest == [{"chunk 16", "chunk 32"}, {"chunk 16", "chunk 64"}, {"chunk 32", "chunk 64"}]


def test_sweeps_without_a_tracker(workplace, monkeypatch):
    """The newest folder, or one by name; no ids; the same files."""
    monkeypatch.setenv("HARNESS_ROOT", str(workplace.root))
    assert workplace.sweep("-m", "chunk=16,32", "tracker=none").returncode == 0

    def read(*words):
        given = take_apart(["tracker=none", *words])
        return finished(compose.composed(given, ["+command=compare", *given.overrides]).config)

    sweep = read()
    assert [cell.name for cell in sweep.cells] == ["chunk 16", "chunk 32"]
    assert (sweep.run_id, sweep.uri, sweep.experiment_id) == ("", "", "")
    assert same(read(f"sweep={sweep.name}"), sweep)
    assert same(read(f"sweep={sweep.folder}"), sweep)
    with pytest.raises(SettingError, match=f"has no sweep of that name.* Did you mean {sweep.name}"):
        read(f"sweep={sweep.name}x")


def test_no_word_of_the_documents_leaves_without_texts(workplace, monkeypatch):
    """``tracker.texts=false``: no artifact holds a word of a document or a question, and the sweep can be read all the same."""
    monkeypatch.setenv("HARNESS_ROOT", str(workplace.root))
    assert workplace.sweep("-m", "chunk=16,32", "tracker.texts=false").returncode == 0

    words = [b"steeped", b"litre", b"whisked", b"75 degrees", b"black tea", b"seconds does a shot"]
    for file in (workplace.root / "mlruns" / "artifacts").rglob("*.*"):
        if file.is_file():
            content = file.read_bytes()
            content = gzip.decompress(content) if file.suffix == ".gz" else content
            if file.suffix == ".parquet":
                content = json.dumps(parquet.read_table(file).to_pylist()).encode()
            assert not [word for word in words if word in content], file
    next(workplace.root.glob("outputs/*/*")).rename(workplace.root / "away")
    given = take_apart([])
    sweep = finished(compose.composed(given, ["+command=compare"]).config)
    assert sweep.texts == {}
    assert "question" not in sweep.cells[0].questions
    assert sweep.evidence["q1"] == [{"doc_id": "tea.md", "start": 32, "end": 57}]
