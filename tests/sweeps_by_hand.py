"""Finished sweeps out of a few numbers, for tests of what is read from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.results.finished import FinishedCell, FinishedSweep

CHUNKER = {"_target_": "harness.chunker.recursive.RecursiveChunker"}


def cell(name, params, *, run_id="", ids=None, content=None, **columns):
    """A cell with these settings and columns; ids ``q0``, ``q1``, ... (``q00`` of more than ten) unless given."""
    rows = len(next(iter(columns.values())))
    ids = [f"q{i:0{len(str(rows - 1))}}" for i in range(rows)] if ids is None else ids
    plain = {
        "question_id": np.array(ids),
        "kind": np.array(["span"] * rows),
        "source": np.array(["import"] * rows),
        "cluster": np.array([f"{i}.md" for i in range(rows)]),
        "first_rank": np.ones(rows),
        "cause": np.array(["found"] * rows),
    }
    plain |= {key: np.array(values) for key, values in columns.items()}
    about = {
        "name": name,
        "params": {"k": "5", "tokenizer": "bert", **params},
        "metrics": {
            key: float(np.nanmean(values)) for key, values in plain.items() if values.dtype.kind == "f"
        },
        "health": {"chunks": 10.0},
        "timing": {"search_seconds": 0.5},
        "chunk_independent": ["recall_at_5"],
        "config": {"chunker": CHUNKER | {"size": params.get("chunk")}},
        "corpus_digest": "c",
        "golden_digest": "g",
        "tokenizer_digest": "t",
        "questions": {"span": rows},
    }
    return FinishedCell(name, run_id, Path(name), about | (content or {}), plain, "#336699")


def sweep(*cells, axes, failures=(), **changes):
    """A sweep of these cells, decided by ``recall_at_5``."""
    given = {"name": "by hand", "run_id": "", "uri": "", "experiment_id": "", "folder": Path(), "k": 5}
    given |= {"primary": "recall_at_5"} | changes
    return FinishedSweep(axes=axes, cells=cells, failures=failures, **given)
