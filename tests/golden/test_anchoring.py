from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.golden.anchoring import anchor
from harness.golden.doc_ids import Names
from harness.golden.omissions import in_parts
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


FINE = 4  # labels that are always found, so that most are


def check(evidence, documents=None, *, keep_lost=False, others=True):
    """One question with ``evidence``, beside one that is always fine and has more labels."""
    documents = DOCUMENTS if documents is None else documents
    questions = [Question("q", "how?", tuple(evidence))]
    if others:
        documents = [*documents, Document("fine.md", "fine" * FINE)]
        fine = (Evidence("fine.md", 4 * i, 4 * i + 4) for i in range(FINE))
        questions.append(Question("fine", "fine?", tuple(fine)))
    return anchor(
        questions,
        documents,
        name="n",
        path=Path("golden.jsonl"),
        digest="d",
        keep_lost=keep_lost,
        twins=False,
    )


def states(labels):
    """The counts, without the question that is always fine."""
    counts = {state: count for state, count in labels.states.items() if count}
    counts["VALID"] -= FINE
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


def by_words(quote, text):
    """Every place of the quote's words, with any white space between them, found by a regular expression."""
    pattern = r"\s+".join(map(re.escape, quote.split()))
    return [match.span() for match in re.finditer(pattern, text)]


def letters(text):
    """Its letters and digits alone, which no typography and no markup changes."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFC", text)))


INSERTED = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40) | st.text(
    " \n\r\t\u3000", min_size=1
)


@settings(derandomize=True, max_examples=300)
@given(st.integers(0, len(REFUNDS)), INSERTED)
def test_text_put_in_anywhere_moves_labels_or_changes_those_it_cuts(at, new):
    """A quote that still stands once is VALID or MOVED and stands at its new offsets; one that was cut apart is kept out."""
    edited = replace(DOCUMENTS[0], text=REFUNDS[:at] + new + REFUNDS[at:])
    for given_ in (label(PAID), label(BROKEN)):
        labels = check([given_], [edited, DOCUMENTS[1]])
        places = by_words(given_.quote, edited.text)
        if len(places) == 1:
            (found,) = evidence_of(labels)
            assert (found.start, found.end) == places[0]
            assert edited.text[found.start : found.end] == found.quote
            assert set(states(labels)) <= {"VALID", "MOVED"}
        elif "q" in labels.left_out:
            assert set(states(labels)) <= {"CHANGED", "LOST"}
        else:
            (found,) = evidence_of(labels)
            assert letters(found.quote) == letters(given_.quote)


@settings(derandomize=True, max_examples=60)
@given(st.integers(0, len(PAID) - 1))
def test_one_changed_letter_is_no_lost_passage(at):
    """An edited sentence is CHANGED, and the reason says where something like it stands."""
    edited = replace(DOCUMENTS[0], text=REFUNDS.replace(PAID, PAID[:at] + "%" + PAID[at + 1 :]))

    labels = check([label(PAID)], [edited, DOCUMENTS[1]])

    assert states(labels) == {"CHANGED": 1}
    assert (
        "CHANGED: only something like the quote “A refund is paid within thirty days of …” stands in refunds.md"
        in labels.left_out["q"]
    )


def test_other_white_space_is_no_change():
    """A reflowed paragraph says what it said: VALID at the label's own offsets, else MOVED, and the quote is the document's.

    The same place twice, with offsets and without, counts once.
    """
    edited = replace(DOCUMENTS[0], text=REFUNDS.replace("thirty days", "thirty\n  days"))

    labels = check([label(PAID), label(BROKEN), label("thirty days of"), Evidence("", quote=PAID)], [edited])

    assert states(labels) == {"VALID": 3, "MOVED": 1}
    paid = label("A refund is paid within thirty\n  days of the purchase", edited)
    assert evidence_of(labels) == (paid, label(BROKEN, edited), label("thirty\n  days of", edited))


@pytest.mark.parametrize("ending", ["\r\n", "\n", "\r", " ", "\n\n   "])
def test_line_ends_do_not_matter(ending):
    """A quote over two lines, its label counted in a file with other line ends: found, and no copy is taken for it."""
    document = Document(
        "d.md",
        f"a{ending}b{ending}x{ending}The first line{ending}and the second.{ending}{ending}The first line or third.",
    )

    labels = check(
        [
            Evidence("d.md", 6, 36, "The first line\nand the second."),
            Evidence("d.md", quote="line\nor third.\n"),
        ],
        [document],
    )

    first, second = evidence_of(labels)
    assert first.quote == f"The first line{ending}and the second."
    assert second.quote == "line or third."
    for place in (first, second):
        assert document.text[place.start : place.end] == place.quote
    assert states(labels) == ({"VALID": 2} if len(ending) == 1 else {"MOVED": 1, "VALID": 1})


def test_white_space_does_not_join_words():
    """Blanks may be more or fewer, not none: "the rapist" is no "therapist"; neither where the label says nor elsewhere."""
    document = Document("d.md", "a good therapist is here")
    quote = "a good the rapist is here"

    labels = check([Evidence("d.md", 0, 24, quote), Evidence("d.md", quote=quote)], [document])

    assert states(labels) == {"CHANGED": 2}


def test_copies_are_all_named_whatever_their_white_space():
    """The unit names both places, in the layout of another file: nothing is doubtful."""
    document = Document("d.md", "one  two. Or else:  one  two.")
    unit = Evidence("d.md", quote="one two.", alternatives=(Evidence("d.md", quote="one\ntwo."),))

    labels = check([unit], [document])

    (found,) = evidence_of(labels)
    assert [(place.start, place.end) for place in found.places] == [(0, 9), (20, 29)]


def test_copies_that_differ_in_white_space_are_copies():
    """Two places with the same words are as doubtful as two with the same characters."""
    document = Document("d.md", "one two three four.\n\none two\nthree four.\n")

    labels = check([Evidence("d.md", quote="one  two three four.")], [document])

    assert labels.left_out["q"].startswith(
        "AMBIGUOUS: the quote “one two three four.” stands in 2 places: d.md at 0, 21;"
    )


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
    assert labels.left_out["q"] == (
        "LOST: the quote “40 seats” is not in plans.md, and is too short to search for in other documents; "
        "there is no document plans.md"
    )


@pytest.mark.parametrize("shift", [1, 5])
def test_a_quote_in_several_places_is_not_certain(shift):
    """Once the label's own offset no longer holds, copies can't be told apart: kept out, with the places listed."""
    document = Document("d.md", "x" * shift + "the same sentence. and the same sentence.")
    given_ = Evidence("d.md", 30, 47, "the same sentence")

    labels = check([given_], [document])

    assert states(labels) == {"CHANGED": 1}
    assert (
        labels.left_out["q"]
        == f"AMBIGUOUS: the quote “the same sentence” stands in 2 places: d.md at {shift}, {shift + 23}; "
        "give start and end, or name the others as alternatives"
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
        "LOST: there is no document x.md"
    )


def test_whole_documents_are_there_or_not():
    """A document label is VALID or LOST."""
    assert states(check([Evidence("plans.md")])) == {"VALID": 1}
    labels = check([Evidence("plans.md"), Evidence("plan.md")])
    assert labels.left_out == {"q": "LOST: there is no document plan.md. Did you mean plans.md?"}


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
def test_a_doubtful_quote_alone_is_no_other_corpus(keep_lost):
    """The one question has a quote that stands in three places: the error lists them, and says nothing of another corpus."""
    documents = [
        Document("guide.md", "Save the file. Then save the file. Save the file."),
        Document("my faq.md", "Save the file."),
    ]

    with pytest.raises(InputError) as caught:
        check([Evidence("", quote="Save the file.")], documents, keep_lost=keep_lost, others=False)

    message = str(caught.value)
    assert (
        '"q": AMBIGUOUS: the quote “Save the file.” stands in 3 places: guide.md at 0, 35, "my faq.md" at 0; '
        "give start and end, or name the others as alternatives."
    ) in message
    assert "another corpus" not in message


def test_changed_documents_are_no_other_corpus():
    """Something like the quote stands there."""
    with pytest.raises(InputError, match=r"near 0\. The documents changed since the questions were written"):
        check([replace(label(PAID), quote=PAID.replace("thirty", "ten"))], others=False)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("giude.md", "guide.md"),
        ("Guide.MD", "guide.md"),
        ("docs\\guide.md", "guide.md"),
        ("install.md", "how to/install.md"),
        ("guide", "guide.md"),
        ("notes-2024.md", None),
        ("a.md", None),
        ("xylophone.md", None),
    ],
)
def test_a_wrong_name_of_a_document_is_told_with_the_right_one(wrong, meant):
    """A slip, another case, another folder; but no other year, and nothing that is only a little alike."""
    documents = [
        Document(name, "text") for name in ("guide.md", "how to/install.md", "notes-2025.md", "b.md")
    ]
    hint = {None: "", "how to/install.md": '. Did you mean "how to/install.md"?'}.get(
        meant, f". Did you mean {meant}?"
    )

    labels = check([Evidence(wrong), Evidence(wrong, quote="a long quote of no document")], documents)

    assert labels.left_out["q"] == (
        f"LOST: there is no document {wrong}{hint}{' ' if hint else '; '}"
        f"LOST: the quote “a long quote of no document” of {wrong} stands in no document; there is no document {wrong}{hint}"
    )


@pytest.mark.parametrize("quote", [None, "short", "a quote of more than a few words", "the same text"])
def test_a_wrong_name_alone_is_no_other_corpus(quote):
    """The only question names no document, but almost one: the error says which, and nothing of another corpus."""
    documents = [
        Document("guide.md", "Here is the same text. It is the same text."),
        Document("b.md", "Nothing."),
    ]

    with pytest.raises(
        InputError, match=r"there is no document giude\.md\. Did you mean guide\.md\? Correct"
    ) as caught:
        check([Evidence("giude.md", quote=quote)], documents, others=False)

    assert "another corpus" not in str(caught.value)


def test_a_doubtful_quote_of_no_document_names_the_document():
    """Places and the right name come together."""
    documents = [Document("guide.md", "Here is the very same text. It is the very same text.")]

    labels = check([Evidence("giude.md", quote="is the very same text")], documents)

    assert labels.left_out["q"].startswith("AMBIGUOUS: the quote “is the very same text” stands in 2 places")
    assert labels.left_out["q"].endswith("; there is no document giude.md. Did you mean guide.md?")


def test_many_wrong_names_cost_little():
    """A thousand wrong names among ten thousand documents without a number each get a suggestion."""
    letters = "abcdefghij"
    ids = ["".join(letters[int(digit)] for digit in f"{i:04d}") + ".md" for i in range(10_000)]
    names = Names(ids)

    said = [names.no_document(f"{name[:-3]}x.md") for name in ids[:1000]]

    assert said[0] == "there is no document aaaax.md. Did you mean aaaa.md?"
    assert said[-1] == f"there is no document {ids[999][:-3]}x.md. Did you mean {ids[999]}?"


def test_a_quote_as_the_browser_shows_it_is_found():
    """HTML is read as it is; the label gets the source text, from the first word to the last."""
    document = Document("page.html", "<p>Fish &amp; chips&nbsp;<b>cost</b> twelve&nbsp;euros</p>")

    labels = check(
        [Evidence("page.html", quote="Fish & chips cost twelve euros"), Evidence("", quote="chips cost")],
        [document],
    )

    assert states(labels) == {"VALID": 2}
    assert [found.quote for found in evidence_of(labels)] == [
        "Fish &amp; chips&nbsp;<b>cost</b> twelve&nbsp;euros",
        "chips&nbsp;<b>cost",
    ]


@pytest.mark.parametrize("keep_lost", [False, True])
def test_a_golden_set_for_another_corpus_is_refused(keep_lost):
    """Not one label found: an error with the counts and what to check, not a table of zeros."""
    with pytest.raises(InputError) as caught:
        check([Evidence("a.md"), Evidence("b.md", 0, 3)], keep_lost=keep_lost, others=False)

    message = str(caught.value)
    assert "no question of 1 can be scored against the corpus (documents: 2; evidence: " in message
    assert "; evidence: 0 VALID, 0 MOVED, 0 CHANGED, 2 LOST)" in message
    assert "looks like a golden set for another corpus: check corpus.path, golden.path" in message


def test_one_lost_unit_in_every_question_is_another_matter():
    """The corpus is the right one then, and the message offers keep_lost."""
    with pytest.raises(InputError, match=r"Evidence of every question changed or is lost.*keep_lost=true"):
        check([label(PAID), Evidence("x.md")], others=False)


def test_a_quote_in_another_typography_is_valid():
    """Case of ASCII typed for typeset text: the document's own characters become the quote."""
    text = "x The ﬁrst “gold” plan for 20–30 € is in\u00adstalled. Die Ku\u0308ndigungsfrist. y"
    document = Document("d.md", text)
    quote = 'The first "gold" plan for 20-30 € is installed.'

    labels = check(
        [Evidence("d.md", 2, 49, quote), Evidence("d.md", quote="die Kündigungsfrist")], [document]
    )

    assert states(labels) == {"VALID": 2}
    assert [found.quote for found in evidence_of(labels)] == [text[2:49], "Die Ku\u0308ndigungsfrist"]


def test_an_omission_makes_two_pieces_of_evidence():
    """In order and in one document; in two ways it is ambiguous, in none it stays as it is."""
    text = (
        "Hardware is excluded unless it arrived broken. Ask billing. Hardware is excluded unless it is old."
    )
    document = Document("d.md", text)
    once = Evidence("d.md", quote="excluded unless it arrived … Ask billing")
    twice = Evidence("", quote="Ask billing [...] is excluded unless")
    several = Evidence("d.md", quote="Hardware is excluded ... is old")
    turned = Evidence("d.md", quote="it is old. ... Ask billing.")

    found = in_parts([once, twice, several, turned], [document])

    assert [(part.start, part.end, part.quote) for part in found[once]] == [
        (12, 38, "excluded unless it arrived"),
        (47, 58, "Ask billing"),
    ]
    assert [part.start for part in found[twice]] == [47, 69]
    assert [(part.start, part.quote) for part in found[several]] == [
        (None, "Hardware is excluded"),
        (None, "is old"),
    ]
    assert turned not in found


def test_a_label_stays_in_a_document_that_is_there():
    """Its paragraph was rewritten, and a copy elsewhere still has the old words: CHANGED, never moved there; also with two copies."""
    edited = replace(DOCUMENTS[0], text=REFUNDS.replace(PAID, "Nothing of it is left."))
    copies = [Document("copy.md", "x" + REFUNDS), Document("other.md", "xy" + REFUNDS)]

    for n in (1, 2):
        labels = check([label(PAID), label(BROKEN)], [edited, *copies[:n]])

        assert states(labels) == {"CHANGED": 1, "MOVED": 1}
        assert "is not in refunds.md, and stands in copy.md at " in labels.left_out["q"]
        assert labels.left_out["q"].endswith("; if it moved there, give that doc_id")


def test_the_new_wording_at_home_comes_before_a_copy():
    """Something like the quote is left in its own document: that is named, and not the copy."""
    edited = replace(DOCUMENTS[0], text=REFUNDS.replace("thirty", "sixty"))

    labels = check([label(PAID), label(BROKEN)], [edited, Document("copy.md", "x" + REFUNDS)])

    assert states(labels)["CHANGED"] == 1
    assert "stands in refunds.md, near " in labels.left_out["q"]
