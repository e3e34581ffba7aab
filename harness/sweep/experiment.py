"""``experiment=NAME``: a ready sweep from ``conf/experiment/``, its axes as if they had been typed."""

from __future__ import annotations

from harness.cli import compose
from harness.cli.command import Words, take_apart


def unfolded(words: Words) -> Words:
    """The words with the experiment's swept settings among them, in its order; a value on the command line replaces its own.

    Other settings in the file are read with the rest of the configuration. Raises ``SettingError`` for an experiment that does not exist.
    """
    overrides = [word.lstrip("+") if word.startswith("+experiment=") else word for word in words.overrides]
    named = [word for word in overrides if word.startswith("experiment=")]
    if not named:
        return words
    swept = compose.composed(words, named).swept
    typed = take_apart([*words.flags, *(f"{key}={value}" for key, value in swept.items())]).overrides
    by_key = {word.partition("=")[0]: word for word in [*typed, *overrides]}
    return words._replace(overrides=tuple(by_key.values()))
