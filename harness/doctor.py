"""``python -m harness.doctor``: what works on this machine, in one screen.

It looks at what a sweep with the same settings would use: corpus.path=DIR, tracker.uri=..., model=...
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from harness.cli.command import Words, run_command
from harness.cli.say import say, wrapped

_USAGE = "corpus.path=DIR, tracker.uri=..., model=..., one value each"


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the report; the exit code is 1 when a sweep of this configuration can't work here."""
    return run_command("doctor", __doc__, argv, _main)


def _main(words: Words) -> int:
    from harness.cli.compose import configured

    config = configured("doctor", words, _USAGE)
    from harness.cli.values import check_plain_settings
    from harness.sweep.environment import report

    check_plain_settings(config)
    healthy = True
    for good, label, text in report(config):
        healthy &= good is not False
        mark = {True: "ok", False: "FAIL", None: "-"}[good]
        for line in wrapped(text, f"{mark:<5}{label:<11}", " " * 16):
            say(line)
    say("" if healthy else "\nCorrect what is marked FAIL before running the sweep.")
    return 0 if healthy else 1


if __name__ == "__main__":
    sys.exit(main())
