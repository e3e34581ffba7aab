"""``generator.batch=true``: half the price, and no batch that is paid for twice, wherever a run is killed."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager

import pytest
from claude_stand_in import ClaudeStandIn, Say, sound, texts_of

from harness.files.journal import Journal
from harness.golden import generate
from harness.paths import data_folder
from harness.questions.generate.batches import Batches


@pytest.fixture
def documents(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith("ANTHROPIC_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HARNESS_ROOT", str(tmp_path))
    shutil.copytree(data_folder() / "handbook" / "alarms", tmp_path / "docs")
    return tmp_path / "docs"


@pytest.fixture
def server(documents, monkeypatch):
    with ClaudeStandIn() as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        yield made


def run(documents, *words, batch=True, n=12):
    own = ["generator.batch=true", "generator.poll=0"] if batch else []
    return generate.main(
        ["corpus=folder", f"corpus.path={documents}", f"generator.n={n}", "yes=true", *own, *words]
    )


def lines(documents):
    path = documents / "golden.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def ledger(documents):
    return [item for item in Journal(documents / "golden.ledger.jsonl").items() if "text" in item]


def rows(server):
    return [name for batch in server.batches.values() for name in batch["rows"]]


class Killed(BaseException):
    """Stands for kill -9: nothing catches it on its way out."""


@contextmanager
def killed_at(monkeypatch, method, *, before):
    """The next run dies before or after ``method`` of Batches."""
    real = getattr(Batches, method)

    def dies(self, *given):
        if before:
            raise Killed
        real(self, *given)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Batches, method, dies)
        yield


def test_a_batch_gives_the_set_of_single_calls_at_half_the_price(documents, server, tmp_path, capsys):
    """The same questions come out, each answer at half the price, from one batch with unique ids."""
    assert run(documents) == 0
    said = capsys.readouterr().out
    other = shutil.copytree(
        documents, tmp_path / "other", ignore=shutil.ignore_patterns("golden*", ".golden*")
    )
    assert run(other, batch=False) == 0

    assert lines(documents) == lines(other)
    assert len(lines(documents)) == 12
    assert len(server.batches) == 1
    assert len(set(rows(server))) == 12
    assert all(len(name) <= 64 for name in rows(server))
    assert sum(i["dollars"] for i in ledger(documents)) == pytest.approx(
        sum(i["dollars"] for i in ledger(other)) / 2
    )
    assert "one batch, answered within a day" in said
    assert "batch      msgbatch_000: 0 of 12 answered" in said


def test_results_come_in_any_order_and_rejections_make_a_second_batch(documents, server):
    """What is rejected is asked for again in the next batch, with the reason; what replaces it too."""
    bad = {"quotes": ["words that stand nowhere at all"]}

    def behave(call):
        luck = sum(texts_of(call.body)[0].encode()) % 4
        return Say(sound(call.body) | bad) if luck == 0 or (luck == 1 and call.turn == 0) else None

    server.behave = behave
    assert run(documents) == 0

    assert len(lines(documents)) == 12
    assert len(server.batches) > 1
    assert server.answered == len(server.calls) == len(ledger(documents))


def test_expired_and_errored_rows_are_asked_again(documents, server):
    """Rows that brought nothing cost nothing and go into the next batch."""
    told = iter(
        [
            {"type": "expired"},
            {"type": "errored", "error": {"type": "error", "error": {"type": "api_error", "message": "x"}}},
            {"type": "canceled"},
        ]
    )
    server.row = lambda name, body: next(told, None)
    assert run(documents) == 0

    assert len(lines(documents)) == 12
    assert [len(batch["rows"]) for batch in server.batches.values()] == [12, 3]


def test_rows_that_never_work_end_the_run(documents, server, capsys):
    """Nothing is sent again and again: after three batches without an answer the run ends and says why."""
    server.row = lambda name, body: {"type": "expired"}

    assert run(documents) == 1
    assert "3 batches in a row brought no answer (requests expired)" in capsys.readouterr().err
    assert len(server.batches) == 3


def test_a_refused_row_ends_the_run_at_once(documents, server, capsys):
    """A request that the API calls wrong would be wrong in the next batch too."""
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "thinking: not\nhere."}}
    server.row = lambda name, body: {"type": "errored", "error": error}

    assert run(documents) == 1
    assert (
        "refused a request of the batch: thinking: not here. Correct the setting" in capsys.readouterr().err
    )
    assert len(server.batches) == 1


@pytest.mark.parametrize(
    ("method", "before", "batches"),
    [
        ("_create", True, 1),
        ("_create", False, 1),
        ("_collect", True, 1),
        ("_wait", False, 1),
        ("_over", True, 1),
    ],
)
def test_a_killed_run_pays_for_one_batch(documents, server, monkeypatch, method, before, batches):
    """Killed before or after the batch was sent, or before its results were read or ticked off: no second batch is paid for."""
    with killed_at(monkeypatch, method, before=before), pytest.raises(Killed):
        run(documents)
    assert run(documents) == 0

    assert len(server.batches) == batches
    assert len(lines(documents)) == 12
    assert len(ledger(documents)) == 12


def test_a_lost_answer_to_sending_is_no_second_batch(documents, server, monkeypatch):
    """When the connection is cut after the batch was made, it is found among the account's batches."""
    from claude_stand_in import _Handler

    real, cuts = _Handler._send, []

    def cut_once(self, status, content, headers=None):
        if self.command == "POST" and not cuts:
            cuts.append(1)
            self.close_connection = True
            self.connection.close()
            return False
        return real(self, status, content, headers)

    monkeypatch.setattr(_Handler, "_send", cut_once)
    assert run(documents) == 0

    assert len(server.batches) == 1
    assert len(lines(documents)) == 12


def test_other_batches_of_the_account_are_left_alone(documents, server, monkeypatch):
    """A batch of as many requests that somebody else sent is not taken for ours."""
    server.batches["msgbatch_other"] = {
        "id": "msgbatch_other",
        "rows": {f"x{i}": {"model": "m", "messages": [{"content": ""}]} for i in range(12)},
        "polls": 9,
        "at": now(),
    }
    with killed_at(monkeypatch, "_create", before=True), pytest.raises(Killed):
        run(documents)
    assert run(documents) == 0

    assert len(server.batches) == 2
    assert len(lines(documents)) == 12


def test_a_batch_is_collected_whatever_the_next_settings_are(documents, server, monkeypatch):
    """Starting again without generator.batch, or with another model, still takes the answers that are paid for."""
    with killed_at(monkeypatch, "_wait", before=True), pytest.raises(Killed):
        run(documents)
    assert run(documents, batch=False) == 0

    assert len(server.batches) == 1
    assert server.answered == 12
    assert all(item["batch"] for item in ledger(documents))


def test_a_batch_that_the_api_does_not_know_is_named_and_can_be_given_up(
    documents, server, monkeypatch, capsys
):
    """Not a wrong model: another key sent it, or it is too old. Without its file a new batch is sent."""
    with killed_at(monkeypatch, "_wait", before=True), pytest.raises(Killed):
        run(documents)
    sent = dict(server.batches)
    server.batches.clear()
    assert run(documents) == 1
    said = capsys.readouterr().err
    server.batches |= {"msgbatch_other": next(iter(sent.values()))}

    file = documents / "golden.batches.jsonl"
    assert f"The API does not know the batch msgbatch_000, which is noted in {file}." in said
    assert "give it up: delete that file" in said
    assert "no model" not in said
    file.unlink()
    assert run(documents) == 0
    assert len(lines(documents)) == 12


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("_results", "Batch msgbatch_000 (12 questions) goes on at the API and is billed"),
        ("_create", "A batch that may have been sent (12 questions) goes on"),
    ],
)
def test_after_ctrl_c_a_batch_goes_on(documents, server, monkeypatch, capsys, method, said):
    """It is said that it is billed; the same command takes its answers."""

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Batches, method, interrupted)
        assert run(documents) == 130
    assert said in capsys.readouterr().err
    assert run(documents) == 0
    assert "goes on" not in capsys.readouterr().err
    assert len(server.batches) == 1


def test_the_budget_cuts_a_batch(documents, server, capsys):
    """A batch holds no more requests than the budget bears at their worst; the rest follows, as long as it fits."""
    assert run(documents, "generator.budget_usd=0.02", n=40) in {0, 1}
    spent = sum(item["dollars"] for item in ledger(documents))

    assert 0 < len(server.batches[next(iter(server.batches))]["rows"]) < 40
    assert spent <= 0.02


def test_batches_are_noted_before_they_are_sent(documents, server):
    """The journal holds the requests, then the id, then the end, in this order."""
    run(documents)
    kinds = [
        next(k for k in ("requests", "batch_id", "over") if k in item)
        for item in Journal(documents / "golden.batches.jsonl").items()
    ]

    assert kinds == ["requests", "batch_id", "over"]
    assert "system" not in json.dumps(Journal(documents / "golden.batches.jsonl").items())


def now():
    from datetime import UTC, datetime

    return datetime.now(UTC)
