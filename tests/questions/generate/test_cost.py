"""``python -m harness.golden.cost``: the ledgers added up."""

from __future__ import annotations

import json

import pytest

from harness.golden import cost


def entry(day, model, dollars, *, batch=False):
    return {
        "request": f"{day}{model}{dollars}",
        "passage": "p",
        "prompt": "q",
        "model": model,
        "max_tokens": 600,
        "at": f"{day}T10:00:00+00:00",
        "batch": batch,
        "stop": "end_turn",
        "text": "{}",
        "usage": {"in": 1000, "out": 100},
        "price": {"in": 1.0, "out": 5.0},
        "dollars": dollars,
    }


@pytest.fixture
def ledger(tmp_path):
    """Three answers of two days and models, one lost call, a line that an earlier version wrote."""
    items = [
        entry("2026-11-29", "claude-haiku-4-5", 0.0015),
        entry("2026-11-30", "claude-haiku-4-5", 0.0015),
        entry("2026-11-30", "claude-haiku-4-5", 0.00075, batch=True),
        {
            "request": "x",
            "at": "2026-11-30T10:00:00+00:00",
            "lost": "No answer came in time",
            "at_most": 0.004,
        },
        {"at": "2026-11-30T11:00:00+00:00", "saved": 0.003, "answers": 2},
    ]
    path = tmp_path / "golden.ledger.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def test_a_ledger_is_added_up_by_day_and_model(ledger, capsys):
    """Calls, tokens and dollars; what was lost stands apart."""
    assert cost.main([str(ledger)]) == 0
    said = capsys.readouterr().out.splitlines()

    assert [line.split() for line in said[4:8]] == [
        ["2026-11-29", "claude-haiku-4-5", "1", "1,000", "100", "0.0015"],
        ["2026-11-30", "claude-haiku-4-5", "1", "1,000", "100", "0.0015"],
        ["2026-11-30", "claude-haiku-4-5", "(batch)", "1", "1,000", "100", "0.0008"],
        ["all", "3", "3,000", "300", "0.0037"],
    ]
    assert "1 more call brought no answer; if they were charged, at most $0.0040" in said


@pytest.mark.parametrize("way", ["folder", "set", "settings"])
def test_a_ledger_is_found_by_folder_set_or_settings(ledger, capsys, way):
    """Naming the folder, the golden set, or the corpus leads to the same ledger."""
    words = {
        "folder": [str(ledger.parent)],
        "set": [str(ledger.with_name("golden.jsonl"))],
        "settings": ["corpus=folder", f"corpus.path={ledger.parent}"],
    }
    assert cost.main(words[way]) == 0
    assert "0.0037" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["corpus=folder", "corpus.path=nowhere"], ["nowhere"]])
def test_no_ledger_is_said(capsys, words):
    """Where nothing was written there is a sentence and exit code 1."""
    assert cost.main(words) == 1
    assert "There is no ledger at" in capsys.readouterr().err
