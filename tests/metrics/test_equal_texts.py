"""Scores of corpora with equal texts: names of documents, and which copy a label names, change nothing."""

from __future__ import annotations

import zlib
from itertools import pairwise
from math import log2
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_conf import built_in_measures
from scored import score_all

from harness.golden.twins import find_twins, place_of, with_twins
from harness.metrics.suite import Suite
from harness.records import Chunks, Document, Evidence, Question, Ranking
from harness.text.tokens import TokenMap

KS = [1, 2, 3, 5, 8]


def drawn(rng, kind):
    """Documents as lists of passages, some of them equal, and questions whose labels name any copy.

    Where rows are documents, copies differ in white space.
    """
    passages = [f"Fact {i} says {rng.random()} of {rng.choice('abc')} here." for i in range(5)]
    pages = [rng.choices(passages, k=rng.randint(1, 4)) for _ in range(3)]
    corpus = [rng.choice(pages) for _ in range(rng.randint(2, 7))]
    gaps = [rng.choice([" ", "\n"]) if kind == "document" else " " for _ in corpus]
    texts = [gap.join(page) for page, gap in zip(corpus, gaps, strict=True)]
    questions = [[label(rng, corpus, texts, kind) for _ in range(rng.randint(1, 4))] for _ in range(3)]
    return corpus, texts, questions


def label(rng, corpus, texts, kind):
    """Document, start, end and grade: a document, or 16 characters or more of a passage, no blanks at its ends."""
    doc, grade = rng.randrange(len(corpus)), rng.choice([1, 1, 2, 3])
    if kind == "document":
        return doc, None, None, grade
    passage = rng.choice(corpus[doc])
    start = rng.randint(0, len(passage) - 18)
    end = rng.randint(start + 18, len(passage))
    words = passage[start:end].strip()
    at = texts[doc].index(words)
    return doc, at, at + len(words), grade


def scores(corpus, texts, questions, names, kind, relabel=None):
    """Every metric, with each passage (or its halves) as a chunk and scores that depend on texts alone."""
    documents = [Document(name, text) for name, text in zip(names, texts, strict=True)]
    asked = [
        Question(
            str(i),
            "?",
            tuple(
                Evidence(names[d], s, e, None if s is None else texts[d][s:e], grade)
                for d, s, e, grade in labels
            ),
        )
        for i, labels in enumerate(questions)
    ]
    if relabel:
        asked = [Question(q.question_id, q.text, elsewhere(relabel, q.evidence, documents)) for q in asked]
    asked, _ = with_twins(asked, documents)
    order = sorted(range(len(names)), key=names.__getitem__)
    chunks = chunked([documents[d] for d in order], [corpus[d] for d in order])
    words = [TokenMap(starts(document.text), len(document.text)) for document in chunks.documents]
    rows = len(order) if kind == "document" else len(chunks)
    of_row = [chunks.documents[row].text if kind == "document" else chunks.text(row) for row in range(rows)]
    found = np.array([[score(q.question_id, text) for text in of_row] for q in asked])
    ranked = np.argsort(-found, axis=1, kind="stable")
    ranking = Ranking(ranked, -np.sort(-found, axis=1).astype(np.float32))
    suite = Suite(built_in_measures(), budgets=[3, 7, 15, 40])
    never = np.zeros(len(asked), dtype=np.int64)
    return score_all(suite, kind, asked, ranking, chunks, words, KS, lambda _: never, None, "mrr").values


def elsewhere(rng, evidence, documents):
    """The same evidence, each piece named at any of the places where its text stands."""
    twins = find_twins(evidence, documents)
    places = [rng.choice(twins.get(place_of(unit)) or [unit]) for unit in evidence]
    return tuple(
        Evidence(place.doc_id, place.start, place.end, place.quote, unit.grade)
        for place, unit in zip(places, evidence, strict=True)
    )


def chunked(documents, corpus):
    spans = []
    for d, passages in enumerate(corpus):
        at = 0
        for passage in passages:
            middle = len(passage) // 2 if zlib.crc32(passage.encode()) % 2 else 0
            borders = [at, *([at + middle] if middle else []), at + len(passage)]
            spans += [(d, start, end) for start, end in pairwise(borders)]
            at += len(passage) + 1
    doc, start, end = np.array(spans, dtype=np.int64).T
    words = [len(documents[d].text[s:e].split()) for d, s, e in spans]
    return Chunks(documents, doc, start, end, np.array(words, dtype=np.int64))


def starts(text):
    before = " " + text[:-1]
    return np.array([i for i, c in enumerate(text) if before[i].isspace() and not c.isspace()], np.int64)


def score(question, text):
    return zlib.crc32(f"{question} {' '.join(text.split())}".encode()) / 2**32


def same(one, other):
    assert one.keys() == other.keys()
    for name, column in one.items():
        np.testing.assert_allclose(column, other[name], rtol=0, atol=1e-12, err_msg=name)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["span", "document"]))
def test_names_of_documents_and_of_copies_change_no_metric(seed, kind):
    """Documents are renamed at random, and each label names any of the copies: all metrics to 1e-12."""
    rng = Random(seed)
    given_ = drawn(rng, kind)
    names = [f"d{i}" for i in range(len(given_[0]))]
    plain = scores(*given_, names, kind)
    same(plain, scores(*given_, rng.sample(names, len(names)), kind))
    same(plain, scores(*given_, rng.sample(names, len(names)), kind, relabel=rng))


def by_hand(rows, kind, *evidence):
    """Four documents of one chunk each; 0 and 1 are equal; the ranking is ``rows``."""
    texts = ["Boots dry best near the stove.", "Boots dry best near the stove.", "Tea is brewed.", "Rain."]
    documents = [Document(str(i), text) for i, text in enumerate(texts)]
    ends = np.array([len(text) for text in texts])
    chunks = Chunks(documents, np.arange(4), np.zeros(4, int), ends, np.ones(4, int))
    asked, _ = with_twins([Question("q", "?", evidence)], documents)
    ranking = Ranking(np.array([rows]), -np.arange(len(rows), dtype=np.float32)[None])
    maps = [TokenMap(np.array([0]), end) for end in ends]
    suite = Suite(built_in_measures(), budgets=[1])
    values = score_all(
        suite, kind, asked, ranking, chunks, maps, [1, 2, 3, 4], lambda _: np.zeros(1, int), None, "mrr"
    ).values
    return {name: float(column[0]) for name, column in values.items()}


@pytest.mark.parametrize("kind", ["document", "span"])
@pytest.mark.parametrize("named", ["0", "1"])
def test_a_copy_takes_a_row_and_gains_nothing(kind, named):
    """Both copies, then the other evidence: relevant rows are three, pieces of evidence two."""
    span = (0, 30, "Boots dry best near the stove.") if kind == "span" else (None, None, None)
    tea = Evidence("2", 0, 14, "Tea is brewed.") if kind == "span" else Evidence("2")
    values = by_hand([0, 1, 2, 3], kind, Evidence(named, *span), tea)

    assert [values[f"recall_at_{k}"] for k in (1, 2, 3)] == [0.5, 0.5, 1.0]
    assert [values[f"precision_at_{k}"] for k in (2, 4)] == [1.0, 3 / 4]
    # Gains 1, 0 and 1 at ranks 1, 2 and 3; at best 1 and 1 at ranks 1 and 2.
    assert values["ndcg_at_3"] == pytest.approx((1 + 1 / log2(4)) / (1 + 1 / log2(3)))
    assert values["ndcg_at_1"] == 1.0
    # Precision at ranks 1 and 3, where new evidence stands, is 1.
    assert values["map_at_3"] == 1.0
    # Without the copy between them nothing is missing.
    once = by_hand([0, 2, 3], kind, Evidence(named, *span), tea)
    assert (once["ndcg_at_3"], once["map_at_3"], once["recall_at_2"]) == (1.0, 1.0, 1.0)


def test_characters_count_once():
    """30 characters of boots and 14 of tea: a second copy is read for nothing, as in the report."""
    boots = Evidence("0", 0, 30, "Boots dry best near the stove.")
    values = by_hand([1, 0, 2, 3], "span", boots, Evidence("2", 0, 14, "Tea is brewed."))

    assert values["char_recall_at_1"] == pytest.approx(30 / 44)
    assert values["char_precision_at_2"] == pytest.approx(30 / 60)
    assert values["iou_at_2"] == pytest.approx(30 / (60 + 14))
    assert values["iou_at_3"] == pytest.approx(44 / 74)
    # Exactly the chunks that touch a label, copies included: all of their characters are labelled.
    assert values["precision_omega"] == 1.0
