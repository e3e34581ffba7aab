from __future__ import annotations

from typing import Any

import pytest

from harness.view.leaderboard import leaderboard

PRIMARY = "recall_at_2000_tokens"


def cells(count: int) -> list[dict[str, Any]]:
    return [
        {
            "name": f"m{i} · 256",
            "metrics": {
                PRIMARY: 0.9 - i / 100,
                f"{PRIMARY}_lo": 0.85 - i / 100,
                f"{PRIMARY}_hi": 0.95 - i / 100,
                "recall_at_5": 0.8,
                "mrr": 0.7,
                "context_tokens_at_5": 1234.4,
                "ndcg_at_5": float("nan"),
                "precision_at_5": 0.2,
            },
            "health": {"truncated_evidence": 0.412},
        }
        for i in range(count)
    ]


def rows(text: str) -> list[list[str]]:
    """The cells of all lines of all tables."""
    return [
        [c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]


def test_best_first_with_its_interval() -> None:
    """The first line names the cell that stands first and does not call it better."""
    board = leaderboard(cells(3), [], PRIMARY, 5, same_chunks=True)
    first = "**m0 · 256** has the highest observed recall_at_2000_tokens: 0.900 (0.850–0.950)."
    assert board.splitlines()[0] == first
    assert [row[0] for row in rows(board)] == ["cell", "---", "m0 · 256", "m1 · 256", "m2 · 256"]
    assert rows(board)[2] == [
        "m0 · 256",
        "0.900 (0.850–0.950)",
        "0.800",
        "41.2%",
        "0.700",
        "1,234",
        "–",
        "0.200",
    ]


def test_row_metrics_are_marked_between_chunkings() -> None:
    """An asterisk and a line of explanation where the chunks differ, neither where they are the same."""
    different = leaderboard(cells(2), [], PRIMARY, 5, same_chunks=False)
    assert "mrr\\*" in rows(different)[0]
    assert "recall@5" in rows(different)[0]
    assert "comparable only between cells with the same chunks" in different
    same = leaderboard(cells(2), [], PRIMARY, 5, same_chunks=True)
    assert "\\*" not in same


def test_every_column_is_explained_in_a_line() -> None:
    """The legend has one line per metric of the table."""
    board = leaderboard(cells(2), [], PRIMARY, 5, same_chunks=True)
    legend = [line for line in board.splitlines() if line.startswith("- ")]
    assert [line[2:].partition(":")[0] for line in legend] == rows(board)[0][1:]
    assert "- mrr: mean of 1 / rank of the first relevant row" in legend


@pytest.mark.parametrize(
    ("questions", "primary", "wanted"),
    [
        ({"document": 9}, "recall_at_5", "recall@5: share of the relevant documents among the first 5"),
        ({"document": 9}, "recall_at_5", "mrr: mean of 1 / rank of the first relevant document"),
        ({"document": 9}, "recall_at_5", "tokens@5: mean tokens of the first 5 documents"),
        (
            {"document": 9, "span": 3},
            "document_recall_at_5",
            "document_recall@5: share of the relevant documents among the first 5",
        ),
        ({"document": 9, "span": 3}, "recall_at_5", "recall@5: share of the evidence's characters inside"),
    ],
)
def test_the_legend_speaks_of_documents_where_questions_are_about_them(questions, primary, wanted) -> None:
    """A found document counts as a whole, so recall isn't a share of characters; with both kinds, by the name."""
    measured = [
        cell | {"questions": questions, "metrics": cell["metrics"] | {"document_recall_at_5": 0.5}}
        for cell in cells(2)
    ]
    board = leaderboard(measured, [], primary, 5, same_chunks=True)

    assert f"- {wanted}" in board
    if "span" not in questions:
        assert "character" not in board
        assert " row" not in board


def test_all_cells_and_eight_columns() -> None:
    """Every cell has a row; MLflow's description is cut where the text is too long for it."""
    board = leaderboard(cells(40), [], PRIMARY, 5, same_chunks=True)
    assert len(rows(board)) == 2 + 40
    assert max(len(row) for row in rows(board)) <= 8


def test_failed_cells_stand_below_with_their_messages() -> None:
    """A failure is counted in the first line and told in full in the file."""
    failures = [{"name": "bge · 256", "error": "No weights.\nDownload bge | or name a folder."}]
    board = leaderboard(cells(1), failures, PRIMARY, 5, same_chunks=True)
    assert board.splitlines()[0].endswith("1 of 2 cells failed.")
    assert board.splitlines()[-1] == "- **bge · 256**: No weights. Download bge \\| or name a folder."


def test_no_finished_cell() -> None:
    """Without scores there is no table, only the failures."""
    board = leaderboard([], [{"name": "a", "error": "b"}], PRIMARY, 5, same_chunks=True)
    assert board.startswith("**No cell finished**; 1 failed.")
    assert rows(board) == []
