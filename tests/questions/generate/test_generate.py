"""``python -m harness.golden.generate`` from documents to questions, against a real server on this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from claude_stand_in import KEY, ClaudeStandIn, Fail, Say, sound, texts_of

from harness.golden import generate
from harness.paths import data_folder


@pytest.fixture
def documents(tmp_path, monkeypatch):
    """The sample's documents without its questions, in a folder of their own; no credentials but those a test gives."""
    for name in list(os.environ):
        if name.startswith("ANTHROPIC_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HARNESS_ROOT", str(tmp_path))
    shutil.copytree(
        data_folder() / "handbook",
        tmp_path / "docs",
        ignore=shutil.ignore_patterns("golden.jsonl", "company", "api"),
    )
    return tmp_path / "docs"


@pytest.fixture
def server(documents, monkeypatch):
    """The stand-in, known to the environment."""
    with ClaudeStandIn() as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        yield made


def run(documents, *words, n=12):
    """The command, here and now; gives the exit code."""
    return generate.main(
        ["corpus=folder", f"corpus.path={documents}", f"generator.n={n}", "generator.retries=1", *words]
    )


def lines(documents):
    return [json.loads(line) for line in (documents / "golden.jsonl").read_text().splitlines()]


def test_questions_are_written_once_and_paid_for_once(documents, server, capsys):
    """A first run asks and writes; a second one makes no call, needs no key, and changes no byte."""
    assert run(documents, "yes=true") == 0
    said = capsys.readouterr().out
    first = (documents / "golden.jsonl").read_bytes()
    asked = server.total
    os.environ.pop("ANTHROPIC_API_KEY")

    assert len(first.splitlines()) == 12
    assert "calls      12 to claude-haiku-4-5" in said
    assert "price      about $0.0" in said
    assert f"in {asked} calls" in said
    assert (
        f"python -m harness -m corpus=folder corpus.path={documents} model=minilm,wordllama chunk=256,512"
        in said
    )
    assert run(documents) == 0
    again = capsys.readouterr().out
    assert server.total == asked
    assert (documents / "golden.jsonl").read_bytes() == first
    assert "spent      $0.00 in 0 calls" in again
    assert "hidden" not in again
    assert "other formats" not in again


def test_every_question_has_exact_evidence_and_its_provenance(documents, server):
    """Spans cut the quotes out of the documents; at least a fifth of the questions need two of them."""
    run(documents, "yes=true", n=20)

    for line in lines(documents):
        assert line["source"] == "synthetic"
        assert line["provenance"]["model"] == "claude-haiku-4-5"
        assert line["provenance"]["prompt"] == lines(documents)[0]["provenance"]["prompt"]
        for place in line["evidence"]:
            text = (documents / place["doc_id"]).read_bytes().decode()
            assert text[place["start"] : place["end"]] == place["quote"]
    assert sum(len(line["evidence"]) > 1 for line in lines(documents)) >= 4


def test_a_run_without_a_question_is_an_error(documents, server, capsys):
    """There is nothing to compare on: no next step, but what to do instead."""
    server.behave = lambda call: Say({"answerable": False, "question": "", "quotes": []})

    assert run(documents, "yes=true", n=3) == 1
    said = capsys.readouterr()
    assert "golden.jsonl has no question, so there is nothing to compare on" in said.err
    assert "python -m harness.golden.add FILE" in said.err
    assert "next " not in said.out


def test_asking_for_more_pays_only_for_the_rest(documents, server):
    """The larger set begins with the bytes of the smaller one."""
    run(documents, "yes=true", n=6)
    first, asked = (documents / "golden.jsonl").read_bytes(), server.total
    run(documents, "yes=true", n=15)

    assert (documents / "golden.jsonl").read_bytes().startswith(first)
    assert len(lines(documents)) == 15
    assert server.total == len(server.calls)
    assert server.total > asked


def test_nothing_is_spent_without_a_yes(documents, server, capsys):
    """Where nobody can be asked, the plan is printed and nothing else happens."""
    assert run(documents) == 1
    said = capsys.readouterr()

    assert "tokens     about" in said.out
    assert "Add yes=true" in said.err
    assert server.total == 0
    assert not (documents / "golden.jsonl").exists()


@pytest.mark.parametrize(("answer", "code", "calls"), [("y\n", 0, 12), ("no\n", 1, 0), ("", 1, 0)])
def test_a_terminal_is_asked(documents, server, monkeypatch, answer, code, calls):
    """On a terminal the command asks, and takes nothing but a yes for one."""

    class Terminal:
        def isatty(self):
            return True

        def readline(self):
            return answer

    monkeypatch.setattr(sys, "stdin", Terminal())

    assert run(documents) == code
    assert server.total == calls


def test_without_a_key_the_price_is_said_and_the_way_to_one(documents, capsys):
    """A newcomer learns what it would cost before owning a key."""
    assert run(documents, "yes=true") == 1
    said = capsys.readouterr()

    assert "price      about $" in said.out
    assert "ANTHROPIC_API_KEY is not set" in said.err


def test_a_wrong_key_ends_at_once_and_is_nowhere(documents, server, capsys):
    """One sentence, few calls, and no file or line that holds the key."""
    server.behave = lambda call: Fail(401, "authentication_error", f"invalid x-api-key {KEY}")

    assert run(documents, "yes=true") == 1
    said = capsys.readouterr()
    assert "does not know the key (401)" in said.err
    assert server.total <= 8
    assert KEY not in said.out + said.err
    for file in documents.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


def test_trouble_in_the_middle_keeps_everything(documents, server, capsys):
    """Credit that runs out after seven answers: seven are kept, and the rest is all that the next run pays for."""
    server.behave = lambda call: (
        Fail(400, "invalid_request_error", "Your credit balance is too low") if call.number >= 7 else None
    )
    assert run(documents, "yes=true", "generator.concurrency=3") == 1
    assert "no credit left" in capsys.readouterr().err
    kept = server.answered
    server.behave = lambda call: None
    assert run(documents, "yes=true") == 0

    assert kept == 7
    ledger = [json.loads(line) for line in (documents / "golden.ledger.jsonl").read_text().splitlines()]
    assert Counter(item["request"] for item in ledger if "text" in item).most_common(1)[0][1] == 1
    assert server.answered == len([item for item in ledger if "text" in item])
    assert len(lines(documents)) == 12


def test_the_budget_is_a_hard_stop(documents, server, capsys):
    """Spending stays below generator.budget_usd over any number of runs."""
    for _ in range(2):
        assert run(documents, "yes=true", "generator.budget_usd=0.03", n=40) == 1
        assert "generator.budget_usd is 0.03; this set has cost $0.0" in capsys.readouterr().err
    ledger = [json.loads(line) for line in (documents / "golden.ledger.jsonl").read_text().splitlines()]
    spent = sum(item.get("dollars", 0) for item in ledger)

    assert 0 < server.answered < 40
    # One more call at its worst, about 4,000 bytes and 600 tokens, would cost less than a cent.
    assert 0.02 < spent <= 0.03
    assert len(lines(documents)) <= server.answered


def test_rejected_passages_are_replaced_and_counted(documents, server, capsys):
    """Twelve questions come out even when some passages give none; each kind is counted."""
    hopeless = set()

    def behave(call):
        text = texts_of(call.body)[0]
        if len(hopeless) < 3 or text in hopeless:
            hopeless.add(text)
            return Say(sound(call.body) | {"quotes": ["words that stand nowhere at all"]})
        return None

    server.behave = behave
    assert run(documents, "yes=true", "generator.concurrency=1") == 0
    said = capsys.readouterr().out

    assert len(lines(documents)) == 12
    assert "rejected   3 passages, replaced by others" in said
    assert "3 quote_not_found" in said


def test_another_prompt_or_model_adds_beside(documents, server):
    """Questions and answers of another prompt stand beside the earlier ones, which stay as they are."""
    run(documents, "yes=true", n=4)
    first = (documents / "golden.jsonl").read_bytes()
    run(documents, "yes=true", "prompt.again='Once more, please. {reason}'", n=4)
    run(documents, "yes=true", "generator.model=claude-haiku-5-5", n=4)

    assert (documents / "golden.jsonl").read_bytes().startswith(first)
    assert len({line["question_id"] for line in lines(documents)}) == 12
    assert len({line["provenance"]["prompt"] for line in lines(documents)}) == 2


def test_calls_are_made_at_once_but_no_more_than_allowed(documents, server):
    """generator.concurrency calls are on their way together, and never one more."""
    server.latency = 0.05
    run(documents, "yes=true", "generator.concurrency=5", n=25)

    assert server.most_at_once == 5


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("generator.n=0", "generator.n is 0; it must be a whole number of questions, at least 1"),
        ("generator.max_overlap=2", "generator.max_overlap is 2; it must be a share from 0 to 1"),
        ("generator.concurrency=1000", "from 1 to 64"),
        ("generator.model=claude-next", "generator.price_in=DOLLARS"),
        ("generator.concurency=4", "Did you mean generator.concurrency"),
        ("generator.batch=maybe", "true or false"),
        ("generator.base_url=localhost", "begins with http"),
        ("yes=maybe", "must be true or false"),
        ("golden=beir", "golden.path=FILE"),
        ("documents/", "unexpected argument"),
        ("-m", "unexpected argument"),
        ("prompt.one=nothing", "prompt.one has no {mark}"),
        ("corpus.path=nowhere", "no such folder"),
    ],
)
def test_wrong_words_are_answered_before_anything_is_asked(documents, server, capsys, word, said):
    """A mistake costs a sentence, no call and no file."""
    words = ["corpus=folder", f"corpus.path={documents}", "yes=true"]
    words = [w for w in words if w.partition("=")[0] != word.partition("=")[0]]

    assert generate.main([*words, word]) == 1
    assert said in capsys.readouterr().err
    assert server.total == 0


def test_the_sample_is_not_written_into(documents, server, capsys):
    """Without a corpus of the user's own, the sample's questions stay as they are."""
    assert generate.main(["yes=true"]) == 1
    assert "corpus=folder corpus.path=DIR" in capsys.readouterr().err


def test_a_second_process_on_the_same_set_is_told(documents, server, capsys, monkeypatch):
    """Two runs never pay for the same question: one waits, and says so when it takes too long."""
    from harness.files.journal import Journal
    from harness.questions.generate import run as run_module

    monkeypatch.setattr(run_module, "Journal", lambda path: Journal(path, 0.05))
    with Journal(documents / "golden.jsonl").locked():
        assert run(documents, "yes=true") == 1

    assert "is being written by another process" in capsys.readouterr().err
    assert server.total == 0


def test_ctrl_c_keeps_what_is_on_its_way(documents, server):
    """After SIGINT no new call starts, answers on their way are kept, and the exit code is 130."""
    seen = []

    def behave(call):
        if call.number == 9:
            seen.append(process.send_signal(signal.SIGINT))

    server.behave = behave
    server.latency = 0.05
    words = [
        "corpus=folder",
        f"corpus.path={documents}",
        "yes=true",
        "generator.n=60",
        "generator.concurrency=4",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.golden.generate", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    _, errors = process.communicate()
    ledger = (documents / "golden.ledger.jsonl").read_text().splitlines()

    assert process.returncode == 130, errors
    assert "All answers so far are cached" in errors
    assert "Traceback" not in errors
    assert len(ledger) == server.answered < 60
    assert run(documents, "yes=true", n=60) == 0
    assert len(lines(documents)) == 60
    assert server.answered == len(server.calls)


def test_the_set_feeds_the_sweep(documents, server, tmp_path):
    """The command that the end of a run names works as it is printed, and logs the set's digest."""
    from workplace import Workplace

    assert run(documents, "yes=true") == 0
    place = Workplace(tmp_path, documents, documents / "golden.jsonl")
    done = place.run("corpus=folder", f"corpus.path={documents}", "model=wordllama", "chunk=256")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "questions  12; labels: " in done.stdout
    assert len(place.results()) == 1
    assert '"golden' in json.dumps(place.results()[0])
