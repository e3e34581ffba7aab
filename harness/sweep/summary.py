"""What the tracker shows of a whole sweep when it has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from harness.files.atomic import write_text
from harness.results.snippets import write_excerpts
from harness.results.sweeps import SWEEP
from harness.sweep.check import Sweep
from harness.sweep.conclude import Conclusion
from harness.tracker import SweepSummary
from harness.view.formats import columns
from harness.view.leaderboard import leaderboard


def summary_of(
    sweep: Sweep,
    contents: Sequence[Mapping[str, Any]],
    failures: Sequence[Mapping[str, Any]],
    shown: Conclusion,
    excerpts: Sequence[Path],
) -> SweepSummary:
    """What the tracker shows of the whole sweep; the leaderboard is written to the sweep's folder."""
    same_chunks = not sweep.rechunks
    lines = [content for content in contents if content["name"] not in shown.twins]
    text = leaderboard(lines, failures, sweep.primary, sweep.k, shown.verdict, same_chunks=same_chunks)
    board = sweep.folder / "leaderboard.md"
    write_text(board, text)
    report = [shown.report] if shown.report else []
    first, *others = (c.metric for c in columns(sweep.primary, sweep.k, same_chunks=same_chunks))
    cost, limits = f"context_tokens_at_{sweep.k}", (f"{first}_lo", f"{first}_hi")
    measured = [first, *(limits if shown.limits else ()), cost, "query_ms_p95", *others]
    settings = sweep.settings()
    # An axis that keeps one value tells no cell from another.
    axes = [key for key in sweep.axes or ("model", "chunk") if len({s[key] for s in settings}) > 1]
    names = [f"metrics.{metric}" for metric in dict.fromkeys(measured)]
    head = 1 + 2 * bool(shown.limits)
    names[head:head] = ["tags.verdict"] if shown.verdicts else []
    names += [f"params.{key}" for key in axes]
    return SweepSummary(
        note=text,
        files=[board, sweep.folder / SWEEP, *excerpts, *report],
        columns=names,
        cost=f"context_tokens_at_{sweep.k}",
        failed=len(failures),
        metrics={sweep.primary: contents[0]["metrics"][sweep.primary]} if contents else {},
        verdicts=shown.verdicts,
    )


def excerpts_of(sweep: Sweep) -> list[Path]:
    """What reports show of documents and labels.

    Only where there is one corpus with one golden set, since offsets belong to its texts.
    """
    if len(sweep.inputs) > 1:
        return []
    given = sweep.inputs[0]
    texts = bool(OmegaConf.select(sweep.cells[0].config, "tracker.texts", default=True))
    return write_excerpts(sweep.folder, given.documents, given.labels.questions, sweep.k, texts=texts)
