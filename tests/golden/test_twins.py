"""Equal texts are alternatives of one another, wherever a label stands."""

from __future__ import annotations

import json

import pytest

from harness.golden import EqualTexts
from harness.golden.beir import BeirGolden
from harness.golden.file import FileGolden
from harness.golden.twins import with_twins
from harness.records import Document, Evidence, Question

FEE = "The late fee is 12 euros for each day"


def documents(**texts):
    return [Document(doc_id, text, position=i) for i, (doc_id, text) in enumerate(texts.items())]


def at(doc_id, start, end, corpus, **fields):
    text = next(document.text for document in corpus if document.doc_id == doc_id)
    return Evidence(doc_id, start, end, text[start:end], **fields)


def quote(text, doc_id, corpus, **fields):
    start = next(document.text for document in corpus if document.doc_id == doc_id).index(text)
    return at(doc_id, start, start + len(text), corpus, **fields)


def places(evidence, corpus):
    """The places of one question's evidence, piece for piece, and the counts."""
    (question,), equal = with_twins([Question("q", "?", tuple(evidence))], corpus)
    return [[(p.doc_id, p.start, p.end) for p in unit.places] for unit in question.evidence], equal


def test_words_stand_elsewhere_in_any_white_space():
    """A line break is no other text; the span there has its own characters. The other way round too."""
    corpus = documents(
        a=f"x. {FEE}.", b=FEE.replace("fee is", "fee\n  is") + "! y", c="The late fee is 12 euros"
    )
    one, other = ("a", 3, 40), ("b", 0, 39)

    assert places([quote(FEE, "a", corpus)], corpus) == ([[one, other]], EqualTexts(1, 1, 0))
    assert places([at("b", 0, 39, corpus)], corpus) == ([[other, one]], EqualTexts(1, 1, 0))


def test_white_space_around_a_quote_stands_around_its_copies():
    """Where it does not, the copy has none."""
    corpus = documents(a=f"x. {FEE}.", b=f"y. {FEE}.", c=f"{FEE}.")

    assert places([at("a", 2, 40, corpus)], corpus)[0] == [[("a", 2, 40), ("b", 2, 40), ("c", 0, 37)]]


@pytest.mark.parametrize(
    ("own", "other", "is_twin"),
    [
        ("it is allowed to hold 5.", "it is allowed to hold 50.", False),
        ("it is allowed to hold 5.", "it is allowed to hold 5.5 kg", False),
        ("it is allowed to hold 5.", "it is allowed to hold 5,000", False),
        ("it is allowed to hold 5.", "(it is allowed to hold 5)", True),
        ("it is allowed to hold 5.", "twit is allowed to hold 5", False),
        ("it is allowed to hold 5. 6", "it is allowed to hold 5,6", False),
    ],
)
def test_part_of_a_word_or_number_is_another_one(own, other, is_twin):
    """The label is the first 23 characters: "5" is not "50", nor "5.5"."""
    corpus = documents(a=own, b=other)

    assert (places([at("a", 0, 23, corpus)], corpus)[1].places == 1) is is_twin


def test_scripts_without_blanks_have_no_such_borders():
    """A sentence of Chinese between other characters is a copy as well."""
    words = "退货必须在四十五天之内送达仓库并且包装完好"
    corpus = documents(a=f"{words}。", b=f"规定{words}否则不予受理")

    assert places([quote(words, "a", corpus)], corpus)[1] == EqualTexts(1, 1, 0)


def test_short_quotes_have_copies_only_in_a_copy_of_their_document():
    """15 characters elsewhere answer nothing; in a document with the same text they do."""
    corpus = documents(a="Fee: 12 euros a day.", b="12 euros a day", c="Fee: 12 euros a day.")

    assert places([quote("12 euros a day", "a", corpus)], corpus)[0] == [[("a", 5, 19), ("c", 5, 19)]]


@pytest.mark.parametrize(("copies", "twins"), [(99, 99), (100, 0)])
def test_what_stands_in_more_than_a_hundred_places_is_boilerplate(copies, twins):
    """Its own place is one of the hundred."""
    corpus = documents(a=f"{FEE}.", b=" ".join(f"{i} {FEE}." for i in range(copies)))

    assert places([quote(FEE, "a", corpus)], corpus)[1] == EqualTexts(int(twins > 0), twins, 0)


def test_copies_that_overlap_the_evidence_are_none():
    """Every second one of these overlaps the label; an alternative that is named already is not added."""
    corpus = documents(a="ab ab ab ab ab ab ab ab ab ab ab ab ab ab", b=f"{FEE}.", c=f"{FEE}.")
    (own,), _ = places([at("a", 0, 17, corpus)], corpus)

    assert own == [("a", 0, 17), ("a", 18, 35), ("a", 21, 38), ("a", 24, 41)]
    named = quote(FEE, "b", corpus, alternatives=(quote(FEE, "c", corpus),))
    assert places([named], corpus) == ([[("b", 0, 37), ("c", 0, 37)]], EqualTexts(0, 0, 0))


def test_whole_documents_are_equal_if_the_text_that_is_embedded_is():
    """White space aside, the title before the text included; an unlabelled pair of equal texts is left alone."""
    corpus = [
        Document("a", "Boots dry best near the stove.", "Boots", "Boots "),
        Document("b", "Boots dry\nbest near the stove. ", "Boots", "Boots "),
        Document("c", "Boots dry best near the stove."),
        Document("d", "Boots Boots dry best near the stove."),
        Document("e", "Tea."),
        Document("f", "Tea."),
    ]

    assert places([Evidence("b")], corpus) == (
        [[("b", None, None), ("a", None, None), ("d", None, None)]],
        EqualTexts(1, 2, 0),
    )
    assert places([Evidence("c")], corpus)[1] == EqualTexts(0, 0, 0)


def test_two_labels_with_one_text_are_one_piece_with_the_higher_grade():
    """Recall would count the same answer twice. Other pieces stay, and two questions are independent."""
    corpus = documents(a=f"x. {FEE}. Paid at the desk.", b=f" {FEE}!", c="Tea.", d="Tea.")
    pieces = [
        quote(FEE, "a", corpus),
        quote("Paid at the desk", "a", corpus),
        at("b", 0, 38, corpus, grade=3),
        Evidence("d"),
        Evidence("c", grade=2),
    ]
    (question, other), equal = with_twins(
        [Question("q", "?", tuple(pieces)), Question("r", "?", (pieces[2],))], corpus
    )

    assert [(unit.doc_id, unit.grade) for unit in question.evidence] == [("a", 3), ("a", 1), ("d", 2)]
    assert [p.doc_id for p in question.evidence[0].alternatives] == ["b"]
    assert [p.doc_id for p in question.evidence[2].alternatives] == ["c"]
    assert [p.doc_id for p in other.evidence[0].places] == ["b", "a"]
    assert equal == EqualTexts(1, 1, 2)


def file_golden(tmp_path, evidence, **fields):
    path = tmp_path / "golden.jsonl"
    path.write_text(json.dumps({"question": "How much?", "evidence": evidence}) + "\n")
    return FileGolden(str(path), **fields)


def test_only_a_label_with_a_place_has_copies(tmp_path):
    """An AMBIGUOUS quote stays so, and lost evidence that is kept does not come back by its words."""
    corpus = documents(a=f"{FEE}.", b=f"{FEE}.", c="Tea is brewed at eighty degrees.")
    tea = {"doc_id": "c"}
    (left,) = file_golden(tmp_path, [{"doc_id": "a", "quote": FEE}]).load(corpus).questions
    assert [place.doc_id for place in left.evidence[0].places] == ["a", "b"]

    ambiguous = [{"doc_id": "gone", "quote": FEE}, tea]
    labels = file_golden(tmp_path, ambiguous, keep_lost=True).load(corpus)
    assert [len(unit.places) for unit in labels.questions[0].evidence] == [1, 1]
    assert labels.equal_texts == EqualTexts(0, 0, 0)


def test_labels_may_count_as_written(tmp_path):
    """With twins=false nothing is added, joined or counted."""
    corpus = documents(a=f"{FEE}.", b=f"{FEE}.")
    both = [{"doc_id": "a"}, {"doc_id": "b"}]

    written = file_golden(tmp_path, both, twins=False).load(corpus)
    assert [unit.places for unit in written.questions[0].evidence] == [(Evidence("a"),), (Evidence("b"),)]
    assert written.equal_texts is None
    labels = file_golden(tmp_path, both).load(corpus)
    assert (len(labels.questions[0].evidence), labels.equal_texts) == (1, EqualTexts(0, 0, 1))


def test_judged_documents_have_copies_too(tmp_path):
    """golden=beir: the document that was judged and the one with the same text."""
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "boots?"}\n')
    (tmp_path / "qrels.tsv").write_text("q\tb\t2\n")
    corpus = documents(a="Boots dry best.", b="Boots dry  best.", c="Tea.")
    (question,) = BeirGolden(str(tmp_path)).load(corpus).questions

    assert question.evidence == (Evidence("b", grade=2, alternatives=(Evidence("a", grade=2),)),)
    (written,) = BeirGolden(str(tmp_path), twins=False).load(corpus).questions
    assert written.evidence == (Evidence("b", grade=2),)
