from __future__ import annotations

from random import Random

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, P, R, Success, nDCG
from metrics_conf import built_in_measures
from scored import score_all

from harness.metrics.suite import Suite
from harness.records import Chunks, Document, Evidence, Question, Ranking
from harness.text.tokens import TokenMap

DEPTHS = [1, 3, 5, 10, 30]


def corpus(rng: Random, documents: int) -> tuple[Chunks, list[TokenMap]]:
    """Documents of four characters, one chunk each: rows of chunks and rows of documents are the same."""
    names = [f"doc{i:03d}" for i in range(documents)]
    rows = np.arange(documents)
    chunks = Chunks(
        [Document(name, "abcd") for name in names], rows, 0 * rows, 0 * rows + 4, np.ones(documents, int)
    )
    return chunks, [TokenMap(np.array([0]), 4)] * documents


def judged_questions(rng: Random, names: list[str], kind: str, questions: int) -> list[Question]:
    """Graded judgements, negative and zero grades too, some questions without any that is positive."""
    result = []
    for i in range(questions):
        picked = rng.sample(names, rng.randint(1, min(12, len(names))))
        span = (0, 4) if kind == "span" else (None, None)
        evidence = tuple(Evidence(name, *span, grade=rng.choice([-1, 0, 1, 1, 2, 3])) for name in picked)
        result.append(Question(f"q{i}", "?", evidence))
    return result


def tied_rankings(
    rng: np.random.Generator, questions: int, rows: int, depth: int
) -> tuple[Ranking, np.ndarray]:
    """Few distinct scores, so most are tied; some rankings are short or empty. Also the whole order."""
    scores = rng.integers(0, 4, (questions, rows)).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")
    top = order[:, :depth].astype(np.int64)
    kept = np.take_along_axis(scores, top, axis=1)
    length = rng.choice([0, depth // 2, depth], questions, p=[0.1, 0.2, 0.7])
    short = np.arange(depth) >= length[:, None]
    return Ranking(np.where(short, -1, top), np.where(short, -np.inf, kept).astype(np.float32)), order


def oracle(questions: list[Question], names: list[str], ranking: Ranking) -> dict[str, np.ndarray]:
    """trec_eval's values; it breaks ties in a way of its own, so it gets -rank as score."""
    qrels = [ir_measures.Qrel(q.question_id, e.doc_id, e.grade) for q in questions for e in q.evidence]
    run = [
        ir_measures.ScoredDoc(question.question_id, names[row], -rank)
        for question, rows in zip(questions, ranking.rows, strict=True)
        for rank, row in enumerate(rows, 1)
        if row >= 0
    ]
    measures = {"mrr": RR}
    for k in DEPTHS:
        measures |= {
            f"recall_at_{k}": R @ k,
            f"precision_at_{k}": P @ k,
            f"hit_at_{k}": Success @ k,
            f"mrr_at_{k}": RR @ k,
            f"ndcg_at_{k}": nDCG @ k,
            f"map_at_{k}": AP @ k,
        }
    place = {question.question_id: i for i, question in enumerate(questions)}
    values = {name: np.zeros(len(questions)) for name in measures}
    of_measure = {str(measure): name for name, measure in measures.items()}
    for found in ir_measures.iter_calc(list(measures.values()), qrels, run):
        values[of_measure[str(found.measure)]][place[found.query_id]] = found.value
    return values


@pytest.mark.parametrize("kind", ["span", "document"])
@pytest.mark.parametrize("seed", range(8))
def test_row_metrics_and_recall_equal_trec_eval(kind, seed):
    """Eight batches of 250 random questions with ties, grades and empty rankings agree to 1e-9."""
    rng = Random(seed)
    rows = rng.randint(2, 60)
    chunks, maps = corpus(rng, rows)
    names = [document.doc_id for document in chunks.documents]
    questions = judged_questions(rng, names, kind, 250)
    ranking, _ = tied_rankings(np.random.default_rng(seed), 250, rows, min(rows, 25))

    def not_returned(relevant):
        return np.zeros(len(relevant), dtype=np.int64)

    scores = score_all(
        Suite(built_in_measures()),
        kind,
        questions,
        ranking,
        chunks,
        maps,
        DEPTHS,
        not_returned,
        None,
        "ndcg_at_10",
    )
    for name, expected in oracle(questions, names, ranking).items():
        np.testing.assert_allclose(scores.values[name], expected, rtol=0, atol=1e-9, err_msg=name)


def test_a_judged_document_that_is_not_in_the_corpus_still_counts_as_relevant():
    """Like trec_eval: it can't be found, and recall, nDCG and MAP say so."""
    chunks, maps = corpus(Random(0), 3)
    names = [document.doc_id for document in chunks.documents]
    questions = [Question("q0", "?", (Evidence("doc001"), Evidence("gone"), Evidence("gone too", grade=3)))]
    ranking = Ranking(np.array([[2, 1, 0]]), np.array([[3.0, 2.0, 1.0]], dtype=np.float32))
    scores = score_all(
        Suite(built_in_measures()),
        "document",
        questions,
        ranking,
        chunks,
        maps,
        DEPTHS,
        lambda _: np.zeros(1, int),
        None,
        "ndcg_at_10",
    )
    for name, expected in oracle(questions, names, ranking).items():
        np.testing.assert_allclose(scores.values[name], expected, rtol=0, atol=1e-9, err_msg=name)
    # One of three judged documents came back, at rank 2.
    assert scores.values["recall_at_5"][0] == pytest.approx(1 / 3)
    assert scores.values["map_at_5"][0] == pytest.approx((1 / 2) / 3)
    assert scores.cause == ("not_in_index",)
