"""A recorded configuration scored again, and whether it has become worse."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np

from harness.cell import pipeline
from harness.cell.build import Inputs, Shared
from harness.cell.pipeline import Result
from harness.cell.settings import cut_offs
from harness.cli.values import check_plain_settings
from harness.decision.baseline import Production
from harness.golden.doc_ids import quoted, shown_id
from harness.records import Kind
from harness.results.cells import SCHEMA, ranking_arrays, row_digests
from harness.results.scores import scored_under
from harness.verdict.change import Change, change
from harness.verdict.clusters import cluster_ids

_QUOTED_CHARACTERS = 100


class NotComparableError(Exception):
    """What was recorded can't be compared with what would be scored now."""


class TooManyLeftOutError(NotComparableError):
    """Too many of the recorded questions can't be scored any more."""


class LostQuestion(NamedTuple):
    """A question that lost: its score before and after, its evidence, and the row that comes first now."""

    question_id: str
    before: float
    after: float
    question: str
    evidence: str
    first_row: str


class Gated(NamedTuple):
    """The change since the scores were recorded.

    ``other_rows``: how many questions return other rows; None where the file does not record rows. ``lost``:
    the questions that lost, worst first. ``left_out``: recorded questions that can't be scored any more, each
    with the reason; both sides are compared without them. ``new``: questions without a recorded score.
    """

    change: Change
    questions: int
    other_rows: int | None
    lost: Sequence[LostQuestion]
    left_out: Mapping[str, str]
    new: int


def gate(recorded: Production, margin: float | None, min_effect: float, max_left_out: float) -> Gated:
    """Scores the recorded configuration again.

    Raises ``NotComparableError`` for scores of something else, or of too many questions that are gone.
    """
    config, primary = recorded.composed.config, str(recorded.recorded["primary"])
    if config.primary != primary:
        raise NotComparableError(
            f"the file records {primary}, and primary={config.primary} was given. Remove primary=."
        )
    check_version(recorded)
    check_plain_settings(config)
    made = Shared().components(config)
    result = pipeline.evaluate(made, cut_offs(config), primary)
    now = _scores(result, primary)
    left_out = left_out_of(recorded, now, made.inputs.labels.left_out, max_left_out)
    ids = [question_id for question_id in recorded.scores if question_id in now]
    before = np.array([recorded.scores[question_id] for question_id in ids])
    after = np.array([now[question_id] for question_id in ids])
    clusters = cluster_ids([recorded.clusters[question_id] for question_id in ids])
    found = change(after - before, clusters, margin, min_effect)
    arrays = ranking_arrays(result.questions, result.rankings, result.chunks)
    rows = row_digests(arrays, recorded.operating_point)
    other = sum(recorded.rows[i] != rows[i] for i in ids) if recorded.rows else None
    if other == 0 and not found.better + found.worse:
        found = found._replace(outcome="unchanged", required_sample_size=None)
    order = [i for i in np.argsort(after - before, kind="stable") if after[i] < before[i]]
    shown = _shown([ids[i] for i in order], arrays, made.inputs)
    lost = [LostQuestion(ids[i], float(before[i]), float(after[i]), *shown[ids[i]]) for i in order]
    return Gated(found, len(ids), other, lost, left_out, len(now) - len(ids))


def check_version(recorded: Production) -> None:
    """Raises ``NotComparableError`` for scores of another version of the metrics."""
    schema = recorded.provenance["schema"]
    if schema != SCHEMA:
        raise NotComparableError(
            f"the scores are of version {schema} of the metrics, this is version {SCHEMA}. "
            "Sweep and pick again: python -m harness.pick."
        )


def left_out_of(
    recorded: Production, now: Collection[str], reasons: Mapping[str, str], most: float
) -> dict[str, str]:
    """The recorded questions that are not in ``now``, each with its reason from ``reasons``.

    Raises ``TooManyLeftOutError`` where they are more than the share ``most`` of the recorded questions.
    """
    missing = {
        question_id: reasons.get(question_id, "it is no longer in the golden set")
        for question_id in recorded.scores
        if question_id not in now
    }
    if len(missing) > most * len(recorded.scores):
        example, reason = next(iter(missing.items()))
        raise TooManyLeftOutError(
            f"{len(missing):,} of the {len(recorded.scores):,} recorded questions can't be scored any more; "
            f"max_left_out={most:g} allows fewer. For instance {example}: {reason}. If the golden set or the "
            "documents are the wrong ones, give golden.path and corpus.path. Otherwise repair the labels "
            "with python -m harness.golden.check, raise max_left_out, or pick again."
        )
    return missing


def _scores(result: Result, primary: str) -> dict[str, float]:
    kind, name = scored_under(primary, result.scores)
    pairs = zip(result.scores[kind].question_ids, result.scores[kind].values[name].tolist(), strict=True)
    return {question_id: value for question_id, value in pairs if not np.isnan(value)}


def _shown(
    question_ids: Sequence[str], arrays: Mapping[str, Any], inputs: Inputs
) -> dict[str, tuple[str, str, str]]:
    """Of each question its text, its evidence and its first row, as they are shown."""
    texts = {document.doc_id: document.text for document in inputs.documents}
    asked = {question.question_id: question for question in inputs.labels.questions}
    shown = {}
    for kind in get_args(Kind):
        place = {str(name): i for i, name in enumerate(arrays.get(f"{kind}_question_ids", ()))}
        for name in filter(place.__contains__, question_ids):
            doc, start, end = (
                int(arrays[f"{kind}_{what}"][place[name], 0]) for what in ("doc", "start", "end")
            )
            doc_id, first = str(arrays["doc_ids"][doc]), asked[name].evidence[0]
            row = "no row came back" if doc < 0 else cited(doc_id, texts.get(doc_id, "")[start:end])
            shown[name] = asked[name].text, cited(first.doc_id, first.quote or ""), row
    return shown


def cited(doc_id: str, text: str) -> str:
    """A document's id and how ``text`` of it begins, as they are shown."""
    return f"{shown_id(doc_id)} {quoted(text, _QUOTED_CHARACTERS)}" if text.strip() else shown_id(doc_id)
