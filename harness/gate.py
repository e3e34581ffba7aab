"""``python -m harness.gate production.yaml``: whether retrieval has become worse since it was picked.

A check for a CI job. Exit codes: 0 passed, 1 a regression, 2 not comparable, 3 undecided, 4 an error, 5 too
many questions can't be scored any more.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.cli.command import Words, run_command
from harness.cli.say import say_all, wrapped
from harness.errors import HarnessError, SettingError, optional_share, share

PASSED, REGRESSION, NOT_COMPARABLE, UNDECIDED, ERROR, TOO_MANY_LEFT_OUT = range(6)
EXIT = {"unchanged": PASSED, "non-inferior": PASSED, "regression": REGRESSION, "undecided": UNDECIDED}


def main(argv: Sequence[str] | None = None) -> int:
    """Scores, compares, prints the outcome; gives the exit code."""
    return run_command("gate", __doc__, argv, _main, mistake=ERROR)


def _main(words: Words) -> int:
    if len(words.files) != 1 or words.is_sweep:
        raise SettingError(
            "One production file is expected: "
            "python -m harness.gate production.yaml [gate.margin=0.03] [corpus.path=DIR]"
        )
    output = next((w.partition("=")[2].strip("'") for w in words.overrides if w.startswith("output=")), None)
    try:
        return _gated(Path(words.files[0]), words.overrides, output)
    except HarnessError as error:
        _write(output, Path(words.files[0]), {"outcome": "error", "sentences": [str(error)]})
        raise


def _gated(path: Path, overrides: Sequence[str], output: str | None) -> int:
    from harness.decision.baseline import read_production
    from harness.decision.gate import NotComparableError, TooManyLeftOutError, gate
    from harness.view import gate as view

    recorded = read_production(path, ["+command=gate", *overrides])
    given = recorded.composed.config.gate
    margin = optional_share(given.margin, "gate.margin", one=False)
    min_effect = share(given.min_effect, "gate.min_effect", one=False)
    max_left_out = share(given.max_left_out, "gate.max_left_out")
    if given.undecided not in {None, "warn", "fail"}:
        raise SettingError(
            f"gate.undecided is {given.undecided}; it must be null, warn or fail.", key="gate.undecided"
        )
    try:
        gated = gate(recorded, margin, min_effect, max_left_out)
    except NotComparableError as error:
        is_left_out = isinstance(error, TooManyLeftOutError)
        said = [f"{'Too many questions are left out' if is_left_out else 'Not comparable'}: {error}"]
        say_all(wrapped(said[0], ""))
        outcome = "too many left out" if is_left_out else "not comparable"
        _write(output, path, {"outcome": outcome, "sentences": said})
        return TOO_MANY_LEFT_OUT if is_left_out else NOT_COMPARABLE
    warns = given.undecided == "warn" or (given.undecided is None and gated.change.is_too_small)
    said = view.gate_sentences(gated, recorded.recorded, warns=warns)
    say_all([line for sentence in said for line in wrapped(sentence, "")])
    say_all(view.gate_table(gated.lost))
    _write(output, path, view.gate_content(gated, said))
    outcome = gated.change.outcome
    return PASSED if outcome == "undecided" and warns else EXIT[outcome]


def _write(output: str | None, path: Path, content: Mapping[str, Any]) -> None:
    if output is not None:
        from harness.files.atomic import write_json, write_text
        from harness.view.gate import gate_markdown

        file = Path(output)
        if file.suffix == ".json":
            write_json(file, {"production": path.name, **content})
        else:
            write_text(file, gate_markdown(path, content))


if __name__ == "__main__":
    sys.exit(main())
