"""``python -m harness.verify production.yaml url=...``: a live retriever against its configuration.

Exit codes: 0 in parity, 1 not in parity, 2 not comparable, 4 an error, 5 too many questions can't be scored
any more. docs/exit-codes.md has what to do after each.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.command import ERROR, Words, run_command
from harness.cli.say import say_all, wrapped
from harness.errors import SettingError, share, whole

if TYPE_CHECKING:
    from harness.metrics.operating_point import OperatingPoint

_USAGE = (
    "python -m harness.verify production.yaml url=http://127.0.0.1:8000/search (or target=module:function)"
)
PARITY, NOT_IN_PARITY = 0, 1


def main(argv: Sequence[str] | None = None) -> int:
    """Asks both, compares, prints the outcome; gives the exit code."""
    return run_command("verify", __doc__, argv, _main, mistake=ERROR, failed=_failed)


def _failed(words: Words, sentence: str) -> None:
    from harness.view.outcome import write_outcome

    write_outcome(words, "parity", ERROR, "error", [sentence], {})


def _main(words: Words) -> int:
    if len(words.files) != 1 or words.is_sweep:
        raise SettingError(f"One production file is expected: {_USAGE}")
    from harness.cell.settings import cut_offs
    from harness.cli.values import check_plain_settings
    from harness.decision.baseline import read_production
    from harness.decision.gate import NotComparableError
    from harness.decision.live import split_live, with_live
    from harness.decision.rank_agreement import agreement
    from harness.view import cell_notes
    from harness.view import recorded as view
    from harness.view.outcome import not_comparable, write_outcome

    live, others = split_live(words.overrides)
    if not live:
        raise SettingError(f"No live retriever was given. {_USAGE}", key="retriever")
    recorded = read_production(Path(words.files[0]), ["+command=verify", *others])
    config = recorded.composed.config
    ks = cut_offs(config)
    min_equal = share(config.verify.min_equal, "verify.min_equal")
    margin = share(config.verify.margin, "verify.margin")
    max_left_out = share(config.verify.max_left_out, "verify.max_left_out", one=True)
    point = None if config.verify.k is None else _first_rows(config.verify.k, ks)
    check_plain_settings(config)
    try:
        found, answered = agreement(recorded, with_live(config, live), point, margin, max_left_out)
    except NotComparableError as error:
        return not_comparable(words, "parity", error)
    in_parity = found.share("in_order") >= min_equal or found.is_equivalent(margin)
    said = view.parity_sentences(found, in_parity=in_parity, min_equal=min_equal, margin=margin)
    said += view.left_out(found.left_out)
    said += view.moved(found, float(recorded.recorded["score"]))
    say_all([line for sentence in said for line in wrapped(sentence, "")])
    say_all(view.parity_table(found))
    asked = {kind: len(questions) for kind, questions in answered.questions.items()}
    content = {"health": answered.health, "remarks": answered.remarks, "questions": asked}
    wrong = cell_notes.own_chunks("live", content)
    if wrong:
        say_all(["", *wrapped(wrong, "! ", "  ")])
    code, outcome = (PARITY, "in parity") if in_parity else (NOT_IN_PARITY, "not in parity")
    write_outcome(words, "parity", code, outcome, [*said, *filter(None, [wrong])], view.parity_content(found))
    return code


def _first_rows(given: object, ks: Sequence[int]) -> OperatingPoint:
    from harness.metrics.operating_point import OperatingPoint

    k = whole(given, "verify.k", 1, of="rows")
    if k not in ks:
        raise SettingError(
            f"verify.k is {k}; it must be one of k ({', '.join(map(str, ks))}).", key="verify.k"
        )
    return OperatingPoint(k=k)


if __name__ == "__main__":
    sys.exit(main())
