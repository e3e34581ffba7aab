from __future__ import annotations

from math import log2

import numpy as np
import pytest
from metrics_conf import built_in_measures
from scored import score_all

from harness.metrics import Scores
from harness.metrics.suite import Suite
from harness.records import Chunks, Document, Encoded, Evidence, Question, Ranking
from harness.text.tokens import TokenMap

#       0         1         2         3
#       0123456789012345678901234567890123456789
TEXT = "aaaa bbbb cccc dddd eeee ffff gggg hhhh "
WORDS = TokenMap(np.arange(0, 40, 5), 40)


def chunked(*spans: tuple[int, int], text: str = TEXT) -> Chunks:
    start, end = np.array(spans).T
    tokens = np.array([WORDS.count(s, e) for s, e in spans])
    return Chunks([Document("d", text)], 0 * start, start, end, tokens)


def score(
    chunks: Chunks,
    rows: list[int],
    *evidence: Evidence,
    budgets: list[int] | None = None,
    encoded: Encoded | None = None,
    primary: str = "recall_at_2",
    min_overlap: float = 0.5,
) -> Scores:
    ranking = Ranking(np.array([rows]), -np.arange(len(rows), dtype=np.float32)[None])
    suite = Suite(built_in_measures(), budgets=budgets or [1, 3], min_overlap=min_overlap)
    return score_all(
        suite,
        "span",
        [Question("q", "?", evidence)],
        ranking,
        chunks,
        [WORDS],
        [1, 2, 5],
        lambda relevant: np.array([0 if not len(r) else 9 for r in relevant]),
        encoded,
        primary,
    )


def value(scores: Scores, name: str) -> float:
    return float(scores.values[name][0])


QUARTERS = [(0, 10), (10, 20), (20, 30), (30, 40)]


def test_recall_is_the_mean_over_evidence_of_the_covered_share():
    """Evidence half in an unread chunk counts half; white space counts nothing."""
    # "bbbb cccc" (5-14) has 8 letters, 4 in row 0 and 4 in row 1; "hhhh" (35-39) lies in row 3.
    scores = score(chunked(*QUARTERS), [0, 2, 1, 3], Evidence("d", 5, 14), Evidence("d", 35, 39))
    assert value(scores, "recall_at_1") == pytest.approx((4 / 8 + 0) / 2)
    assert value(scores, "recall_at_5") == 1.0
    assert value(scores, "complete_at_2") == 0.0
    assert value(scores, "complete_at_5") == 1.0
    # Recall grows by 1/4 at ranks 1 and 3 and by 1/2 at rank 4.
    expected = 0.25 / log2(2) + 0.25 / log2(4) + 0.5 / log2(5)
    assert value(scores, "coverage_dcg_at_5") == pytest.approx(expected)


def test_a_chunker_that_strips_blanks_reaches_one():
    """Blanks between chunks, and at the ends of a label, are not missed."""
    scores = score(chunked((0, 4), (5, 9), (10, 14)), [0, 1, 2], Evidence("d", 4, 15))
    assert value(scores, "recall_at_5") == 1.0


def test_a_budget_cuts_the_row_that_would_pass_it():
    """Three tokens are row 0 (two words) and the first word of the next row."""
    # The next row is "cccc dddd"; "cccc" of the evidence "cccc dddd" (10-19) is read: 4 of 8 letters.
    scores = score(chunked(*QUARTERS), [0, 1], Evidence("d", 10, 19), budgets=[1, 3, 4])
    assert value(scores, "recall_at_1_tokens") == 0.0
    assert value(scores, "recall_at_3_tokens") == 0.5
    assert value(scores, "recall_at_4_tokens") == 1.0
    assert value(scores, "complete_at_3_tokens") == 0.0


def test_recall_over_budgets_is_the_mean_of_the_budgets():
    """Rows of two words, read in order: "bbbb cccc" is words 2 and 3, "dddd" is word 4.

    1 token reads neither; 3 tokens read half of one evidence, (1/2 + 0) / 2 = 1/4; 5 tokens read both, 1.
    The mean is (0 + 1/4 + 1) / 3 = 5/12. Without budgets, and for documents, there is no such metric.
    """
    labels = [Evidence("d", 10, 19), Evidence("d", 20, 24)]
    scores = score(chunked(*QUARTERS), [0, 1, 2], *labels, budgets=[1, 3, 5])
    assert value(scores, "recall_at_3_tokens") == 0.25
    assert value(scores, "recall_over_budgets") == pytest.approx(5 / 12)
    assert "recall_over_budgets" in scores.chunk_independent
    assert "recall_over_budgets" not in Suite(built_in_measures(), budgets=[]).names("span", [5])
    assert "recall_over_budgets" not in Suite(built_in_measures()).names("document", [5])


def test_a_row_inside_earlier_rows_is_free_and_shared_text_is_paid_twice():
    """Rows 0-10 and 10-20 make 5-15 free; 15-25 after 10-20 pays its shared word again."""
    chunks = chunked((0, 10), (5, 15), (10, 20), (15, 25))
    scores = score(chunks, [0, 2, 1, 3], Evidence("d", 20, 24), budgets=[4, 5, 6])
    # Paid: 2 + 2 + 0 + 2 tokens.
    assert value(scores, "context_tokens_at_1") == 2
    assert value(scores, "context_tokens_at_5") == 6
    # The fifth token is "dddd" again, the sixth is "eeee".
    assert value(scores, "recall_at_5_tokens") == 0.0
    assert value(scores, "recall_at_6_tokens") == 1.0


def test_a_free_row_takes_a_rank():
    """5-15 after 0-10 and 10-20 costs no token, but it is the third row, and what follows is the fourth."""
    chunks = chunked((0, 10), (10, 20), (5, 15), (20, 30), (30, 40))
    scores = score(chunks, [0, 2, 1, 3], Evidence("d", 10, 19), budgets=[4, 6])
    inside = score(chunks, [0, 1, 2, 3], Evidence("d", 20, 29), budgets=[4, 6])

    # 0-10, 5-15 (which the first row does not hold), 10-20: 2 + 2 + 2 tokens; at k=2 "cccc" alone was read.
    assert (value(scores, "recall_at_2"), value(scores, "recall_at_4_tokens")) == (0.5, 0.5)
    # 0-10, 10-20, 5-15 for nothing, 20-30: 2 + 2 + 0 + 2 tokens, and the evidence is in the fourth row.
    assert value(inside, "context_tokens_at_5") == 6
    assert value(inside, "recall_at_6_tokens") == 1.0
    assert value(inside, "mrr") == 1 / 4
    # Its characters are retrieved again: 10 found, 40 retrieved.
    assert value(inside, "char_precision_at_5") == pytest.approx(9 / 40)


def test_a_token_belongs_to_the_row_in_which_it_starts():
    """The border at 12 cuts "cccc", which starts at 10: the row 12-25 has the tokens of "dddd" and "eeee" alone."""
    chunks = chunked((0, 12), (12, 25))
    scores = score(chunks, [1, 0], Evidence("d", 10, 19), budgets=[1, 2])

    assert value(scores, "context_tokens_at_1") == 2
    # One token of 12-25 reaches up to where "eeee" starts: "cc dddd ", 6 of the 8 letters of "cccc dddd".
    assert value(scores, "recall_at_1_tokens") == 6 / 8


def test_the_grade_of_a_row_is_the_best_of_its_evidence():
    """The row 0-20 holds evidence of grades 1 and 3, and gains 3; recall weighs all evidence alike."""
    evidence = (Evidence("d", 0, 9, grade=1), Evidence("d", 10, 19, grade=3), Evidence("d", 20, 29, grade=2))
    scores = score(chunked((0, 20), (20, 40)), [1, 0], *evidence)

    best = 3 / log2(2) + 2 / log2(3)
    assert value(scores, "ndcg_at_2") == pytest.approx((2 / log2(2) + 3 / log2(3)) / best)
    assert value(scores, "recall_at_1") == pytest.approx(1 / 3)


def test_alternatives_are_one_unit_and_the_best_of_them_counts():
    """A second copy adds nothing; half of one and half of the other is half."""
    either = Evidence("d", 10, 19, alternatives=(Evidence("d", 30, 39),))
    scores = score(chunked((10, 15), (15, 20), (35, 40)), [0, 2, 1], either)
    assert value(scores, "recall_at_1") == 0.5
    assert value(scores, "recall_at_2") == 0.5
    assert value(scores, "recall_at_5") == 1.0
    assert value(scores, "coverage_dcg_at_5") == pytest.approx(0.5 + 0.5 / log2(4))


def test_a_row_is_relevant_by_half_of_the_shorter():
    """A sliver in a big chunk does not count, a small chunk inside long evidence does."""
    # Evidence 15-39 has 20 letters. Row (0, 20) shares 4 of its 16: not relevant. Row (20, 25) lies inside.
    scores = score(chunked((0, 20), (20, 25), (25, 40)), [0, 1, 2], Evidence("d", 15, 39))
    assert value(scores, "hit_at_1") == 0.0
    assert value(scores, "precision_at_2") == 0.5
    # Relevant at ranks 2 and 3 of two relevant rows.
    assert value(scores, "map_at_5") == pytest.approx((1 / 2 + 2 / 3) / 2)
    ideal = 1 + 1 / log2(3)
    assert value(scores, "ndcg_at_5") == pytest.approx((1 / log2(3) + 1 / log2(4)) / ideal)
    assert value(scores, "mrr") == 0.5
    assert (
        value(score(chunked((0, 20), (20, 40)), [0], Evidence("d", 15, 39), min_overlap=0.0), "hit_at_1") == 1
    )


def test_the_characters_of_the_report_are_pooled_and_plain():
    """Precision pays shared characters twice, recall counts each once, and a chunk that only touches counts."""
    # Gold: 10-20 and 30-35, 15 characters with blanks. Rows 0-15 and 5-20 hold 10 of them.
    chunks = chunked((0, 15), (5, 20), (20, 30), (30, 40))
    scores = score(chunks, [0, 1, 3], Evidence("d", 10, 20), Evidence("d", 30, 35))
    assert value(scores, "char_recall_at_1") == pytest.approx(5 / 15)
    assert value(scores, "char_recall_at_2") == pytest.approx(10 / 15)
    assert value(scores, "char_precision_at_2") == pytest.approx(10 / 30)
    assert value(scores, "iou_at_2") == pytest.approx(10 / (30 + 5))
    # Row 20-30 borders on both labels, so all chunks touch one: 15 of 40 characters.
    assert value(scores, "precision_omega") == pytest.approx(15 / 40)


def test_evidence_that_is_not_there_counts_as_not_covered():
    """The question stays in the comparison; nothing divides by zero."""
    scores = score(chunked(*QUARTERS), [0, 1], Evidence("gone", 0, 4), Evidence("d", 0, 4))
    assert value(scores, "recall_at_5") == 0.5
    assert value(scores, "char_recall_at_5") == 0.5
    assert scores.cause == ("not_in_index",)
    for evidence in ((), (Evidence("d", 4, 5),), (Evidence("d", 0, 4, grade=0),)):
        nothing = score(chunked(*QUARTERS), [0, 1], *evidence)
        assert all(np.isfinite(column).all() for column in nothing.values.values())
        assert value(nothing, "recall_at_5") == 0.0
        assert nothing.cause == ("not_in_index",)
        assert np.isnan(nothing.first_rank[0])


def test_the_rank_beyond_the_ranking_is_asked_for():
    """Full-depth MRR uses the rank that the index gives."""
    scores = score(chunked(*QUARTERS), [0, 1], Evidence("d", 30, 39))
    assert value(scores, "mrr") == pytest.approx(1 / 9)
    assert value(scores, "mrr_at_5") == 0.0
    assert scores.first_rank[0] == 9


def test_a_whole_document_among_spans_is_covered_by_any_of_its_rows():
    """Whole documents are 1 or 0, also under a budget of one token."""
    scores = score(chunked(*QUARTERS), [2, 1], Evidence("d"), Evidence("d", 0, 4))
    assert value(scores, "recall_at_1") == 0.5
    assert value(scores, "recall_at_1_tokens") == 0.5


def encoded(*seen: int, size: int = 10) -> Encoded:
    """A model that read ``seen`` characters of each chunk, a token per word of five."""
    characters = np.array(seen)
    tokens = np.full(len(seen), size // 5)
    return Encoded(np.zeros((0, 0), dtype=np.float32), tokens, characters // 5, characters)


FORTY = [(i, i + 1) for i in range(40)]


@pytest.mark.parametrize(
    ("chunks", "rows", "evidence", "model", "primary", "cause"),
    [
        # Read in full by the two best rows.
        (QUARTERS, [0, 1], [(5, 14)], None, "recall_at_2", "found"),
        # No chunk holds 30-39, whatever else was found.
        (QUARTERS[:3], [0, 1], [(0, 4), (30, 39)], None, "recall_at_2", "not_in_index"),
        # All 8 missing letters lie beyond the first word of row 2, 4 were seen: not more than half.
        (QUARTERS, [0, 1], [(20, 29)], encoded(10, 10, 5, 10), "recall_at_2", "not_retrieved"),
        # "ffff" alone is missing, and no vector saw it.
        (QUARTERS, [0, 1], [(25, 29)], encoded(10, 10, 5, 10), "recall_at_2", "truncated"),
        # Half of "bbbb cccc" was read; the rest lies in row 1.
        (QUARTERS, [0, 3], [(5, 14)], None, "recall_at_2", "split"),
        # Half of it was read, and the rest stands in the same row, cut at the budget.
        (QUARTERS, [1, 0], [(10, 19)], None, "recall_at_1_tokens", "not_retrieved"),
        # Over the budgets 1 and 3, what was read at 3 counts: the nearest to 2,000.
        (QUARTERS, [1, 0], [(10, 19)], None, "recall_over_budgets", "found"),
        # One evidence read, the other not.
        (QUARTERS, [0, 1], [(0, 4), (35, 39)], None, "recall_at_2", "partial"),
        # Rank 3 of 40 rows is within a tenth of the rows.
        (FORTY, [0, 1, 2, 3, 4], [(2, 3)], None, "recall_at_2", "ranked_low"),
        # Rank 5 of 40 rows is not.
        (FORTY, [0, 1, 3, 5, 2], [(2, 3)], None, "recall_at_2", "not_retrieved"),
        # Without a k in its name a metric is diagnosed at k = 5.
        (FORTY, [0, 1, 3, 5, 2], [(2, 3)], None, "mrr", "found"),
    ],
)
def test_the_first_cause_that_holds_is_named(chunks, rows, evidence, model, primary, cause):
    """Each suspicion in the documented order, at the k or budget of the primary metric."""
    labels = [Evidence("d", start, end) for start, end in evidence]
    assert score(chunked(*chunks), rows, *labels, encoded=model, primary=primary).cause == (cause,)


def test_whole_documents_are_diagnosed_by_their_own_rows():
    """Found, truncated and retrieved low, each on document rows."""
    names = [f"d{i:02d}" for i in range(30)]
    rows = np.arange(30)
    chunks = Chunks(
        [Document(name, "abcdefghij") for name in names], rows, 0 * rows, 0 * rows + 10, 0 * rows + 1
    )
    ranking = Ranking(np.tile(rows[:10], (4, 1)), -np.tile(np.arange(10, dtype=np.float32), (4, 1)))
    seen = np.full(30, 10)
    seen[29] = 4
    model = Encoded(np.zeros((0, 0), dtype=np.float32), 0 * rows + 10, seen, seen)
    questions = [Question(name, "?", (Evidence(name),)) for name in ("d01", "d29", "d02", "d09")]
    scores = score_all(
        Suite(built_in_measures()),
        "document",
        questions,
        ranking,
        chunks,
        [TokenMap(np.array([0, 5]), 10)] * 30,
        [1, 2],
        lambda relevant: np.array([30 if len(found) else 0 for found in relevant]),
        model,
        "recall_at_2000_tokens",
    )
    # There is no budget for documents and 5 was not asked for, so the largest k counts: 2. A tenth of 30 rows is 3.
    assert scores.cause == ("found", "truncated", "ranked_low", "not_retrieved")
    assert scores.first_rank.tolist() == [2, 30, 3, 10]
    assert scores.values["context_tokens_at_2"].tolist() == [4, 4, 4, 4]


def test_judged_is_the_share_of_rows_of_which_anything_is_known():
    """Rows of two tokens: the first holds the evidence, the second what was judged not relevant, of the third nothing is known.

    With the judgement: 1/1, 2/2, 2/3 of the three rows that come back; four tokens hold two rows, five cut the third.
    """
    chunks = chunked((0, 10), (10, 20), (20, 30), (30, 40))
    question = Question("q", "?", (Evidence("d", 0, 4),))
    judged = Question("q", "?", (Evidence("d", 0, 4),), not_relevant=(Evidence("d", 12, 20, grade=0),))
    ranking = Ranking(np.array([[0, 1, 3, -1]]), -np.arange(4, dtype=np.float32)[None])
    found = {}
    for name, one in (("without", question), ("with", judged)):
        scores = score_all(
            Suite(built_in_measures(), budgets=[4, 5]), "span", [one], ranking, chunks, [WORDS], [1, 2, 3, 4],
            lambda relevant: np.ones(len(relevant), np.int64), None, "recall_at_2",
        )  # fmt: skip
        keys = [f"judged_at_{cut}" for cut in (1, 2, 3, 4, "4_tokens", "5_tokens")]
        found[name] = [float(scores.values[key][0]) for key in keys]

    assert found["without"] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 3, 1 / 2, 1 / 3])
    assert found["with"] == pytest.approx([1, 1, 2 / 3, 2 / 3, 1, 2 / 3])
