"""What a sweep says at its end."""

from __future__ import annotations

from harness.view.terminal import profile, report, seconds_spent


def test_seconds_stand_stage_by_stage(monkeypatch):
    """Stages that took time, their sums, and the whole; what is no stage is left out."""
    monkeypatch.setenv("COLUMNS", "80")
    contents = [
        {
            "name": "minilm · 128",
            "timing": {"embed_seconds": 10.0, "search_seconds": 5.0, "query_ms_p50": 99.0},
        },
        {"name": "bge", "timing": {"embed_seconds": 7.5, "rerank_seconds": 2.0, "load_seconds": 0.03}},
    ]

    assert profile(contents) == [
        "",
        "seconds       load  embed  search  rerank    all",
        "-" * 48,
        "minilm · 128  0.00  10.00    5.00    0.00  15.00",
        "bge           0.03   7.50    0.00    2.00   9.53",
        "all           0.03  17.50    5.00    2.00  24.53",
    ]
    assert seconds_spent(contents) == "24.5 seconds (embed 17.5, search 5.0, rerank 2.0)"


def test_nothing_finished_is_nothing_to_show():
    """A sweep whose cells all failed has no profile."""
    assert profile([]) == []


def content(name, score, truncated=0.0):
    """A cell's ``result.json``, as far as the end of a sweep reads it."""
    figures = {
        "recall_at_5": 0.5,
        "mrr": 0.25,
        "context_tokens_at_5": 1013.4,
        "ndcg_at_5": 0.2,
        "precision_at_5": 0.1,
    }
    limits = {"recall_at_2000_tokens_lo": score - 0.05, "recall_at_2000_tokens_hi": score + 0.05}
    health = {"truncated_evidence": truncated, "truncated_tokens": truncated, "lost_evidence": 0}
    return {
        "name": name,
        "metrics": {"recall_at_2000_tokens": score, **limits, **figures},
        "health": health | {"truncated_chunks": 3, "chunks": 7},
        "questions": {"span": 1},
        "model": {"window": 256},
        "chunk_independent": ["recall_at_2000_tokens"],
    }


def test_the_table_of_a_sweep(monkeypatch):
    """Best first, limits beside the deciding metric, shares in percent; of too many columns the last is left out."""
    monkeypatch.setenv("COLUMNS", "80")
    contents = [content("minilm · 128", 0.761), content("wordllama · 512", 0.64, 0.409)]
    lines = report(contents, [], "recall_at_2000_tokens", 5, ["A winner."], same_chunks=False)

    assert lines[:5] == [
        "",
        "cell                  recall@2000t  recall@5  truncated   mrr*  tokens@5",
        "-" * 72,
        "minilm · 128     0.761 (.711–.811)     0.500       0.0%  0.250      1013",
        "wordllama · 512  0.640 (.590–.690)     0.500      40.9%  0.250      1013",
    ]
    said = " ".join(" ".join(lines).split())
    assert "truncated share of the evidence beyond the model's maximum sequence length" in said
    assert "tokens@5 mean tokens of context in the first 5 rows" in said
    assert "ndcg@5" not in said
    assert "A winner." in lines
    assert "! wordllama · 512: 40.9% of the text and 40.9% of the evidence are truncated" in said
    assert "! Only 1 question: one more or less that is found moves a cell by 100 points." in said


def test_failed_cells_share_their_message():
    """Two cells with one message are one paragraph."""
    failures = [{"name": name, "error": "No memory."} for name in "ab"]

    assert report([], failures, "mrr", 5, same_chunks=True) == [
        "",
        "2 cells failed:",
        "  a, b",
        "    No memory.",
    ]
    assert report([], failures[:1], "mrr", 5, same_chunks=True)[1] == "1 cell failed:"
