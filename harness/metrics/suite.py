"""All metrics of a cell, computed together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from harness.errors import SettingError, number, share, whole
from harness.metrics import Measure, Scores
from harness.metrics.diagnosis import diagnose
from harness.metrics.match import Matches, Rules, match, scoring_inputs
from harness.metrics.reading import fills
from harness.records import Chunks, Encoded, FloatArray, IntArray, Kind, Question, Ranking
from harness.text.tokens import TokenMap

# Every cell keeps its rankings at least this deep, so that a later k needs no new search.
_MIN_DEPTH = 100


class Suite:
    """A set of measures that share their inputs.

    ``measures``: name to measure, in the order in which the metrics are shown. ``budgets``: tokens of
    context, ascending. ``min_overlap``: a row is relevant when it and an evidence share this much of the
    shorter, above 0 at any rate; at most 0.5, or an evidence cut in two might keep no relevant chunk.
    ``complete_at``: the share, in (0, 1], from which an evidence counts as covered. ``last_row``: the row
    that exceeds a budget is ``cut``, or ``leave_out``: left out. ``context_budget``: one more budget. Raises
    ``SettingError``.
    """

    def __init__(
        self,
        measures: Mapping[str, Measure],
        budgets: Sequence[int] = (500, 1000, 2000, 4000),
        min_overlap: float = 0.5,
        complete_at: float = 0.9,
        last_row: str = "cut",
        context_budget: int | None = None,
    ) -> None:
        own = [] if context_budget is None else [whole(context_budget, "context_budget", 1, of="tokens")]
        _check(budgets, min_overlap, complete_at)
        if last_row not in {"cut", "leave_out"}:
            raise SettingError(
                f"metrics.last_row is {last_row}; it must be cut or leave_out.", key="metrics.last_row"
            )
        if not measures:
            raise SettingError(
                "metrics.measures is empty; name at least one measure.", key="metrics.measures"
            )
        self._measures = dict(measures)
        all_budgets = tuple(sorted({*budgets, *own}))
        self._rules = Rules(all_budgets, last_row == "cut", float(min_overlap), float(complete_at))

    def depth(self, ks: Sequence[int], rows: int) -> int:
        """How deep a ranking must go at least: 100, the largest k, and never more than ``rows``."""
        return min(rows, max(_MIN_DEPTH, *ks))

    def is_deep_enough(self, chunks: Chunks, ranking: Ranking) -> bool:
        """True when a ranking of chunks fills the largest budget for every question, or holds all rows."""
        return not self._rules.budgets or fills(chunks.returned, ranking, max(self._rules.budgets))

    def match(self, kind: Kind, questions: Sequence[Question], chunks: Chunks) -> Matches:
        """Which rows are relevant; see ``harness.metrics.Metrics``."""
        found = match(kind, questions, chunks.returned, self._rules.min_overlap)
        if not any(question.not_relevant for question in questions):
            return found
        denied = [replace(q, evidence=tuple(replace(p, grade=1) for p in q.not_relevant)) for q in questions]
        return replace(found, denied=match(kind, denied, chunks.returned, self._rules.min_overlap))

    def score(
        self,
        matches: Matches,
        questions: Sequence[Question],
        ranking: Ranking,
        first_rank: IntArray,
        chunks: Chunks,
        tokens: Sequence[TokenMap],
        ks: Sequence[int],
        encoded: Encoded | None,
        primary: str,
    ) -> Scores:
        """Every metric of ``questions``, with their diagnosis; see ``harness.metrics.Metrics``.

        For documents every metric is chunk independent: a document row is the same whatever the chunks.
        """
        inputs = scoring_inputs(matches, ranking, first_rank, tokens, ks, self._rules)
        values: dict[str, FloatArray] = {}
        independent: set[str] = set()
        for name, measure in self._measures.items():
            scored = measure.score(inputs)
            _check_scored(name, scored, values, len(questions))
            values |= scored
            if measure.chunk_independent or matches.kind == "document":
                independent |= scored.keys()
        return Scores(
            kind=matches.kind,
            question_ids=tuple(question.question_id for question in questions),
            values=values,
            chunk_independent=frozenset(independent),
            cause=diagnose(inputs, ranking, chunks, encoded, primary),
            first_rank=inputs.first_rank,
        )

    def names(self, kind: Kind, ks: Sequence[int]) -> tuple[str, ...]:
        """The names of the metrics that ``score`` will give, in order; found without any data."""
        none = np.zeros(0, dtype=np.int64)
        nothing = Ranking(np.zeros((0, 1), dtype=np.int64), np.zeros((0, 1), dtype=np.float32))
        empty = Chunks((), none, none, none, none)
        scores = self.score(self.match(kind, (), empty), (), nothing, none, empty, (), ks, None, "")
        return tuple(scores.values)


def _check(budgets: Sequence[int], min_overlap: float, complete_at: float) -> None:
    for budget in budgets:
        whole(budget, "metrics.budgets", 1, of="tokens")
    if list(budgets) != sorted(set(budgets)):
        raise SettingError(
            f"metrics.budgets is {list(budgets)}; it must be ascending, each number once.",
            key="metrics.budgets",
        )
    # Above one half, evidence cut in two equal parts could have no relevant chunk.
    number(min_overlap, "metrics.min_overlap", 0, 0.5)
    share(complete_at, "metrics.complete_at", zero=False)


def _check_scored(
    name: str, scored: Mapping[str, FloatArray], earlier: Mapping[str, FloatArray], questions: int
) -> None:
    """A measure may be anybody's, so what it gives is checked."""
    key = f"metrics.measures.{name}"
    twice = sorted(scored.keys() & earlier.keys())
    if twice:
        raise SettingError(f"{key} gives {', '.join(twice)}, which an earlier measure gives too.", key=key)
    for metric, column in scored.items():
        if column.shape != (questions,) or column.dtype != np.float64:
            raise SettingError(
                f"{key} gives {metric} as {column.dtype} {column.shape}; it must be float64 ({questions},): "
                "one value "
                "for each question.",
                key=key,
            )
