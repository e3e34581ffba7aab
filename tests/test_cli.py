"""The main command as a user runs it: real processes, real models, a real MLflow store."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys

import pytest
from workplace import write_corpus


def runs(workplace):
    """(name, status, parent) of every run in the store."""
    with sqlite3.connect(workplace.root / "mlruns" / "mlflow.db") as db:
        parents = dict(
            db.execute("select run_uuid, value from tags where key = 'mlflow.parentRunId'").fetchall()
        )
        return [
            (name, status, parents.get(run))
            for run, name, status in db.execute("select run_uuid, name, status from runs")
        ]


def test_a_sweep_scores_every_cell_and_puts_them_side_by_side(workplace):
    """Two chunk sizes: exit code 0, a table best first, files of each cell, one parent with two children in MLflow."""
    done = workplace.sweep("-m", "model=wordllama", "chunk=16,32")

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    table = [line for line in done.stdout.splitlines() if re.match(r"^chunk (16|32)  ", line)]
    assert len(table) == 2
    assert "recall@2000t" in done.stdout  # chunk is swept: decided at a fixed number of tokens
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if "/" not in line)
    results = workplace.results()
    assert {result["name"] for result in results} == {"chunk 16", "chunk 32"}
    assert all(result["primary"] == "recall_at_2000_tokens" for result in results)
    assert all(
        result["metrics"]["recall_at_2000_tokens"] == 1.0 for result in results
    )  # the whole corpus fits
    for folder in workplace.root.glob("outputs/*/*/?"):
        assert {"result.json", "rankings.npz", "questions.parquet", "config.yaml"} <= {
            f.name for f in folder.iterdir()
        }
    children = [run for run in runs(workplace) if run[2]]
    assert len(children) == 2
    assert {status for _, status, _ in runs(workplace)} == {"FINISHED"}


def test_one_configuration_is_a_sweep_of_one(workplace):
    """Without -m there is a parent, a child, a table and the same files."""
    done = workplace.sweep("model=wordllama", "chunk=16")

    assert done.returncode == 0, done.stderr
    assert len(workplace.results()) == 1
    assert workplace.results()[0]["primary"] == "recall_at_5"
    assert sorted(bool(parent) for _, _, parent in runs(workplace)) == [False, True]


def test_a_failing_cell_is_on_record_and_the_others_finish(workplace):
    """A model that can't be found: exit code 1, a FAILED run with the message, the other cell scored."""
    done = workplace.sweep("-m", "model=bge,wordllama", "chunk=16,32")

    assert done.returncode == 1
    assert (
        "2 cells failed:\n  bge · 16, bge · 32\n" in done.stdout
    )  # one message for both, in the order of the sweep
    assert "BAAI/bge-small-en-v1.5" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert [result["name"] for result in workplace.results()] == ["wordllama · 16", "wordllama · 32"]
    assert (
        sorted(status for _, status, parent in runs(workplace) if parent) == ["FAILED"] * 2 + ["FINISHED"] * 2
    )


def test_the_same_sweep_twice_gives_the_same_numbers(workplace):
    """Everything outside ``timing`` and ``provenance`` is equal to the last digit, and nothing is embedded twice."""
    for _ in range(2):
        assert workplace.sweep("model=wordllama", "chunk=16", "tracker=none").returncode == 0
    first, second = workplace.results()
    embedded = [result["timing"]["texts_embedded"] for result in (first, second)]
    for result in (first, second):
        del result["timing"], result["provenance"]

    assert first == second
    assert embedded[0] > 0
    assert embedded[1] == 0


def test_another_k_or_budget_ranks_nothing_again(workplace):
    """After a sweep, other cut-offs and budgets are read off the kept rankings: no embedding, no model library."""
    assert workplace.sweep("model=minilm", "chunk=16", "k=1,3", "tracker=none").returncode == 0
    code = (
        "import sys; from harness.retriever.dense import DenseRetriever; from harness.sweep.main import main\n"
        "DenseRetriever.build = None\n"  # whoever tries to build a retriever fails
        "code = main(sys.argv[1:])\n"
        "print(code, sorted({'torch', 'sentence_transformers', 'transformers', 'openvino'} & set(sys.modules)))"
    )
    (workplace.root / "again.py").write_text(code)
    done = workplace.run(
        "corpus=folder",
        f"corpus.path={workplace.documents}",
        f"golden.path={workplace.golden}",
        "model=minilm",
        "chunk=16",
        "k=2,5",
        "metrics.budgets=[30,60]",
        "tracker=none",
        module="again",
    )

    assert done.stdout.splitlines()[-1] == "0 []", done.stdout + done.stderr
    assert "recall_at_60_tokens" in workplace.results()[-1]["metrics"]


def test_k_is_read_off_one_ranking(workplace):
    """k=2,4 is one cell with both cut-offs, under -m too."""
    done = workplace.sweep("-m", "model=wordllama", "k=2,4", "tracker=none")

    assert done.returncode == 0, done.stderr
    (result,) = workplace.results()
    assert result["k"] == [2, 4]
    assert {"recall_at_2", "recall_at_4"} <= set(result["metrics"])
    assert result["metrics"]["recall_at_2"] <= result["metrics"]["recall_at_4"]


def test_a_plan_says_what_would_be_done_and_does_nothing(workplace):
    """plan=true prints the cells with chunks, cached texts and time, and leaves no run and no output behind."""
    done = workplace.sweep("-m", "model=wordllama", "chunk=16,32", "plan=true")

    assert done.returncode == 0, done.stderr
    assert re.search(r"^cell +chunks +cached +embedding", done.stdout, re.MULTILINE)
    assert "2 cells" in done.stdout
    assert not (workplace.root / "outputs").exists()
    assert not (workplace.root / "mlruns").exists()


MISTAKES = [
    (["chunk=0"], r"chunk is 0; it must be a whole number of tokens, at least 1"),
    (["chunk=0", "chunker=whole"], r"chunk is 0"),
    (["chunk=1.5"], r"chunk is 1\.5; it must be a whole number"),
    (["chunk=abc"], r"chunk is abc; it must be a whole number"),
    (["chunk="], r"chunk is empty; it must be a whole number"),
    (["overlap=-1"], r"overlap is -1; it must be a whole number of tokens, at least 0"),
    (["chunk=16", "overlap=16", "chunker=tokens"], r"overlap is 16"),
    (["plan=maybe"], r"plan is maybe; it must be true or false"),
    (["+foo=1"], r"unknown setting '\+foo=1'"),
    (["chunk=16", "chunk=32"], r"chunk is given 2 times"),
    (["-m", "chunk=16,16"], r"chunk has the value 16 twice"),
    (["-m", "metrics=default,mine"], r"metrics is the same for a whole sweep"),
    (["-m", "primary=mrr,recall_at_5"], r"primary is the same for a whole sweep"),
    (["-m", "tokenizer=bert,x/y"], r"tokenizer is the same for a whole sweep"),
    (["-chunk=16"], r"unknown flag '-chunk=16'\. A setting has no dash: chunk=16"),
    (["golden.path="], r"golden\.path is empty"),
    (["cache="], r"cache is empty"),
    (["cache=/etc/hostname"], r"/etc/hostname is not a folder\. Choose another folder: HARNESS_ROOT=DIR"),
    (["model=hub"], r"model\.name is not set, and it has no default"),
    (["model.max_tokens=9"], r"model\.max_tokens is 9, and the static model .* has no window"),
    (["model.batch_size=9"], r"unknown setting 'model\.batch_size'\. The chosen model has none; .*minilm"),
    (["hydra/launcher=submitit_local"], r"not installed.*pip install hydra-submitit_local-launcher"),
    (["k=0"], r"k is 0; it must be a whole number of rows, at least 1"),
    (["k=five"], r"k is five; it must be a whole number"),
    (["chunks=16"], r"unknown setting 'chunks'\. Did you mean chunk"),
    (["model=minlm"], r"unknown option 'model=minlm'\. Did you mean minilm"),
    (["model=minilm,wordllama"], r"model has 2 values .* Add -m"),
    (["minilm"], r"'minilm' is not of the form key=value"),
    (["primary=recall_over_budgets", "metrics.budgets=[]"], r"needs metrics\.budgets and questions whose"),
    (["primary=recal_at_5"], r"primary=recal_at_5: unknown metric\. Did you mean recall_at_5"),
    (["primary_k=4"], r"primary_k is 4; it must be one of k"),
    (["corpus.path=/nowhere/at all"], r"/nowhere/at all"),
    (["golden.path=/nowhere/questions.jsonl"], r"/nowhere/questions\.jsonl"),
    (["model.batch_size=0", "model=minilm"], r"model\.batch_size is 0"),
    (["tracker.uri=file:./mlruns"], r"sqlite"),
    (["retriever._target_=no.such.Thing"], r"retriever\._target_ is no\.such\.Thing, .*No module named 'no'"),
    (["model._target_=numpy.zeros"], r"model\._target_ is numpy\.zeros, which is not a class"),
    (["chunker._target_=null"], r"chunker\._target_ is missing\. .*_target_: package\.module\.Class"),
    (["tracker.uri=http://127.0.0.1:9"], r"127\.0\.0\.1:9"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_a_mistake_is_one_line(workplace, words, message):
    """No stack trace, no run, exit code 1, one line that says what was given and what to do."""
    done = workplace.sweep(*words)

    assert done.returncode == 1
    assert re.search(message, done.stderr), done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert not workplace.results()


def test_a_corpus_without_its_path_is_one_line(workplace):
    """The first mistake that a new user makes."""
    done = workplace.run("corpus=folder", "model=wordllama")

    assert done.returncode == 1
    assert done.stderr == "error: corpus.path is not set, and it has no default. Give it: corpus.path=...\n"


def test_a_reader_that_leaves_does_not_end_the_sweep(workplace):
    """``| head -1`` closes the pipe; the cells are scored all the same, without a trace of complaint."""
    words = ["-m", "harness", "-m", "model=wordllama", "chunk=16,32", "tracker=none"]
    words += ["corpus=folder", f"corpus.path={workplace.documents}", f"golden.path={workplace.golden}"]
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=workplace.root,
        env=workplace.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    with process.stderr as stream:
        complaint = stream.read()
    process.wait()

    assert complaint == b""
    assert len(workplace.results()) == 2


def test_sigterm_closes_the_sweep_on_record(workplace):
    """SIGTERM in the middle of a cell: a sentence, exit code 130, and no run stays RUNNING."""
    stub = (
        "import os, signal, sys\n"
        "from harness.cell import pipeline\n"
        "pipeline.evaluate = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\n"
        "from harness.sweep.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    (workplace.root / "killed.py").write_text(stub)
    done = workplace.run(
        "corpus=folder",
        f"corpus.path={workplace.documents}",
        f"golden.path={workplace.golden}",
        "model=wordllama",
        module="killed",
    )

    assert done.returncode == 130, done.stderr
    assert "Stopped. Finished cells and the embeddings computed so far are cached" in done.stderr
    assert {status for _, status, _ in runs(workplace)} == {"FAILED"}


def test_questions_that_were_left_out_are_listed_with_their_reasons(workplace):
    """The terminal names one; the sweep's folder holds them all."""
    changed = workplace.documents / "tea.md"
    changed.write_text(
        changed.read_text().replace("75 degrees", "80 degrees").replace("four minutes", "5 minutes")
    )
    done = workplace.sweep("model=wordllama", "tracker=none")
    (file,) = workplace.root.glob("outputs/*/*/left_out.jsonl")

    assert str(file) in done.stdout
    assert [json.loads(line)["question_id"] for line in file.read_text().splitlines()] == ["q1", "q2"]
    assert workplace.results()[0]["questions"] == {"span": 3}


def test_among_equals_the_cheaper_cell_comes_first(workplace):
    """Both sizes find everything; the one that hands over fewer tokens at k=5 stands on top."""
    done = workplace.sweep(
        "-m", "model=wordllama", "chunk=32,16", "primary=recall_at_4000_tokens", "tracker=none"
    )
    rows = [line.split()[1] for line in done.stdout.splitlines() if re.match(r"^chunk (16|32)  ", line)]

    assert rows == ["16", "32"]
    assert "Only 5 questions: one more or less that is found moves a cell by 20 points." in done.stdout


def test_half_precision_says_what_it_leaves_open(workplace):
    """Static vectors don't know the order of words: two lines of the same words tie, which rounding could turn around."""
    (workplace.documents / "cities.md").write_text("Paris London Rome Berlin\n\nLondon Paris Rome Berlin\n")
    evidence = [{"doc_id": "cities.md", "quote": "Paris London Rome Berlin"}]
    question = {"question": "Rome, Berlin, London and Paris", "evidence": evidence}
    workplace.golden.write_text(json.dumps(question) + "\n")
    done = workplace.sweep("chunk=4", "k=1", "cache_dtype=float16", "tracker=none")

    assert done.returncode == 0, done.stderr
    assert workplace.results()[0]["health"]["unsettled_questions"] == 1
    assert "For 1 of 1 questions, rounding may change the first rows" in " ".join(done.stdout.split())

    exact = workplace.sweep("chunk=4", "k=1", "tracker=none")

    assert "unsettled_questions" not in workplace.results()[-1]["health"]
    assert "float16" not in exact.stdout


def test_cells_are_compared_on_the_same_questions_or_not_at_all(workplace):
    """A corpus that lost a label does not win by a shorter exam: refused, unless the lost one counts as not found."""
    worse = workplace.root / "worse"
    write_corpus(worse)
    (worse / "tea.md").write_text(
        "# Tea\n\nNothing is said of green tea.\n\nBlack tea takes four minutes in boiling water.\n"
    )
    words = ["-m", f"corpus.path={workplace.documents},{worse}", "tracker=none"]
    refused = workplace.sweep(*words)

    assert refused.returncode == 1
    assert "The cells would be scored on different questions (5 and 4 of them)" in refused.stderr

    kept = workplace.sweep(*words, "golden.keep_lost=true")

    assert kept.returncode == 0, kept.stderr
    assert "1 label is not found in the documents as written and is counted as missed." in " ".join(
        kept.stdout.split()
    )
    assert [result["questions"] for result in workplace.results()] == [{"span": 5}, {"span": 5}]
    assert [result["health"]["lost_evidence"] for result in workplace.results()] == [0, 1]


def test_the_names_of_equal_documents_change_no_score(workplace):
    """BM25 ranks equal documents by id; a label of the second counts all the same, unless it is to count as written."""
    scores = {}
    for name in ("9", "0"):
        folder = workplace.root / name
        folder.mkdir()
        texts = {
            "1": "The pump needs oil.",
            "8": "Boots dry near the stove.",
            name: "Boots dry  near the stove.",
        }
        rows = (json.dumps({"_id": doc_id, "title": "", "text": text}) for doc_id, text in texts.items())
        (folder / "corpus.jsonl").write_text("\n".join(rows))
        (folder / "queries.jsonl").write_text('{"_id": "q", "text": "Where do boots dry?"}')
        (folder / "qrels.tsv").write_text(f"q\t{name}\t1\n")
    for twins in ("true", "false"):
        both = f"corpus.path={workplace.root / '9'},{workplace.root / '0'}"
        words = ["-m", both, "corpus=beir", "golden=beir", "golden.path=${corpus.path}", "retriever=bm25"]
        done = workplace.sweep(*words, f"golden.twins={twins}", "tracker=none", "k=[1,2]")
        assert done.returncode == 0, done.stderr
        assert ("1 label has equal texts elsewhere: 1 place counts as well" in done.stdout) is (
            twins == "true"
        )
        scores[twins] = [result["metrics"] for result in workplace.results()[-2:]]

    assert scores["true"][0] == scores["true"][1]
    assert scores["true"][0]["mrr"] == 1.0
    assert sorted(metrics["mrr"] for metrics in scores["false"]) == [0.5, 1.0]


def test_odd_paths_work(workplace):
    """Blanks, brackets, commas and '=' in the paths of documents and questions need no quoting."""
    odd = workplace.root / "my docs [v=2], final"
    workplace.documents.rename(odd)
    golden = odd / "questions (1).jsonl"
    workplace.golden.rename(golden)
    done = workplace.run(
        "model=wordllama", "corpus=folder", f"corpus.path={odd}", f"golden.path={golden}", "tracker=none"
    )

    assert done.returncode == 0, done.stderr
    assert len(workplace.results()) == 1


def test_questions_of_another_corpus_are_refused(workplace):
    """When no label stands in the documents the sweep does not start."""
    lines = workplace.golden.read_text().splitlines()
    changed = []
    for line in lines:
        question = json.loads(line)
        question["evidence"] = [{"doc_id": "else.md", "start": 0, "end": 9, "quote": "xylophone"}]
        changed.append(json.dumps(question))
    workplace.golden.write_text("\n".join(changed))
    done = workplace.sweep("model=wordllama")

    assert done.returncode == 1
    assert "another corpus" in done.stderr


def test_help_imports_nothing_heavy(workplace):
    """--help answers without loading torch, MLflow or a model library."""
    code = "import sys; from harness.sweep.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\nprint(sorted({'torch','mlflow','sentence_transformers','transformers','pyarrow'} & set(sys.modules)))"
    (workplace.root / "help.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "help.py"], cwd=workplace.root, capture_output=True, text=True, check=True
    )

    assert "model=minilm,bge chunk=256,512" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
