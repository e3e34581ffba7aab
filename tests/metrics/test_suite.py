from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_conf import CONF, built_in_measures
from metrics_reference import Case, Reference, random_case
from scored import score_all

from harness.errors import SettingError
from harness.metrics import Scores
from harness.metrics.suite import Suite
from harness.records import Chunks, Document, Evidence, Question, Ranking
from harness.text.tokens import TokenMap

many = settings(max_examples=400, deadline=None, derandomize=True)
some = settings(max_examples=100, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def scored(case: Case, **changed) -> Scores:
    suite = Suite(built_in_measures(), budgets=case.budgets, min_overlap=changed.pop("min_overlap", 0.5))
    arguments = {
        "ranking": case.ranking,
        "questions": case.questions,
        "first_ranks": case.first_ranks,
    } | changed
    return score_all(
        suite,
        kind=case.kind,
        chunks=case.chunks,
        tokens=case.maps,
        ks=case.ks,
        encoded=None,
        primary="mrr",
        **arguments,
    )


def compare(case: Case, scores: Scores, expected: list[dict[str, float]]) -> None:
    for i, reference in enumerate(expected):
        assert reference.keys() == scores.values.keys()
        for name, value in reference.items():
            assert scores.values[name][i] == pytest.approx(value, abs=1e-9), (i, name)


@many
@given(seeds, st.sampled_from([0.0, 0.3, 0.5]))
def test_every_span_metric_equals_its_definition_on_sets_of_characters(seed, min_overlap):
    """Coverage, budgets, characters and row metrics agree with a slow second implementation to 1e-9."""
    case = random_case(Random(seed))
    references = [Reference(case, i, min_overlap) for i in range(len(case.questions))]
    expected = [reference.span_metrics() | reference.row_metrics() for reference in references]
    compare(case, scored(case, min_overlap=min_overlap), expected)


@many
@given(seeds)
def test_chunks_without_overlap_take_the_short_way_to_the_same_values(seed):
    """Where no two chunks overlap no row is free, and skipping that test changes nothing."""
    case = random_case(Random(seed), overlapping=False)
    references = [Reference(case, i) for i in range(len(case.questions))]
    compare(
        case, scored(case), [reference.span_metrics() | reference.row_metrics() for reference in references]
    )


@some
@given(seeds)
def test_every_document_metric_equals_its_definition(seed):
    """Document rows: recall over evidence, graded row metrics, tokens of whole documents."""
    case = random_case(Random(seed), "document")
    expected = []
    for i in range(len(case.questions)):
        reference = Reference(case, i)
        values = reference.row_metrics()
        for k in case.ks:
            ids = {case.chunks.documents[row].doc_id for row in reference.rows[:k]}
            covered = [any(place.doc_id in ids for place in e.places) for e in reference.evidence]
            values[f"recall_at_{k}"] = sum(covered) / max(len(covered), 1)
            values[f"complete_at_{k}"] = float(bool(covered) and all(covered))
            values[f"context_tokens_at_{k}"] = float(sum(len(case.maps[row]) for row in reference.rows[:k]))
        expected.append(values)
    scores = scored(case)
    compare(case, scores, expected)
    assert scores.chunk_independent == frozenset(scores.values)


@some
@given(seeds)
def test_values_keep_their_bounds_and_never_fall_with_k_or_budget(seed):
    """Shares lie in [0, 1]; reading more never loses recall."""
    case = random_case(Random(seed))
    values = scored(case).values
    for name, column in values.items():
        assert np.isfinite(column).all()
        assert (column >= 0).all()
        assert name.startswith("context_tokens") or (column <= 1 + 1e-12).all()
    for stem in ("recall_at_{}", "complete_at_{}", "coverage_dcg_at_{}", "char_recall_at_{}", "hit_at_{}"):
        rising([values[stem.format(k)] for k in case.ks])
    for stem in ("recall_at_{}_tokens", "complete_at_{}_tokens"):
        rising([values[stem.format(budget)] for budget in case.budgets])
    at_budgets = [values[f"recall_at_{budget}_tokens"] for budget in case.budgets]
    np.testing.assert_allclose(values["recall_over_budgets"], np.mean(at_budgets, axis=0), atol=1e-12)
    rising([at_budgets[0] - 1e-12, values["recall_over_budgets"], at_budgets[-1] + 1e-12])


def rising(columns: list[np.ndarray]) -> None:
    assert (np.diff(np.array(columns), axis=0) >= 0).all()


@some
@given(seeds)
def test_the_order_of_the_questions_does_not_matter(seed):
    """A question's values are the same to the bit wherever it stands."""
    case = random_case(Random(seed))
    order = Random(seed).sample(range(len(case.questions)), len(case.questions))
    shuffled = Case(
        case.chunks,
        case.maps,
        [case.questions[i] for i in order],
        [case.full[i] for i in order],
        case.depth,
        case.ks,
        case.budgets,
        case.kind,
    )
    straight, mixed = scored(case), scored(shuffled)
    for name, column in straight.values.items():
        np.testing.assert_array_equal(column[order], mixed.values[name])
    assert tuple(straight.cause[i] for i in order) == mixed.cause


@some
@given(seeds)
def test_a_copy_of_the_evidence_gains_nothing(seed):
    """Naming a place twice as an alternative changes no metric that is comparable between chunkings."""
    case = random_case(Random(seed))
    doubled = [
        Question(
            q.question_id,
            q.text,
            tuple(
                Evidence(
                    e.doc_id,
                    e.start,
                    e.end,
                    grade=e.grade,
                    alternatives=(*e.alternatives, Evidence(e.doc_id, e.start, e.end)),
                )
                for e in q.evidence
            ),
        )
        for q in case.questions
    ]
    once, twice = scored(case), scored(case, questions=doubled)
    for name in once.chunk_independent:
        np.testing.assert_array_equal(once.values[name], twice.values[name])


def simplest(
    rng: np.random.Generator, questions: int
) -> tuple[Chunks, list[TokenMap], np.ndarray, np.ndarray]:
    """Five chunks of one document, each question's evidence being exactly one chunk."""
    text = "alpha bravo gamma delta omega "
    start = np.arange(0, 30, 6)
    chunks = Chunks([Document("d", text)], np.zeros(5, int), start, start + 6, np.ones(5, int))
    return chunks, [TokenMap(start, 30)], rng.random((questions, 5)), rng.integers(0, 5, questions)


def test_the_simplest_setting_is_a_dozen_lines_of_numpy():
    """Five chunks, one gold chunk each: recall@k is hit@k, MRR and nDCG follow from the rank alone."""
    chunks, maps, similarity, gold = simplest(np.random.default_rng(7), 200)
    order = np.argsort(-similarity, axis=1, kind="stable")
    rank = 1 + np.argmax(order == gold[:, None], axis=1)
    questions = [
        Question(f"q{i}", "?", (Evidence("d", int(chunks.start[g]), int(chunks.end[g])),))
        for i, g in enumerate(gold)
    ]
    ranking = Ranking(order.astype(np.int64), np.sort(similarity, axis=1)[:, ::-1].astype(np.float32))
    values = score_all(
        Suite(built_in_measures(), budgets=[1, 3]),
        "span",
        questions,
        ranking,
        chunks,
        maps,
        [1, 3, 5],
        never_asked,
        None,
        "recall_at_1",
    ).values
    for k in (1, 3, 5):
        np.testing.assert_array_equal(values[f"recall_at_{k}"], rank <= k)
        np.testing.assert_array_equal(values[f"hit_at_{k}"], rank <= k)
        np.testing.assert_array_equal(values[f"complete_at_{k}"], rank <= k)
        np.testing.assert_array_equal(values[f"precision_at_{k}"], (rank <= k) / k)
        np.testing.assert_allclose(values[f"ndcg_at_{k}"], (rank <= k) / np.log2(rank + 1), rtol=1e-12)
        np.testing.assert_array_equal(values[f"map_at_{k}"], np.where(rank <= k, 1 / rank, 0))
    np.testing.assert_array_equal(values["mrr"], 1 / rank)
    # Every chunk is one token, so a budget of three tokens is three rows.
    np.testing.assert_array_equal(values["recall_at_3_tokens"], rank <= 3)


def never_asked(relevant) -> np.ndarray:
    raise AssertionError


@some
@given(seeds)
def test_the_index_is_asked_only_for_what_the_ranking_does_not_show(seed):
    """Full-depth MRR is the same whether or not the answer was already in the ranking."""
    case = random_case(Random(seed))
    asked: list[list[int]] = []

    def first_ranks(relevant):
        asked.append([len(rows) for rows in relevant])
        return case.first_ranks(relevant)

    shallow = scored(case, first_ranks=first_ranks)
    rows = max(len(full) for full in case.full)
    deep = Case(
        case.chunks, case.maps, case.questions, case.full, max(rows, 1), case.ks, case.budgets, case.kind
    )
    np.testing.assert_array_equal(shallow.values["mrr"], scored(deep).values["mrr"])
    np.testing.assert_array_equal(shallow.first_rank, scored(deep).first_rank)
    assert len(asked) <= 1
    for counts in asked:
        in_ranking = [rank <= case.depth for rank in shallow.first_rank]
        assert not any(count for count, known in zip(counts, in_ranking, strict=True) if known)


@some
@given(seeds)
def test_a_ranking_is_deep_enough_exactly_when_the_largest_budget_is_full_or_nothing_is_left(seed):
    """The pipeline may stop doubling the depth without changing a budget metric."""
    case = random_case(Random(seed))
    suite = Suite(built_in_measures(), budgets=case.budgets)
    expected = case.depth >= len(case.chunks) or all(
        len(Reference(case, i).rows) < case.depth or sum(Reference(case, i).costs()) >= max(case.budgets)
        for i in range(len(case.questions))
    )
    assert suite.is_deep_enough(case.chunks, case.ranking) == expected


def test_depth_is_a_hundred_or_the_largest_k_but_never_more_than_there_are_rows():
    """A ranking is deep enough for diagnosis and for every k."""
    suite = Suite(built_in_measures())
    assert suite.depth([1, 5], 10_000) == 100
    assert suite.depth([1, 500], 10_000) == 500
    assert suite.depth([1, 500], 40) == 40


def test_names_are_known_before_anything_is_paid_for():
    """The names given for no data are those of real scores, in the same order."""
    for kind in ("span", "document"):
        case = random_case(Random(3), kind)
        suite = Suite(built_in_measures(), budgets=case.budgets)
        fitting = {f"{stem}_at_{k}" for stem in ("recall", "complete", "context_tokens") for k in range(99)}
        fitting -= set(suite.names(kind, case.ks))
        assert suite.names(kind, case.ks) == tuple(n for n in scored(case).values if n not in fitting)


def test_row_metrics_are_not_offered_for_comparing_chunkings():
    """What depends on the number of relevant rows is left out of the chunk-independent names."""
    scores = scored(random_case(Random(3)))
    stems = {name.split("_at_")[0] for name in scores.values.keys() - scores.chunk_independent}
    assert stems == {"precision", "hit", "mrr", "ndcg", "map", "judged"}


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"budgets": [1000, 500]}, "ascending"),
        ({"budgets": [0]}, "at least 1"),
        ({"budgets": [1.5]}, "whole number"),
        ({"min_overlap": 0.6}, "0 to 0.5"),
        ({"complete_at": 0}, "above 0"),
        ({"measures": {}}, "empty"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings_, words):
    """The message names the setting, what was given and what is allowed."""
    with pytest.raises(SettingError, match=words) as caught:
        Suite(**({"measures": built_in_measures()} | settings_))
    assert str(caught.value).startswith(f"metrics.{next(iter(settings_))} is")
    assert caught.value.key == f"metrics.{next(iter(settings_))}"


class SuccessAtOne:
    """What a user would write: one class in one file."""

    chunk_independent = False

    def score(self, inputs):
        return {"success_at_1": (inputs.gains(1)[:, 0] > 0).astype(float)}


class Wrong:
    chunk_independent = True

    def score(self, inputs):
        return {"wrong": np.zeros(inputs.questions + 1)}


def test_a_new_metric_is_one_class_and_one_yaml(tmp_path):
    """An option that adds one line to the default set gives all its metrics and the new one."""
    for name in ("default.yaml",):
        (tmp_path / "metrics").mkdir()
        (tmp_path / "metrics" / name).write_text((CONF / "metrics" / name).read_text())
    (tmp_path / "metrics" / "mine.yaml").write_text(
        "defaults: [default]\nmeasures:\n  success: {_target_: test_suite.SuccessAtOne}\n"
    )
    with initialize_config_dir(str(tmp_path), version_base="1.3"):
        suite = instantiate(compose(overrides=["+metrics=mine", "+context_budget=null"]).metrics)
    case = random_case(Random(5))
    values = score_all(
        suite,
        "span",
        case.questions,
        case.ranking,
        case.chunks,
        case.maps,
        [1],
        case.first_ranks,
        None,
        "mrr",
    ).values
    assert list(values)[-1] == "success_at_1"
    np.testing.assert_array_equal(values["success_at_1"], values["precision_at_1"])
    assert "recall_at_2000_tokens" in values


def test_a_measure_that_gives_the_wrong_shape_or_a_taken_name_is_refused():
    """The message names the measure."""
    case = random_case(Random(5))
    for extra, words in ((Wrong(), "one value"), (built_in_measures()["recall"], "earlier measure")):
        suite = Suite(built_in_measures() | {"extra": extra})
        with pytest.raises(SettingError, match=words) as caught:
            score_all(
                suite,
                "span",
                case.questions,
                case.ranking,
                case.chunks,
                case.maps,
                [1],
                case.first_ranks,
                None,
                "mrr",
            )
        assert caught.value.key == "metrics.measures.extra"
