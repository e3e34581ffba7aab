from __future__ import annotations

from pathlib import Path

from harness.tracker import CellRecord, SweepRecord, SweepSummary

DIGEST = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def sweep_record(folder: Path) -> SweepRecord:
    return SweepRecord(
        name="2 cells · model × chunk · 29 Nov 19:08",
        folder=folder,
        axes={"model": ["minilm", "bge"], "chunk": ["256"]},
        primary="recall_at_2000_tokens",
        cells=2,
        params={"corpus": "handbook", "golden": "file", "primary_k": "5"},
        dataset={"name": "handbook", "digest": DIGEST, "source": "golden.jsonl"},
    )


def cell_record(folder: Path, **changes: object) -> CellRecord:
    """A cell with 66 metrics and four files, two of them none of the tracker's business."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("result.json", "config.yaml", ".hidden", "job.log"):
        (folder / name).write_text("{}", encoding="utf-8")
    metrics = {
        "recall_at_2000_tokens": 0.762400001,
        "recall_at_2000_tokens_lo": 0.71,
        "recall_at_2000_tokens_hi": 0.81,
    }
    metrics |= {
        f"{name}_at_{k}": 0.5 + k / 100
        for name in (
            "recall",
            "ndcg",
            "precision",
            "hit",
            "map",
            "complete",
            "coverage_dcg",
            "char_precision",
            "iou",
        )
        for k in (1, 3, 5, 10)
    }
    metrics |= {f"{name}_at_{b}_tokens": 0.6 for name in ("recall", "complete") for b in (500, 1000, 4000)}
    metrics |= {f"context_tokens_at_{k}": 230.5 * k for k in (1, 3, 5, 10)}
    metrics |= {
        "mrr": 0.7,
        "precision_omega": 0.2,
        "undefined": float("nan"),
        "truncated_tokens": 0.0,
        "truncated_evidence": 0.0,
    }
    metrics |= {
        "chunks": 96.0,
        "documents": 48.0,
        "lost_evidence": 0.0,
        "index_mb": 0.3,
        "truncated_chunks": 0.0,
    }
    metrics |= {"embed_seconds": 12.4, "search_seconds": 0.1, "query_ms_p50": 11.0, "query_ms_p95": 17.8}
    metrics |= {"diagnosis_found": 80.0, "diagnosis_split": 4.0}
    fields: dict[str, object] = {
        "name": "minilm · 256",
        "folder": folder,
        "params": {"model": "minilm", "chunk": "256"},
        "metrics": metrics,
        "curves": {"recall": {1: 0.51, 3: 0.53, 10: 0.60}, "ndcg": {1: 0.4, 10: 0.6}, "hit": {1: 0.5}},
        "tags": {"primary": "recall_at_2000_tokens"},
        "color": "#3772bb",
        "note": "**minilm · 256**: fine.",
        "started_ms": 1_700_000_000_000,
    }
    return CellRecord(**(fields | changes))  # type: ignore[arg-type]


def sweep_summary(folder: Path, **changes: object) -> SweepSummary:
    board = folder / "leaderboard.md"
    board.parent.mkdir(parents=True, exist_ok=True)
    board.write_text("# Leaderboard\n", encoding="utf-8")
    fields: dict[str, object] = {
        "note": "**minilm · 256** has the highest recall.\n\n| cell |\n|---|\n| minilm · 256 |",
        "files": [board],
        "columns": [
            "params.model",
            "metrics.recall_at_2000_tokens",
            "metrics.truncated_tokens",
            "tags.verdict",
        ],
        "cost": "context_tokens_at_5",
        "failed": 0,
        "metrics": {"recall_at_2000_tokens": 0.7624},
    }
    return SweepSummary(**(fields | changes))  # type: ignore[arg-type]
