"""Where the time went, drawn truthfully."""

from __future__ import annotations

from harness.view.profile import profile


def test_bars_show_each_stage_in_proportion():
    """10 s of embedding and 5 s of search in the longest cell: 20 and 10 of its 30 characters; half as long, half a bar."""
    contents = [
        {
            "name": "minilm · 128",
            "timing": {"embed_seconds": 10.0, "search_seconds": 5.0, "query_ms_p50": 99.0},
        },
        {"name": "bge", "timing": {"embed_seconds": 7.5}},
    ]
    lines = profile(contents)

    assert lines[2] == "  minilm · 128    15.00 s  " + "E" * 20 + "s" * 10
    assert lines[3] == "  bge              7.50 s  " + "E" * 15
    assert lines[5] == "  E embed 17.50 s  s search 5.00 s"
    assert lines[6] == "  everything but embedding: 22% of 22.5 s"  # 5 / 22.5


def test_nothing_finished_is_nothing_to_show():
    """A sweep whose cells all failed has no profile."""
    assert profile([]) == []
