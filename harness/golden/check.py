"""``python -m harness.golden.check``: whether a golden set can decide anything, and what to fix first."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from harness.cli.command import ERROR, Words, run_command
from harness.errors import SettingError

_STOPPED = "Stopped. The golden set is as it was, or as accept=true has written it: never in between."
_USAGE = (
    "corpus=folder, corpus.path=DIR, golden.path=FILE, chunk=SIZES, accept=true, strict=true, output=FILE"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the report; the exit code is 1 for a serious finding with ``strict=true``, 4 for an error."""
    return run_command("check", __doc__, argv, _main, _STOPPED, mistake=ERROR)


def _main(words: Words) -> int:
    sizes, overrides = _chunk_sizes(words.overrides)
    retriever = [word for word in overrides if word.startswith("retriever=")]
    if retriever and retriever != ["retriever=bm25"]:
        raise SettingError("The check uses lexical search (BM25); remove retriever=.", key="retriever")
    lexical = [word for word in overrides if word not in retriever]
    from harness.cli.compose import configured

    config = configured("check", words._replace(overrides=("retriever=bm25", *lexical)), _USAGE)
    from harness.questions.check.run import run

    return run(config, sizes or [int(config.chunk)])


def _chunk_sizes(overrides: Sequence[str]) -> tuple[list[int], list[str]]:
    """The sizes of ``chunk=128,256``, and the words with the first of them alone."""
    given = next((word for word in overrides if word.startswith("chunk=") and "," in word), None)
    if given is None:
        return [], list(overrides)
    texts = [text.strip() for text in given.removeprefix("chunk=").split(",")]
    if not all(text.isdecimal() and int(text) for text in texts):
        raise SettingError(f"{given}: give whole numbers of tokens, such as chunk=128,256,512.", key="chunk")
    first = [f"chunk={texts[0]}" if word == given else word for word in overrides]
    return [int(text) for text in texts], first


if __name__ == "__main__":
    sys.exit(main())
