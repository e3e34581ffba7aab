"""``python -m harness.gate production.yaml``: whether retrieval has become worse since it was picked.

A check for a CI job. Exit codes: 0 passed, 1 a regression, 2 not comparable, 3 undecided, 4 an error, 5 too
many questions can't be scored any more. docs/exit-codes.md has what to do after each.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cli.command import ERROR, Words, run_command
from harness.cli.say import say_all, wrapped
from harness.errors import SettingError, optional_share, share

PASSED, REGRESSION, UNDECIDED = 0, 1, 3
EXIT = {"unchanged": PASSED, "non-inferior": PASSED, "regression": REGRESSION, "undecided": UNDECIDED}


def main(argv: Sequence[str] | None = None) -> int:
    """Scores, compares, prints the outcome; gives the exit code."""
    return run_command("gate", __doc__, argv, _main, mistake=ERROR, failed=_failed)


def _failed(words: Words, sentence: str) -> None:
    from harness.view.outcome import write_outcome

    write_outcome(words, "gate", ERROR, "error", [sentence], {})


def _main(words: Words) -> int:
    if len(words.files) != 1 or words.is_sweep:
        raise SettingError(
            "One production file is expected: "
            "python -m harness.gate production.yaml [gate.margin=0.03] [corpus.path=DIR]"
        )
    from harness.decision.baseline import read_production
    from harness.decision.gate import NotComparableError, gate
    from harness.view import gate as view
    from harness.view.outcome import not_comparable, write_outcome

    recorded = read_production(Path(words.files[0]), ["+command=gate", *words.overrides])
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
        return not_comparable(words, "gate", error)
    warns = given.undecided == "warn" or (given.undecided is None and gated.change.is_too_small)
    said = view.gate_sentences(gated, recorded.recorded, warns=warns)
    say_all([line for sentence in said for line in wrapped(sentence, "")])
    say_all(view.gate_table(gated.lost))
    outcome = gated.change.outcome
    code = PASSED if outcome == "undecided" and warns else EXIT[outcome]
    write_outcome(words, "gate", code, outcome, said, view.gate_content(gated))
    return code


if __name__ == "__main__":
    sys.exit(main())
