"""Every finding of the check: a set that deserves it, and one that does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.golden import EqualTexts
from harness.golden.anchoring import check_units
from harness.questions.check import CheckedSet
from harness.questions.check.accepting import reworded
from harness.questions.check.copies import ambiguous_places, copies, near_copies
from harness.questions.check.coverage import coverage, power, sizes, verbatim
from harness.questions.check.evidence import labels, placement
from harness.questions.check.wording import (
    LexicalRecall,
    duplicates,
    is_without_subject,
    lexical_recall,
    subjects,
    wording_overlap,
)
from harness.questions.near_copies import similar_pairs
from harness.records import Chunks, Document, Evidence, Question

RETURNS = "Parcels are returned within forty-five days of delivery, and the depot pays the postage both ways."


def examined(questions, texts, marked=()):
    """``questions``: text and evidence each; ids q0, q1, ...; ``texts``: document id to text."""
    made = [
        Question(f"q{i}", text, tuple(evidence if isinstance(evidence, list) else [evidence]))
        for i, (text, evidence) in enumerate(questions)
    ]
    documents = [Document(doc_id, text) for doc_id, text in sorted(texts.items())]
    return CheckedSet(
        made, check_units([one.evidence for one in made], documents), documents, frozenset(marked)
    )


def quote(doc_id, text, texts):
    start = texts[doc_id].index(text)
    return Evidence(doc_id, start, start + len(text), text)


def kinds(look):
    return {finding.kind: finding for finding in look.findings}


def whole(texts):
    """Each document as one chunk."""
    documents = [Document(doc_id, text) for doc_id, text in sorted(texts.items())]
    ends = np.array([len(document.text) for document in documents], np.int64)
    return Chunks(documents, np.arange(len(documents)), np.zeros(len(documents), np.int64), ends, ends)


def test_valid_labels_are_no_finding():
    """Evidence that stands where it should is counted and nothing else."""
    texts = {"a.md": RETURNS}
    look = labels(examined([("Back?", quote("a.md", "forty-five days", texts))], texts), {})

    assert (look.fact, look.findings) == ("1 VALID", ())


def test_states_are_found_and_named():
    """Moved, changed, ambiguous, lost and known to be lost are told apart, each with its question and what to do."""
    changed = RETURNS.replace("forty-five", "thirty")
    texts = {
        "a.md": "New.\n\n" + changed,
        "b.md": "Opening hours are long here.\nOpening hours are long here.",
    }
    questions = [
        ("moved", Evidence("a.md", 80, 108, "the depot pays the postage b")),
        ("changed", Evidence("a.md", 0, len(RETURNS), RETURNS)),
        ("ambiguous", Evidence("b.md", quote="Opening hours are long here.")),
        ("lost", Evidence("b.md", 3, 40, "Dogs are welcome on Fridays if quiet.")),
        ("known", Evidence("b.md", 3, 41, "Cats are welcome on Mondays if quiet.")),
    ]
    one = examined(questions, texts, marked=[(4, 0)])
    look = labels(one, reworded(one))
    found = kinds(look)

    assert look.fact == "1 MOVED, 2 CHANGED, 2 LOST"
    assert {kind: (finding.severity, finding.question_ids) for kind, finding in found.items()} == {
        "moved": ("note", ("q0",)),
        "changed": ("serious", ("q1",)),
        "ambiguous": ("serious", ("q2",)),
        "lost": ("serious", ("q3",)),
        "known to be lost": ("note", ("q4",)),
    }
    assert found["changed"].details[1:] == (f"  was: {RETURNS}", f"  now: {changed}")
    assert [place.start for place in ambiguous_places(one)[2, 0]] == [0, 29]


def test_copies_that_no_label_names():
    """Where labels count as written, a copy elsewhere is proposed; a named or a short one is not."""
    long, short = "Parcels are returned within forty-five days", "45 days"
    texts = {"a.md": f"{long}. {short}.", "b.md": f"{long}! {short}?", "c.md": "Nothing."}
    named = Evidence("a.md", 0, len(long), long, alternatives=(quote("b.md", long, texts),))
    open_ = examined([("one", quote("a.md", long, texts)), ("two", quote("a.md", short, texts))], texts)
    look, found = copies(open_, None)

    assert kinds(look)["copies"].question_ids == ("q0",)
    assert kinds(look)["copies"].severity == "serious"
    assert found == {(0, 0): [quote("b.md", long, texts)]}
    assert copies(examined([("one", named)], texts), None)[0].findings == ()


def test_copies_that_count_are_a_fact():
    """They are no fault then; the check of near copies still gets to know them."""
    texts = {"a.md": RETURNS, "b.md": RETURNS}
    one = examined([("one", quote("a.md", RETURNS, texts))], texts)
    look, found = copies(one, EqualTexts(1, 1, 2))

    assert look.findings == ()
    assert look.fact == (
        "1 label has equal texts elsewhere: 1 place counts as well; "
        "2 labels repeat the text of another label of the question; both count as one"
    )
    assert found == {(0, 0): [quote("b.md", RETURNS, texts)]}
    assert copies(one, EqualTexts(0, 0, 0))[0].fact == "no evidence is repeated elsewhere"


def test_nearly_the_same_words_elsewhere():
    """Another version with a word changed is shown; another number, a verbatim copy and the evidence itself are not."""
    texts = {
        "a.md": f"Intro. {RETURNS} Outro.",
        "b.md": "Before. " + RETURNS.replace("depot", "warehouse") + " After.",
    }
    one = examined([("Back?", quote("a.md", RETURNS, texts))], texts)
    found = kinds(near_copies(one, {}))["near copies"]

    assert found.question_ids == ("q0",)
    assert "b.md at 8" in found.details[0]
    assert near_copies(one, {(0, 0): [Evidence("b.md", 8, 90, "")]}).findings == ()
    numbered = RETURNS.replace("forty-five", "45")
    texts = {"a.md": numbered, "b.md": numbered.replace("45", "14")}
    assert near_copies(examined([("Back?", quote("a.md", numbered, texts))], texts), {}).findings == ()
    assert "not looked for" in near_copies(one, {}, most=10).fact


def test_questions_that_ask_the_same():
    """One word of ten may differ; a number may not, and other questions are left alone."""
    texts = {"a.md": RETURNS}
    evidence = quote("a.md", "forty-five days", texts)
    same = "within how many days may we send a whole parcel back"
    alike = examined(
        [(same, evidence), ("Who pays?", evidence), (same.replace("may", "can"), evidence)], texts
    )

    assert kinds(duplicates(alike))["near-duplicates"].question_ids == ("q0", "q2")
    other = examined([(f"{same} in {year}", evidence) for year in (2024, 2025)], texts)
    assert duplicates(other).findings == ()


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.lists(st.frozensets(st.sampled_from("abcdefghijkl"), min_size=3, max_size=9), max_size=8))
def test_no_pair_is_missed(bags):
    """Few pairs are compared, and still all those that share four fifths of their words are found."""
    everything = {
        (i, j)
        for j, one in enumerate(bags)
        for i, other in enumerate(bags[:j])
        if len(one & other) >= 0.8 * len(one | other)
    }

    sets = [np.array(sorted(map(ord, bag)), np.uint64) for bag in bags]

    assert set(similar_pairs(sets, 0.8)) == everything


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does it return?", True),
        ("How long does this take?", True),
        ("What does this section describe?", True),
        ("According to the author, why does it change?", True),
        ("What's its purpose?", True),
        ("What does it cost to return a parcel?", False),
        ("What does the freezer return?", False),
        ("Are they open on Sundays?", False),
        ("How long does E-109 take?", False),
        ("Why?", False),
        ("\u00bfQu\u00e9 devuelve esta funci\u00f3n?", False),
        ("\u5b83\u8fd4\u56de\u4ec0\u4e48\uff1f", False),
    ],
)
def test_questions_without_a_subject(question, expected):
    """A pronoun and nothing that names anything: nobody can know what is asked."""
    assert is_without_subject(question) is expected


def test_questions_without_a_subject_are_named():
    """The finding lists them."""
    texts = {"a.md": RETURNS}
    evidence = quote("a.md", "forty-five days", texts)
    look = subjects(examined([("What does it return?", evidence), ("Who pays postage?", evidence)], texts))

    assert kinds(look)["no subject"].question_ids == ("q0",)


def test_overlap_with_the_evidence():
    """The mean is told; quoting questions are a finding where there are enough of them to move a score."""
    texts = {"a.md": RETURNS}
    evidence = quote("a.md", RETURNS, texts)
    quoting = "the depot pays the postage both ways"
    few = examined(
        [(quoting, evidence)] + [(f"Who foots bill number {i}?", evidence) for i in range(60)], texts
    )
    many = examined([(quoting, evidence), ("Who foots the bill?", evidence)], texts)

    assert wording_overlap(few).findings == ()
    assert kinds(wording_overlap(many))["quoting"].severity == "serious"
    assert kinds(wording_overlap(many))["quoting"].question_ids == ("q0",)
    # Of the second question's four words only "the" stands in the evidence: (1 + 0.25) / 2.
    assert wording_overlap(many).fact.startswith("0.625 of a question's words")
    assert wording_overlap(examined([("a", Evidence("a.md"))], texts)).findings == ()


def test_lexical_recall():
    """The alarm rings where BM25 leaves less than ten points, or less than so many questions show; not among few chunks."""

    def look(recall, chunks=100, minimum_detectable_effect=0.06):
        found = LexicalRecall(["a", "b"], np.array([recall, 1.0]), np.array([1.0, 1.0]), chunks)
        return lexical_recall(found, minimum_detectable_effect)

    assert kinds(look(0.9))["leak alarm"].question_ids == ("a", "b")  # 0.95: five points are left
    assert look(0.7).findings == ()  # 0.85: fifteen are
    assert look(0.7, minimum_detectable_effect=0.2).findings != ()  # of which twenty would be needed
    assert look(1.0, chunks=20).findings == ()


def test_coverage_over_files_and_lengths():
    """One document with most questions, many without any, and long ones without theirs are each found; an even set is not."""
    texts = {f"{i:02}.md": f"Page {i} says something. " * (50 if i < 3 else 1) for i in range(12)}
    evenly = [(f"about {d}", quote(d, f"Page {int(d[:2])} says", texts)) for d in texts]
    long = [
        (f"more about {d} {i}", quote(d, "something", texts))
        for d in ("00.md", "01.md", "02.md")
        for i in range(2)
    ]

    assert coverage(examined(evenly + long, texts)).findings == ()
    assert kinds(coverage(examined(evenly, texts)))["long documents"].question_ids == ("q0", "q1")
    corner = kinds(coverage(examined([("a", quote("05.md", "something", texts))] * 12, texts)))
    assert set(corner) == {"one document", "unasked documents", "long documents"}
    assert "05.md" not in corner["unasked documents"].details
    giant = texts | {"00.md": texts["00.md"] * 9}
    found = kinds(coverage(examined([("a", quote("05.md", "something", giant))] * 12, giant)))
    assert found["long documents"].sentence.startswith("The longest document holds half of the text")


def test_where_evidence_stands():
    """More than half in the first third is a finding, from twenty pieces on."""
    texts = {f"{i:02}.md": "first words here. " + "and so on. " * 20 + "last words here." for i in range(20)}
    early = [("a", quote(d, "first words", texts)) for d in texts]
    late = [("b", quote(d, "last words", texts)) for d in texts]

    assert len(kinds(placement(examined(early, texts), whole(texts)))["early evidence"].question_ids) == 20
    assert placement(examined(early[:10] + late[10:], texts), whole(texts)).findings == ()
    assert placement(examined(early[:19], texts), whole(texts)).findings == ()


@pytest.mark.parametrize(
    ("tokens", "compared", "chunks", "expected"),
    [
        ([100, 120, 90], [128, 256], 3, ("short documents", "serious")),
        ([100, 120, 200], [128, 256, 512], 60, ("equal sizes", "note")),
        ([100] * 19 + [900], [128], 60, ("short documents", "note")),
        ([900, 1200], [256], 9, ("few chunks", "serious")),
        ([900, 1200, 5000], [128, 256], 60, None),
    ],
)
def test_documents_and_chunk_sizes(tokens, compared, chunks, expected):
    """Sizes that cut nothing, and corpora of a handful of chunks, are said before anybody compares them."""
    found = sizes(tokens, compared, chunks).findings

    assert [(finding.kind, finding.severity) for finding in found] == ([expected] if expected else [])


def test_how_many_questions():
    """No verdict, a coarse one, a fine one."""
    assert [f.severity for f in power("12 questions about 4 texts are too few.", None).findings] == [
        "serious"
    ]
    assert [f.severity for f in power("With 40 questions, 17 points.", 0.17).findings] == ["note"]
    assert power("With 40 questions, 17 points.", 0.17).findings[0].sentence.startswith("With 40")
    look = power("With 368 questions, a difference of 6 points.", 0.06)
    assert look == ("questions", "368 questions, a difference of 6 points", ())


def test_questions_that_stand_in_a_document_are_named_with_it():
    """A list of questions among the documents answers its own questions, whatever its line ends and blanks.

    Three of four stand in faq.md, one of them in other.md too; "Who pays it?" is too short to tell.
    """
    asked = [
        "Who pays the postage of a parcel?",
        "How long may a return take?",
        "Who pays it?",
        "Where is the depot?",
    ]
    texts = {
        "a.md": RETURNS,
        "faq.md": "Who pays the postage\r\nof a parcel?\r\nHow long may a return take?\r\nWho pays it?\r\n",
        "other.md": "People ask: Where is the depot? It is here.",
    }
    evidence = quote("a.md", "within forty-five days", texts)
    found = verbatim(examined([(text, evidence) for text in asked], texts))

    assert found.fact == "3 questions in 2 documents"
    (finding,) = found.findings
    assert finding.severity == "serious"
    assert finding.question_ids == ("q0", "q1", "q3")
    assert finding.sentence == (
        "3 questions stand word for word in a document, 2 of them in faq.md: every search finds that document."
    )
    assert finding.advice.endswith("corpus.exclude=[faq.md].")
    assert not verbatim(examined([(text, evidence) for text in asked[:3]], {"a.md": RETURNS})).findings
