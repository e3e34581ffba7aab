"""The main command: checks everything cheap first, opens the sweep, lets Hydra run the cells, closes it.

The parent run is opened before Hydra's main and closed whatever happens around it. (A Hydra callback would be the
other place; its end is not certain when a launcher fails, and it can't refuse before anything has started.)
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
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from harness import __version__
from harness.cli.say import complain, prepare, say, say_all, wrapped
from harness.cli.words import Words, quote, take_apart
from harness.errors import HarnessError
from harness.paths import conf_folder, register_resolvers
from harness.view import terminal

if TYPE_CHECKING:
    from harness.sweep.check import Sweep

_HYDRAS_OWN = re.compile(r"[+~]*hydra[./]")

# Flags that only ask Hydra something; nothing is run.
_QUESTIONS = {
    "--help",
    "-h",
    "--hydra-help",
    "--info",
    "-i",
    "--cfg",
    "-c",
    "--shell-completion",
    "-sc",
}


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
        if _QUESTIONS & {flag.partition("=")[0] for flag in words.flags}:
            register_resolvers()
            _hydra(words, [], lambda config: None)  # noqa: ARG005 - nothing is run, so nothing heavy is imported
            return 0
        return _sweep(words)
    except HarnessError as error:
        complain(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        complain(
            "Stopped. Finished cells and the embeddings computed so far are kept; the same command goes on from there."
        )
        return 130


def _stop(_signal: int, _frame: object) -> None:
    """A polite kill is a Ctrl-C: the sweep is closed on record and the user told what is kept."""
    raise KeyboardInterrupt


def _sweep(words: Words) -> int:
    """Checks, opens, runs and closes one sweep."""
    from harness.cell import build
    from harness.sweep import cell
    from harness.sweep import record as recording
    from harness.sweep.check import checked

    sweep = checked(words)
    say_all(terminal.inputs(sweep.inputs))
    for note in sweep.notes:
        say_all(wrapped(note, "cells      ", " " * 11))
    if sweep.cells[0].config.plan:
        from harness.sweep.plan import plan

        say_all(plan(sweep))
        return 0
    recording.prepare_folder(sweep)
    os.environ.pop("MLFLOW_RUN_ID", None)  # it would make every cell write into that one run
    tracker = build.tracker(sweep.cells[0].config)
    record = recording.record(sweep)
    handle = tracker.open_sweep(record)
    try:
        recording.write_sweep_file(sweep, record, handle)
        folder = sweep.folder if words.is_sweep else sweep.folder / "0"
        place = f"hydra.{'sweep' if words.is_sweep else 'run'}.dir={quote(str(folder))}"
        _hydra(_fitting(sweep), [place], cell.run, [made.overrides for made in sweep.cells])
        return recording.close(sweep, record, tracker, handle)
    except BaseException as error:
        with suppress(HarnessError):  # a store that died must not hide what happened first
            tracker.abort_sweep(handle, str(error) or "Interrupted.")
            recording.mark_ended(sweep)
        raise


def _fitting(sweep: Sweep) -> Words:
    """The words without those that only some cells have: the configuration that Hydra makes before the cells may lack them."""
    keys = [{word.partition("=")[0] for word in cell.overrides} for cell in sweep.cells]
    everywhere = set.intersection(*keys)
    fitting = tuple(word for word in sweep.words.overrides if word.partition("=")[0] in everywhere)
    return sweep.words._replace(overrides=fitting)


def _hydra(
    words: Words,
    extra: Sequence[str],
    task: Callable[[DictConfig], Any],
    cells: Sequence[Sequence[str]] = (),
) -> None:
    """Hands the words to Hydra's own entry, which runs ``task`` for every one of ``cells`` (their overrides) through the chosen launcher."""
    import hydra
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.plugins.sweeper import Sweeper

    sys.argv = [sys.argv[0], *words.flags, *words.overrides, *extra]
    own = [[word for word in overrides if not _HYDRAS_OWN.match(word)] for overrides in cells]
    legal, split = Sweeper.validate_batch_is_legal, BasicSweeper.split_arguments
    # Every combination was composed when the sweep was checked; once more would cost a tenth of a second per cell.
    Sweeper.validate_batch_is_legal = lambda self, batch: None  # type: ignore[method-assign]  # noqa: ARG005 - restored below
    # Hydra would run every combination; those that come to the same are cells once.
    BasicSweeper.split_arguments = staticmethod(  # type: ignore[method-assign, assignment]  # restored below
        lambda overrides, size: list(BasicSweeper.split_overrides_to_chunks(own, size))  # noqa: ARG005
    )
    try:
        hydra.main(version_base="1.3", config_path=str(conf_folder()), config_name="config")(task)()
    finally:
        Sweeper.validate_batch_is_legal = legal  # type: ignore[method-assign]
        BasicSweeper.split_arguments = staticmethod(split)  # type: ignore[method-assign]
