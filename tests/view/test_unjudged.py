"""What is said of rows that nobody judged: worked by hand on two cells."""

from __future__ import annotations

import numpy as np
from sweeps_by_hand import cell, sweep

from harness.view.unjudged import unjudged

N = 40


def made(name, recall, known):
    """A cell of one row a question: the row is relevant where the recall is 1."""
    recall, known = np.array(recall, float), np.array(known, float)
    columns = {"recall_at_1": recall, "hit_at_1": recall, "precision_at_1": recall / 2, "judged_at_1": known}
    return cell(name, {"model": name}, **columns)


def said(*cells):
    return list(unjudged(sweep(*cells, axes={"model": ["a", "b"]}, primary="recall_at_1", k=1)))


def test_a_lead_within_the_unjudged_is_open_and_the_difference_is_named():
    """Cell a finds 26 of 40 and all is judged; b finds 13, and 23 of its rows nobody judged: at most 36 of 40."""
    a = made("a", [1] * 26 + [0] * 14, [1] * 40)
    b = made("b", [1] * 13 + [0] * 27, [1] * 17 + [0] * 23)
    differing, order = said(a, b)

    assert "Of the first rows of a, 100% are judged, and of b 42%: more than chance." in differing
    assert "b 0.900 instead of 0.325. The order of the two best depends on rows that nobody judged." in order


def test_a_lead_beyond_the_unjudged_holds():
    """Cell b could reach 20 of 40 at most, a finds 26 whatever the rest is; 7 rows in 40 are no chance (2 ** -7)."""
    a = made("a", [1] * 26 + [0] * 14, [1] * 40)
    b = made("b", [1] * 13 + [0] * 27, [1] * 33 + [0] * 7)

    assert said(a, b)[-1].endswith("a stays ahead in any case.")


def test_nothing_is_said_of_labels_without_a_judgement_of_0():
    """Then what is judged is what is relevant: the metrics say it already."""
    a = made("a", [1] * 26 + [0] * 14, [1] * 26 + [0] * 14)
    b = made("b", [1] * 13 + [0] * 27, [1] * 13 + [0] * 27)
    for one in (a, b):
        one.questions["precision_at_1"][:] = one.questions["judged_at_1"]

    assert said(a, b) == []


def test_a_question_without_a_row_is_no_judgement_of_0():
    """Nothing came back for the last question, so nothing is unjudged there, and nothing was judged."""
    a = made("a", [1] * 26 + [0] * 14, [1] * 26 + [0] * 13 + [1])
    a.questions["context_tokens_at_1"] = np.array([9.0] * 39 + [0.0])
    b = made("b", [1] * 13 + [0] * 27, [1] * 13 + [0] * 27)

    assert said(a, b) == []
