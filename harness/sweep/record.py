"""A sweep on record: its name and parameters at the beginning, leaderboard and report at the end.

The end is read from the cells' files, so it does not matter in which process a cell ran.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from harness.cli.say import say, say_all
from harness.errors import StoreError
from harness.files.atomic import read_json, write_json, write_text
from harness.results.cells import SCHEMA
from harness.results.finished import SWEEP, collected
from harness.results.snippets import write_excerpts
from harness.sweep.check import Sweep
from harness.sweep.conclude import Conclusion, concluded
from harness.sweep.environment import provenance
from harness.tracker import SweepRecord, SweepSummary, Tracker
from harness.view import terminal
from harness.view.colors import colors_of
from harness.view.formats import columns, counted
from harness.view.leaderboard import leaderboard


def record(sweep: Sweep) -> SweepRecord:
    """What is known of a sweep before its first cell runs."""
    first = sweep.cells[0]
    count = len(sweep.cells)
    axes = " × ".join(key.rpartition(".")[2] for key in sweep.axes) or sweep.names()[0]
    labels = sweep.inputs[0].labels
    settings = sweep.settings()
    same = {key: value for key, value in settings[0].items() if all(s.get(key) == value for s in settings)}
    return SweepRecord(
        name=f"{counted(count, 'cell')} · {axes} · {datetime.now():%d %b %H:%M}",  # noqa: DTZ005 - the reader's own clock
        folder=sweep.folder,
        axes=sweep.axes,
        primary=sweep.primary,
        cells=count,
        params={
            **same,
            "command": "python -m harness " + shlex.join([*sweep.words.flags, *sweep.words.overrides]),
            "documents": str(len(sweep.inputs[0].documents)),
            "questions": str(len(labels.questions)),
            "primary_k": str(sweep.k),
        },
        provenance=provenance(Path.cwd()),
        dataset={"name": labels.name, "digest": labels.digest, "source": str(first.config.golden.path)},
    )


def prepare_folder(sweep: Sweep) -> None:
    """Makes the sweep's folder; questions that were left out are listed there with their reasons."""
    try:
        sweep.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{sweep.folder} can't be made ({error.strerror}). Choose another place with HARNESS_ROOT=DIR.",
            where=sweep.folder,
        ) from error
    left_out = [
        {"question_id": question_id, "reason": reason, "corpus": given.labels.name}
        for given in sweep.inputs
        for question_id, reason in given.labels.left_out.items()
    ]
    if left_out:
        file = sweep.folder / "left_out.jsonl"
        file.write_text(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in left_out), encoding="utf-8"
        )
        say(f"           all of them, with reasons: {file}")


def write_sweep_file(sweep: Sweep, opened: SweepRecord, handle: Mapping[str, Any]) -> None:
    """Writes ``sweep.json``, from which the cells learn where they belong, in whatever process they run."""
    cells = [
        {"name": name, "params": settings, "color": color}
        for name, settings, color in zip(
            sweep.names(), sweep.settings(), colors_of(sweep.settings(), list(sweep.axes)), strict=True
        )
    ]
    content = {
        "schema": SCHEMA,
        "name": opened.name,
        "primary": sweep.primary,
        "k": sweep.k,
        "axes": sweep.axes,
        "cells": cells,
        "notes": sweep.notes,
        "same_chunks": not sweep.rechunks,
        "provenance": dict(opened.provenance),
        "tracker": dict(handle),
        "started": time.time(),
        "ended": None,
    }
    write_json(sweep.folder / SWEEP, content)


def mark_ended(sweep: Sweep) -> None:
    """Notes in ``sweep.json`` that no more cells will come, whether or not all of them did."""
    file = sweep.folder / SWEEP
    if file.is_file():
        write_json(file, read_json(file) | {"ended": time.time()})


def close(sweep: Sweep, tracker: Tracker, handle: Mapping[str, Any]) -> int:
    """Prints the table, finishes the parent run with the leaderboard; gives the exit code."""
    cells = collected(sweep.folder, sweep.names(), sweep.primary, sweep.k)
    mark_ended(sweep)
    excerpts = _excerpts(sweep)
    shown = concluded(sweep.folder, cells)
    contents = [
        content | {"metrics": content["metrics"] | shown.limits.get(content["name"], {})}
        for content in cells.contents
    ]
    same_chunks = not sweep.rechunks
    say_all(
        terminal.report(
            contents, cells.failures, sweep.primary, sweep.k, shown.verdict, same_chunks=same_chunks
        )
    )
    if sweep.cells[0].config.profile:
        say_all(terminal.profile(contents))
    summary = _summary(sweep, contents, cells.failures, shown, excerpts)
    report = [f"{'Report':<12} {shown.report}"] if shown.report else []
    closing = tracker.close_sweep(handle, summary)
    say_all(["", *closing, f"{'Files':<12} {sweep.folder}", *report])
    return 1 if cells.failures else 0


def _summary(
    sweep: Sweep,
    contents: Sequence[Mapping[str, Any]],
    failures: Sequence[Mapping[str, Any]],
    shown: Conclusion,
    excerpts: Sequence[Path],
) -> SweepSummary:
    """What the tracker shows of the whole sweep; the leaderboard is written to the sweep's folder."""
    same_chunks = not sweep.rechunks
    text = leaderboard(contents, failures, sweep.primary, sweep.k, shown.verdict, same_chunks=same_chunks)
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


def _excerpts(sweep: Sweep) -> list[Path]:
    """What reports show of documents and labels.

    Only where there is one corpus with one golden set, since offsets belong to its texts.
    """
    if len(sweep.inputs) > 1:
        return []
    given = sweep.inputs[0]
    texts = bool(OmegaConf.select(sweep.cells[0].config, "tracker.texts", default=True))
    return write_excerpts(sweep.folder, given.documents, given.labels.questions, sweep.k, texts=texts)
