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

from harness.cli.say import say, say_all, wrapped
from harness.errors import HarnessError, StoreError
from harness.files.atomic import read_json, write_json
from harness.results.cells import SCHEMA
from harness.results.earlier import LOOKS, record_look
from harness.results.finished import collected
from harness.results.sweeps import SWEEP, outputs
from harness.sweep.check import Sweep
from harness.sweep.conclude import concluded
from harness.sweep.environment import provenance
from harness.sweep.summary import excerpts_of, summary_of
from harness.tracker import SweepRecord, Tracker
from harness.view import terminal
from harness.view.colors import colors_of
from harness.view.formats import counted


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


def write_look(sweep: Sweep, contents: Sequence[Mapping[str, Any]]) -> None:
    """Notes in ``sweep.json`` which look at a growing golden set this is; says if it can't be counted.

    Only where there is one golden set, and something to compare.
    """
    if len(sweep.inputs) > 1 or len(contents) < 2:
        return
    labels = sweep.inputs[0].labels
    ids = [question.question_id for question in labels.questions]
    try:
        look = record_look(outputs() / LOOKS, labels.digest, ids, contents)
    except HarnessError as error:
        say_all(wrapped(f"This look at the golden set is not counted. {error}", "! ", "  "))
        return
    file = sweep.folder / SWEEP
    write_json(file, read_json(file) | {"look": look._asdict()})


def close(sweep: Sweep, tracker: Tracker, handle: Mapping[str, Any]) -> int:
    """Prints the table, finishes the parent run with the leaderboard; gives the exit code."""
    cells = collected(sweep.folder, sweep.names(), sweep.primary, sweep.k)
    write_look(sweep, cells.contents)
    mark_ended(sweep)
    excerpts = excerpts_of(sweep)
    shown = concluded(sweep.folder, cells)
    contents = [
        content | {"metrics": content["metrics"] | shown.limits.get(content["name"], {})}
        for content in cells.contents
    ]
    same_chunks = not sweep.rechunks
    say_all(
        terminal.report(
            contents,
            cells.failures,
            sweep.primary,
            sweep.k,
            shown.verdict,
            same_chunks=same_chunks,
            twins=shown.twins,
        )
    )
    if sweep.cells[0].config.profile:
        say_all(terminal.profile(contents))
    summary = summary_of(sweep, contents, cells.failures, shown, excerpts)
    report = [f"{'Report':<12} {shown.report}"] if shown.report else []
    closing = tracker.close_sweep(handle, summary)
    say_all(["", *closing, f"{'Files':<12} {sweep.folder}", *report])
    return 1 if cells.failures else 0
