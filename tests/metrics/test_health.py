from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_reference import random_case

from harness.metrics.health import health
from harness.records import Chunks, Document, Encoded, Evidence, Question

NO_VECTORS = np.zeros((0, 0), dtype=np.float32)


def read_to(chunks: Chunks, seen: list[int]) -> Encoded:
    """A model whose tokens are characters."""
    length = np.array([len(chunks.embed_text(row)) for row in range(len(chunks))], dtype=np.int64)
    characters = np.minimum(length, np.array(seen, dtype=np.int64))
    return Encoded(NO_VECTORS, length, characters, characters)


def one_document(text: str, *spans: tuple[int, int], prefix: str = "") -> Chunks:
    start, end = np.array(spans).T
    return Chunks([Document("d", text, embed_prefix=prefix)], 0 * start, start, end, end - start)


def asks(*evidence: Evidence) -> list[Question]:
    return [Question("q", "?", evidence)]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_unseen_evidence_equals_a_count_on_sets_of_characters(seed):
    """Overlapping chunks, alternatives and white space: exact."""
    rng = Random(seed)
    case = random_case(rng)
    chunks = case.chunks
    encoded = read_to(chunks, [rng.randint(0, 20) for _ in range(len(chunks))])
    seen = {
        (int(chunks.doc[row]), i)
        for row in range(len(chunks))
        for i in range(chunks.start[row], min(chunks.end[row], chunks.start[row] + encoded.seen_chars[row]))
    }
    unseen = total = 0
    for evidence in (e for q in case.questions for e in q.evidence if e.grade > 0):
        best = None
        for place in evidence.places:
            if place.doc_id not in chunks.doc_index:
                continue
            doc = chunks.doc_index[place.doc_id]
            text = chunks.documents[doc].text
            start, end = (0, len(text)) if place.start is None else (place.start, place.end)
            wanted = {(doc, i) for i in range(start, end) if not text[i].isspace()}
            missed = len(wanted - seen)
            share = missed / max(len(wanted), 1)
            if best is None or share < best[0]:
                best = share, missed, len(wanted)
        if best:
            unseen, total = unseen + best[1], total + best[2]
    figures = health(chunks, encoded, case.questions)
    assert figures["truncated_evidence"] == pytest.approx(unseen / total if total and len(chunks) else 0.0)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_unseen_tokens_equal_a_count_on_sets_when_every_character_is_a_token(seed, overlapping):
    """Then spreading a chunk's tokens over its characters is no approximation, with or without overlap."""
    rng = Random(seed)
    chunks = random_case(rng, overlapping=overlapping).chunks
    encoded = read_to(chunks, [rng.randint(0, 20) for _ in range(len(chunks))])
    text, seen = set(), set()
    for row in range(len(chunks)):
        doc, start, end = int(chunks.doc[row]), int(chunks.start[row]), int(chunks.end[row])
        text |= {(doc, i) for i in range(start, end)}
        seen |= {(doc, i) for i in range(start, start + int(encoded.seen_chars[row]))}
    expected = len(text - seen) / len(text) if text else 0.0
    assert health(chunks, encoded, [])["truncated_tokens"] == pytest.approx(expected)


def test_half_of_every_chunk_unseen_is_half_of_the_tokens():
    """Two chunks of ten tokens, five seen each; without overlap the figure is exact whatever the tokens' lengths."""
    chunks = one_document("x" * 40, (0, 20), (20, 40))
    ten, five = np.array([10, 10]), np.array([5, 5])
    figures = health(chunks, Encoded(NO_VECTORS, ten, five, np.array([3, 12])), asks(Evidence("d", 0, 6)))
    assert figures["truncated_tokens"] == pytest.approx(10 / 20)
    assert figures["truncated_chunks"] == 2
    # Characters 3-5 of the evidence 0-5 were not seen.
    assert figures["truncated_evidence"] == pytest.approx(3 / 6)


def test_the_next_chunk_may_see_what_this_one_could_not():
    """Overlap heals truncation, and the same text is not counted twice."""
    chunks = one_document("x" * 30, (0, 20), (10, 30))
    figures = health(chunks, read_to(chunks, [10, 20]), asks(Evidence("d", 12, 18)))
    assert figures["truncated_chunks"] == 1
    assert figures["truncated_tokens"] == 0.0
    assert figures["truncated_evidence"] == 0.0


def test_the_prefix_takes_its_room_in_the_window():
    """Of ten characters seen four are the prefix, so six of the text's twenty are."""
    chunks = one_document("x" * 20, (0, 20), prefix="Tip ")
    figures = health(chunks, read_to(chunks, [10]), asks(Evidence("d", 0, 20)))
    assert figures["truncated_evidence"] == pytest.approx(14 / 20)
    assert figures["truncated_tokens"] == pytest.approx(14 / 20)


def test_a_copy_that_was_seen_is_enough():
    """Of an evidence and its alternatives the best seen counts."""
    chunks = one_document("x" * 20, (0, 10), (10, 20))
    evidence = Evidence("d", 5, 10, alternatives=(Evidence("d", 10, 15),))
    assert health(chunks, read_to(chunks, [5, 10]), asks(evidence))["truncated_evidence"] == 0.0


def test_sizes_are_counted_in_the_sweeps_tokens():
    """The p95 is the size of a chunk that exists: the 19th of 20."""
    rows = np.arange(20)
    chunks = Chunks([Document("d", "x" * 20)], 0 * rows, rows, rows + 1, rows + 1)
    figures = health(chunks, None, asks(Evidence("d", 0, 5)))
    assert figures == {
        "chunks": 20,
        "chunk_tokens_mean": 10.5,
        "chunk_tokens_p95": 19,
        "truncated_chunks": 0,
        "truncated_tokens": 0,
        "truncated_evidence": 0,
    }


def test_a_corpus_without_chunks_has_figures_too():
    """Nothing divides by zero."""
    none = np.zeros(0, dtype=np.int64)
    chunks = Chunks([Document("d", "   ")], none, none, none, none)
    assert set(health(chunks, Encoded(NO_VECTORS, none, none, none), []).values()) == {0.0}
