"""The main command: checks everything cheap first, opens the sweep, lets Hydra run the cells, closes it.

The parent run is opened before Hydra's main and closed whatever happens around it. (A Hydra callback would be
the other place; its end is not certain when a launcher fails, and it can't refuse before anything has
started.)
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from omegaconf import DictConfig

from harness import __version__
from harness.cli.command import Words, quote, sweep_help, take_apart
from harness.cli.say import complain, prepare, say, say_all, wrapped
from harness.errors import HarnessError
from harness.paths import conf_folder, register_resolvers

_HYDRAS_OWN = re.compile(r"[+~]*hydra[./]")

# Flags that only ask Hydra something; nothing is run.
_QUESTIONS = {"--hydra-help", "--info", "-i", "--cfg", "-c", "--shell-completion", "-sc"}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the sweep that the words describe; gives the exit code: 0, or 1 when anything failed."""
    words = take_apart(sys.argv[1:] if argv is None else argv)
    prepare()
    atexit.register(gc.freeze)  # else Python looks through MLflow's million objects once more before it ends
    signal.signal(signal.SIGTERM, _stop)
    try:
        if "--version" in words.flags:
            say(f"retrieval-harness {__version__}")
            return 0
        if {"-h", "--help"} & set(words.flags):
            say(sweep_help(words))
            return 0
        if _QUESTIONS & {flag.partition("=")[0] for flag in words.flags}:
            register_resolvers()
            _hydra([*words.flags, *words.overrides], lambda config: None)  # noqa: ARG005 - nothing is run, so nothing heavy is imported
            return 0
        return _sweep(words)
    except HarnessError as error:
        complain(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        complain(
            "Stopped. Finished cells and the embeddings computed so far are cached; "
            "the same command continues from there."
        )
        return 130


def _stop(_signal: int, _frame: object) -> None:
    """SIGTERM ends a sweep as Ctrl-C does: it is closed on record, and the user is told what is cached."""
    raise KeyboardInterrupt


def _sweep(words: Words) -> int:
    """Checks, opens, runs and closes one sweep."""
    from harness.cli.compose import refuse_unknown

    refuse_unknown(words)  # before the stages and their libraries are imported
    from harness.cell.build import Shared
    from harness.cell.settings import new
    from harness.sweep import record as recording
    from harness.sweep.cell import CellTask
    from harness.sweep.check import checked
    from harness.view import terminal

    if any(word.partition("=")[::2] == ("plan", "true") for word in words.overrides):
        say("Reading the documents and questions, and counting tokens ...")
    shared = Shared()
    sweep = checked(words, shared)
    say_all(terminal.inputs(sweep.inputs))
    for note in sweep.notes:
        say_all(wrapped(note, "cells      ", " " * 11))
    if sweep.cells[0].config.plan:
        from harness.sweep.plan import plan

        say_all(plan(sweep, shared))
        return 0
    recording.prepare_folder(sweep)
    os.environ.pop("MLFLOW_RUN_ID", None)  # it would make every cell write into that one run
    tracker = new(sweep.cells[0].config, "tracker")
    record = recording.record(sweep)
    handle = tracker.open_sweep(record)
    try:
        recording.write_sweep_file(sweep, record, handle)
        own = [word for word in words.overrides if _HYDRAS_OWN.match(word)]
        own.append(f"hydra.sweep.dir={quote(str(sweep.folder))}")
        multirun = [] if words.is_sweep else ["-m"]  # a single configuration is a sweep of one cell
        _hydra([*words.flags, *multirun, *own], CellTask(sweep.cells, shared))
        return recording.close(sweep, tracker, handle)
    except BaseException as error:
        with suppress(HarnessError):  # a store that died must not hide what happened first
            tracker.abort_sweep(handle, str(error) or "Interrupted.")
            recording.mark_ended(sweep)
        raise


def _hydra(argv: Sequence[str], task: Callable[[DictConfig], Any]) -> None:
    """Calls Hydra's own entry, which answers a question or runs ``task`` through the launcher."""
    import hydra

    sys.argv = [sys.argv[0], *argv]
    hydra.main(version_base="1.3", config_path=str(conf_folder()), config_name="config")(task)()
