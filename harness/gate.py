"""``python -m harness.gate production.yaml``: whether retrieval has become worse since it was picked.

A check for a CI job. Exit codes: 0 non-inferior, 1 a regression (or a mistake in the command), 2 not
comparable, 3 undecided.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cli.command import Words, run_command
from harness.cli.say import say_all, wrapped
from harness.errors import SettingError, share

EXIT = {"non-inferior": 0, "regression": 1, "undecided": 3}
NOT_COMPARABLE = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Scores, compares, prints the outcome; gives the exit code."""
    return run_command("gate", __doc__, argv, _main)


def _main(words: Words) -> int:
    if len(words.files) != 1 or words.is_sweep:
        raise SettingError(
            "One production file is expected: "
            "python -m harness.gate production.yaml [gate.margin=0.03] [corpus.path=DIR]"
        )
    from harness.decision.baseline import read_production
    from harness.decision.gate import NotComparableError, gate
    from harness.view import recorded as view

    path = Path(words.files[0])
    recorded = read_production(path, ["+command=gate", *words.overrides])
    config = recorded.composed.config
    margin = share(config.gate.margin, "gate.margin", one=False)
    min_effect = share(config.gate.min_effect, "gate.min_effect", one=False)
    if config.gate.undecided not in {"pass", "fail"}:
        raise SettingError(
            f"gate.undecided is {config.gate.undecided}; it must be pass or fail.", key="gate.undecided"
        )
    try:
        gated = gate(recorded, margin, min_effect)
    except NotComparableError as error:
        say_all(wrapped(f"Not comparable: {error}", ""))
        _write(config.output, view.gate_not_comparable(path, str(error)))
        return NOT_COMPARABLE
    said = view.gate_sentences(gated.change, recorded.recorded, margin, gated.lost, gated.new)
    worst = gated.worst[: view.SHOWN]
    say_all([line for sentence in said for line in wrapped(sentence, "")])
    say_all(view.gate_table(worst))
    _write(config.output, view.gate_markdown(path, said, worst))
    if gated.change.outcome == "undecided" and config.gate.undecided == "pass":
        return 0
    return EXIT[gated.change.outcome]


def _write(output: object, text: str) -> None:
    if output is not None:
        from harness.files.atomic import write_text

        write_text(Path(str(output)), text)


if __name__ == "__main__":
    sys.exit(main())
