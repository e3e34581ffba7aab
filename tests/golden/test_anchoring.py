from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.golden.anchoring import anchor
from harness.records import Document, Evidence, Question

REFUNDS = (
    "# Refunds\r\n\r\nA refund is paid within thirty days of the purchase, to the card that was charged. "
    "Hardware is excluded unless it arrived broken. Ask billing before the end of the month.\r\n"
)
PLANS = "# Plans\n\nThe small plan has 3 seats and costs 12 euros. The large plan has 40 seats and costs 90 euros.\n"
DOCUMENTS = [Document("refunds.md", REFUNDS), Document("plans.md", PLANS, position=1)]
PAID = "A refund is paid within thirty days of the purchase"
BROKEN = "Hardware is excluded unless it arrived broken."
SEATS = "The large plan has 40 seats"


def label(quote, document=DOCUMENTS[0], **fields):
    start = document.text.index(quote)
    return Evidence(document.doc_id, start, start + len(quote), quote, **fields)


def check(evidence, documents=None, *, keep_lost=False, others=True):
    """One question with ``evidence``, beside one that is always fine."""
    documents = DOCUMENTS if documents is None else documents
    questions = [Question("q", "how?", tuple(evidence))]
    if others:
        documents = [*documents, Document("fine.md", "fine")]
        questions.append(Question("fine", "fine?", (Evidence("fine.md"),)))
    return anchor(questions, documents, name="n", path=Path("golden.jsonl"), digest="d", keep_lost=keep_lost)


def states(labels):
    """The counts, without the question that is always fine."""
    counts = {state: count for state, count in labels.states.items() if count}
    counts["VALID"] -= 1
    return {state: count for state, count in counts.items() if count}


def evidence_of(labels):
    return next(question.evidence for question in labels.questions if question.question_id == "q")


def test_a_label_that_stands_is_valid():
    """Untouched documents: everything is VALID and comes back as it was."""
    given_ = [label(PAID), label(BROKEN, grade=2), label(SEATS, DOCUMENTS[1])]

    labels = check(given_)

    assert states(labels) == {"VALID": 3}
    assert evidence_of(labels) == tuple(given_)
    assert labels.lost_evidence == 0
    assert labels.left_out == {}
    assert set(labels.states) == {"VALID", "MOVED", "CHANGED", "LOST"}


@settings(derandomize=True, max_examples=150)
@given(st.integers(0, len(REFUNDS)), st.text(st.characters(codec="utf-8"), min_size=1, max_size=40))
def test_text_put_in_anywhere_moves_labels_or_changes_those_it_cuts(at, new):
    """A quote that still stands once is VALID or MOVED and stands at its new offsets; one that was cut apart is kept out."""
    edited = replace(DOCUMENTS[0], text=REFUNDS[:at] + new + REFUNDS[at:])
    for given_ in (label(PAID), label(BROKEN)):
        labels = check([given_], [edited, DOCUMENTS[1]])
        if edited.text.count(given_.quote) == 1:
            (found,) = evidence_of(labels)
            assert edited.text[found.start : found.end] == given_.quote
            assert set(states(labels)) <= {"VALID", "MOVED"}
        else:
            assert set(states(labels)) <= {"CHANGED", "LOST"}
            assert "q" in labels.left_out


@settings(derandomize=True, max_examples=60)
@given(st.integers(0, len(PAID) - 1))
def test_one_changed_letter_is_no_lost_passage(at):
    """An edited sentence is CHANGED, and the reason says where something like it stands."""
    edited = replace(DOCUMENTS[0], text=REFUNDS.replace(PAID, PAID[:at] + "%" + PAID[at + 1 :]))

    labels = check([label(PAID)], [edited, DOCUMENTS[1]])

    assert states(labels) == {"CHANGED": 1}
    assert (
        "only something like “A refund is paid within thirty days of …” stands in refunds.md"
        in labels.left_out["q"]
    )


def test_other_white_space_is_a_change():
    """A reflowed paragraph or translated line breaks are told apart from a rewritten sentence."""
    edited = replace(DOCUMENTS[0], text=REFUNDS.replace("thirty days", "thirty\n  days"))

    labels = check([label(PAID), label("thirty days")], [edited])

    assert states(labels) == {"CHANGED": 2}
    assert labels.left_out["q"].count("with other white space") == 2


def test_a_removed_passage_is_lost():
    """Nothing like it stands anywhere: LOST, and the question is left out with the quote in its reason."""
    edited = replace(DOCUMENTS[0], text=REFUNDS.replace(PAID, ""))

    labels = check([label(PAID), label(BROKEN)], [edited, DOCUMENTS[1]])

    assert states(labels) == {"MOVED": 1, "LOST": 1}
    assert labels.left_out == {
        "q": "LOST: the quote “A refund is paid within thirty days of …” of refunds.md stands in no document"
    }
    assert labels.lost_evidence == 1


def test_one_shared_phrase_is_no_changed_passage():
    """Less than six tenths of the words: the passage is gone, not edited."""
    given_ = Evidence(
        "d.md", 0, 79, "The deposit of a rented balance is returned within thirty days of the purchase."
    )
    assert len(given_.quote) == given_.end

    labels = check([given_], [DOCUMENTS[0], Document("d.md", "Nothing of that.")])

    assert states(labels) == {"LOST": 1}


def test_the_quote_is_looked_for_at_home_first():
    """A copy in another document does not matter while the quote stands once in its own."""
    documents = [replace(DOCUMENTS[0], text="New. " + REFUNDS), Document("copy.md", REFUNDS)]

    (found,) = evidence_of(check([label(PAID)], documents))

    assert (found.doc_id, found.start) == ("refunds.md", REFUNDS.index(PAID) + 5)


def test_a_renamed_document_is_found_by_its_text():
    """Long quotes are looked for in all documents; with copies, the one at the label's own offset is taken."""
    documents = [Document("money/refunds.md", REFUNDS), Document("copy.md", "x" + REFUNDS)]

    labels = check([label(PAID)], documents)

    assert states(labels) == {"MOVED": 1}
    assert evidence_of(labels)[0] == replace(label(PAID), doc_id="money/refunds.md")


def test_a_short_quote_in_another_document_is_no_evidence():
    """A number that happens to stand in another text does not become the answer when its own document goes."""
    labels = check(
        [label("40 seats", DOCUMENTS[1])], [DOCUMENTS[0], Document("x.md", "a hall with 40 seats")]
    )

    assert states(labels) == {"LOST": 1}
    assert "is too short to be looked for in other documents" in labels.left_out["q"]


@pytest.mark.parametrize("shift", [1, 5])
def test_a_quote_in_several_places_is_not_certain(shift):
    """Once the label's own offset no longer holds, copies can't be told apart: kept out, with the places listed."""
    document = Document("d.md", "x" * shift + "the same sentence. and the same sentence.")
    given_ = Evidence("d.md", 30, 47, "the same sentence")

    labels = check([given_], [document])

    assert states(labels) == {"CHANGED": 1}
    assert (
        f"stands in 2 places (d.md at {shift}, d.md at {shift + 23}); give start and end"
        in labels.left_out["q"]
    )


def test_copies_that_are_all_named_may_move_together():
    """With every copy an alternative, it does not matter which is which."""
    text = "the same sentence. and the same sentence."
    first = Evidence("d.md", 0, 17, "the same sentence")
    unit = replace(first, alternatives=(replace(first, start=23, end=40),))

    labels = check([unit], [Document("d.md", "new: " + text)])

    assert states(labels) == {"MOVED": 1}
    (found,) = evidence_of(labels)
    assert [(place.start, place.end) for place in found.places] == [(5, 22), (28, 45)]


def test_a_label_that_counted_the_byte_order_mark_is_found():
    """All offsets are one too large then; a copy elsewhere does not make that doubtful."""
    document = Document("d.md", "the same sentence. and the same sentence.")

    labels = check([Evidence("d.md", 24, 41, "the same sentence")], [document])

    assert states(labels) == {"MOVED": 1}
    assert evidence_of(labels)[0].start == 23


def test_one_standing_alternative_saves_the_unit():
    """A unit has the state of its best place; what is gone drops out of it; units are counted, not alternatives."""
    gone = Evidence("gone.md", 0, 30, "a sentence of a deleted document", grade=3)
    unit = replace(gone, alternatives=(label(PAID), label(BROKEN)))

    labels = check([unit])

    assert states(labels) == {"VALID": 1}
    (found,) = evidence_of(labels)
    assert (found.doc_id, found.grade) == ("refunds.md", 3)
    assert [place.quote for place in found.places] == [PAID, BROKEN]


def test_labels_without_offsets_are_located():
    """A quote is enough, with or without a document, where it stands exactly once."""
    labels = check([Evidence("refunds.md", quote=PAID), Evidence("", quote=SEATS)])

    assert states(labels) == {"VALID": 2}
    assert evidence_of(labels) == (label(PAID), label(SEATS, DOCUMENTS[1]))


def test_labels_without_a_quote_take_the_text_there():
    """Offsets in range are VALID and get their quote; out of range, blank, or without a document they are LOST."""
    (found,) = evidence_of(check([Evidence("plans.md", 2, 7)]))
    assert found.quote == "Plans"

    size = len(PLANS)
    lost = [Evidence("plans.md", 0, size + 1), Evidence("plans.md", 7, 9), Evidence("x.md", 0, 2)]
    labels = check(lost)
    assert states(labels) == {"LOST": 3}
    assert labels.left_out["q"] == (
        f"LOST: plans.md has {size} characters, the label ends at {size + 1} and has no quote; "
        "LOST: plans.md has nothing but white space from 7 to 9; "
        'LOST: there is no document "x.md"'
    )


def test_whole_documents_are_there_or_not():
    """A document label is VALID or LOST."""
    assert states(check([Evidence("plans.md")])) == {"VALID": 1}
    labels = check([Evidence("plans.md"), Evidence("plan.md")])
    assert labels.left_out == {"q": 'LOST: there is no document "plan.md"'}


def test_lost_evidence_may_stay_and_count_as_not_found():
    """With keep_lost the question stays, of the same kind, its lost unit in a document that does not exist."""
    lost = Evidence("gone.md", 5, 40, "a sentence of a deleted document...", grade=2)
    documents = [*DOCUMENTS, Document("(lost) gone.md", "a name already taken")]

    labels = check([label(PAID), lost, Evidence("gone.md")], documents, keep_lost=True)

    kept, nowhere, whole = evidence_of(labels)
    assert kept == label(PAID)
    assert nowhere == replace(lost, doc_id="(lost) (lost) gone.md")
    assert whole == Evidence("(lost) (lost) gone.md")
    assert labels.left_out == {}
    assert labels.lost_evidence == 2


@pytest.mark.parametrize("keep_lost", [False, True])
def test_a_golden_set_for_another_corpus_is_refused(keep_lost):
    """Not one label found: an error with the counts and what to check, not a table of zeros."""
    with pytest.raises(InputError) as caught:
        check([Evidence("a.md"), Evidence("b.md", 0, 3)], keep_lost=keep_lost, others=False)

    message = str(caught.value)
    assert "none of the 1 questions can be scored against the corpus of 2 documents" in message
    assert "(evidence: 0 VALID, 0 MOVED, 0 CHANGED, 2 LOST)" in message
    assert "looks like a golden set for another corpus: check corpus.path, golden.path" in message


def test_one_lost_unit_in_every_question_is_another_matter():
    """The corpus is the right one then, and the message offers keep_lost."""
    with pytest.raises(
        InputError, match=r"Every question has evidence that changed or is lost.*keep_lost=true"
    ):
        check([label(PAID), Evidence("x.md")], others=False)
