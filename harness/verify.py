"""``python -m harness.verify production.yaml url=...``: a live retriever against its configuration.

Exit codes: 0 in parity, 1 not in parity, 2 not comparable, 4 an error.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cli.command import Words, run_command
from harness.cli.say import say_all, wrapped
from harness.errors import SettingError, share

_USAGE = (
    "python -m harness.verify production.yaml url=http://127.0.0.1:8000/search (or target=module:function)"
)
PARITY, NOT_IN_PARITY, NOT_COMPARABLE, ERROR = 0, 1, 2, 4


def main(argv: Sequence[str] | None = None) -> int:
    """Asks both, compares, prints the outcome; gives the exit code."""
    return run_command("verify", __doc__, argv, _main, mistake=ERROR)


def _main(words: Words) -> int:
    if len(words.files) != 1 or words.is_sweep:
        raise SettingError(f"One production file is expected: {_USAGE}")
    from harness.cell.settings import cut_offs
    from harness.cli.values import check_plain_settings
    from harness.decision.baseline import read_production
    from harness.decision.deployment import split_live, with_live
    from harness.decision.gate import NotComparableError
    from harness.decision.rank_agreement import agreement
    from harness.view import cell_notes
    from harness.view import recorded as view

    live, others = split_live(words.overrides)
    if not live:
        raise SettingError(f"No live retriever was given. {_USAGE}", key="retriever")
    recorded = read_production(Path(words.files[0]), ["+command=verify", *others])
    config, ks = recorded.composed.config, cut_offs(recorded.composed.config)
    min_equal = share(config.verify.min_equal, "verify.min_equal")
    margin = share(config.verify.margin, "verify.margin")
    max_left_out = share(config.verify.max_left_out, "verify.max_left_out", one=True)
    k = int(recorded.recorded["k"]) if config.verify.k is None else config.verify.k
    if k not in ks:
        raise SettingError(
            f"verify.k is {k}; it must be one of k ({', '.join(map(str, ks))}).", key="verify.k"
        )
    check_plain_settings(config)
    try:
        found, answered = agreement(recorded, with_live(config, live), k, margin, max_left_out)
    except NotComparableError as error:
        say_all(wrapped(f"Not comparable: {error}", ""))
        return NOT_COMPARABLE
    in_parity = found.share("in_order") >= min_equal or found.is_equivalent(margin)
    said = view.parity_sentences(found, in_parity=in_parity, min_equal=min_equal, margin=margin)
    said += view.left_out(found.left_out)
    said += view.moved(found, float(recorded.recorded["score"]))
    say_all([line for sentence in said for line in wrapped(sentence, "")])
    say_all(view.parity_table(found))
    asked = {kind: len(questions) for kind, questions in answered.questions.items()}
    content = {"health": answered.health, "remarks": answered.remarks, "questions": asked}
    if wrong := cell_notes.own_chunks("live", content):
        say_all(["", *wrapped(wrong, "! ", "  ")])
    return PARITY if in_parity else NOT_IN_PARITY


if __name__ == "__main__":
    sys.exit(main())
