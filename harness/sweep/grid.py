"""The cells of a sweep: every combination of the swept values, those that come to the same only once.

Two combinations come to the same when they differ in nothing but settings that do not matter to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.cell.settings import unused_by
from harness.cli import compose
from harness.cli.command import Words, take_apart
from harness.cli.compose import Composed
from harness.errors import SettingError
from harness.records import UNUSED
from harness.view.formats import listed


def unfolded(words: Words) -> Words:
    """The words with the experiment's swept settings, in its order; a typed value wins.

    Other settings in the file are read with the rest of the configuration. Raises ``SettingError`` for an
    experiment that does not exist.
    """
    overrides = [word.lstrip("+") if word.startswith("+experiment=") else word for word in words.overrides]
    named = [word for word in overrides if word.startswith("experiment=")]
    if not named:
        return words
    swept = compose.composed(words, named).swept
    typed = take_apart([*words.flags, *(f"{key}={value}" for key, value in swept.items())]).overrides
    by_key = {word.partition("=")[0]: word for word in [*typed, *overrides]}
    return words._replace(overrides=tuple(by_key.values()))


class Grid(NamedTuple):
    """What is to be run.

    ``axes``: swept setting to its values, ``-`` among them where it does not matter to some cells; those that
    matter to none are left out. ``cells`` stand in the order in which they run. ``notes`` say in sentences
    what is not run, or runs without a setting.
    """

    axes: dict[str, list[str]]
    cells: list[Composed]
    notes: list[str]


def grid(words: Words, axes: Mapping[str, Sequence[str]]) -> Grid:
    """The cells that the words describe. Raises ``SettingError`` for a mistake that all of them share."""
    incompatible: dict[str, list[SettingError]] = {}
    combined = [
        _composed(words, overrides, axes, incompatible) for overrides in compose.combinations(words.overrides)
    ]
    for errors in incompatible.values():
        if len(errors) == len(combined):
            raise errors[0]
    _refuse_unused_index(words, combined)
    same: dict[tuple[str, ...], list[Composed]] = {}
    for cell in combined:
        given = dict(word.partition("=")[::2] for word in cell.overrides)
        key = tuple(UNUSED if unused_by(cell.config, axis) else given[axis] for axis in axes)
        same.setdefault(key, []).append(cell)
    levels = dict(zip(axes, map(set, zip(*same, strict=True)), strict=True))
    used = {
        axis: [*values, *({UNUSED} & levels[axis])]
        for axis, values in axes.items()
        if levels[axis] != {UNUSED}
    }
    notes = _merged(list(same.values()), axes)
    notes += _without(combined, [key for key in incompatible if key not in axes])
    return Grid(used, [cells[0] for cells in same.values()], notes)


def _composed(
    words: Words,
    overrides: Sequence[str],
    axes: Mapping[str, Sequence[str]],
    incompatible: dict[str, list[SettingError]],
) -> Composed:
    """The configuration, without settings that only other options of a swept group have.

    These are noted in ``incompatible``.
    """
    try:
        return compose.composed(words, overrides)
    except SettingError as error:
        key = error.key or ""
        fitting = [word for word in overrides if word.partition("=")[0] != key]
        if "." not in key or key.partition(".")[0] not in axes or len(fitting) == len(overrides):
            raise
        incompatible.setdefault(key, []).append(error)
    return _composed(words, fitting, axes, incompatible)


def _refuse_unused_index(words: Words, cells: Sequence[Composed]) -> None:
    """An index is only ever chosen on purpose: where no cell would search it, that is a mistake.

    An unused model is no mistake: a model is part of every configuration.
    """
    if not all(unused_by(cell.config, "index") for cell in cells):
        return
    chosen = {cell.choices["index"] for cell in cells}
    if not any(word.startswith("index=") for word in words.overrides):
        return
    other = sorted(chosen - {compose.composed(words, []).choices["index"]})
    if other:
        retrievers = sorted({f"retriever={cell.choices['retriever']}" for cell in cells})
        verb = "uses" if len(retrievers) == 1 else "use"
        raise SettingError(
            f"{' and '.join(retrievers)} {verb} no index, so index={','.join(other)} would change nothing. "
            "Leave it out, or choose a retriever "
            "that searches one, such as dense.",
            key="index",
        )


def _merged(same: Sequence[Sequence[Composed]], axes: Mapping[str, Sequence[str]]) -> list[str]:
    """How many combinations are not run since they come to the same as others, and why."""
    settings: dict[str, dict[str, None]] = {}
    for cells in same:
        for axis in axes if len(cells) > 1 else ():
            if group := unused_by(cells[0].config, axis):
                settings.setdefault(cells[0].choices[group], {})[axis] = None
    options: dict[str, list[str]] = {}
    for option, independent in settings.items():
        options.setdefault(" or ".join(axis for axis in axes if axis in independent), []).append(option)
    reasons = [
        f"{listed(some, len(some))} {'does' if len(some) == 1 else 'do'} not depend on {what}"
        for what, some in options.items()
    ]
    combinations = sum(map(len, same))
    return [f"{len(same)} instead of {combinations}: {'; '.join(reasons)}"] if reasons else []


def _without(cells: Sequence[Composed], keys: Sequence[str]) -> list[str]:
    """Who runs without a setting that was given, since only others have it."""
    notes = []
    for key in keys:
        options = {cell.choices[key.partition(".")[0]]: None for cell in cells if unused_by(cell.config, key)}
        who, verb = listed(list(options), len(options)), "has" if len(options) == 1 else "have"
        notes.append(f"{who} {verb} no {key}: run without it")
    return notes
