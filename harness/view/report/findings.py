"""What was found out about a sweep: numbers only, computed by whoever asks for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.verdict import Interval, Verdict
from harness.verdict.effects import Effect
from harness.verdict.helped import Helped
from harness.verdict.wording import Comparison


@dataclass(frozen=True)
class ByWording:
    """Two cells compared in groups of questions. ``differences`` are ``first`` minus ``second``; ``groups`` says what the groups are."""

    first: str
    second: str
    groups: str
    comparison: Comparison


@dataclass(frozen=True)
class Findings:
    """``verdict`` is None where nothing could be judged; ``reason`` says why.

    ``metric`` is what was judged. ``helped``: cell to cause to what was observed to help. ``baseline``: the name of what runs today, and ``to_baseline`` each cell's difference to it.
    """

    metric: str
    verdict: Verdict | None
    reason: str = ""
    effects: Sequence[Effect] = ()
    wording: Sequence[ByWording] = ()
    helped: Mapping[str, Mapping[str, Sequence[Helped]]] = field(default_factory=dict)
    baseline: str | None = None
    to_baseline: Mapping[str, Interval] = field(default_factory=dict)
