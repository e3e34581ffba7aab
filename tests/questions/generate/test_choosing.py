from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.questions.generate.choosing import PassageOrder, stratified_order
from harness.records import Document


def prose(name, paragraphs):
    """Paragraphs of about 500 characters, each an excerpt of its own; words recur in other paragraphs by chance."""
    chance = random.Random(name)
    return "\n\n".join(
        " ".join(f"{chance.choice('bcdfgklmnprst')}{chance.choice('aeiou')}{chance.choice('lmnrst')}{chance.choice('aeiou')}k{chance.randrange(40)}e" for _ in range(70)) + "."
        for _ in range(paragraphs)
    )  # fmt: skip


def corpus(*counts):
    return [Document(f"{i:03d}.md", f"# Page {i}\n\n{prose(i, count)}") for i, count in enumerate(counts)]


MIXED = corpus(*[1] * 10, *[4] * 10, *[40] * 5, 400)


@settings(derandomize=True, max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=12),
    st.integers(0, 50),
    st.integers(0, 60),
    st.randoms(),
)
def test_more_passages_extend_the_first_ones_whatever_the_order_of_documents(counts, n, more, chance):
    """A set that is asked for again or grows is the same set; passages have different ids and each excerpt is in its document."""
    documents = corpus(*counts)
    shuffled = list(documents)
    chance.shuffle(shuffled)
    once, again = PassageOrder(documents, seed=3), PassageOrder(shuffled, seed=3)

    few = once.first(n)

    assert again.first(n + more)[: len(few)] == few
    assert once.first(n + more) == again.first(n + more)
    assert [passage for passage, _ in zip(again, range(n), strict=False)] == few
    assert len({passage.passage_id for passage in once}) == len(list(once))
    texts = {document.doc_id: document.text for document in documents}
    assert all(
        each.text == texts[each.doc_id][each.start : each.end]
        for passage in once
        for each in passage.excerpts
    )


def test_seeds_choose_differently():
    """Another seed is another sample."""
    assert PassageOrder(MIXED, seed=1).first(20) != PassageOrder(MIXED, seed=2).first(20)


def test_no_file_has_a_third_turn_before_each_had_one():
    """The longest file has 400 times the text of the shortest, and still waits."""
    counts = Counter()
    for passage in PassageOrder(MIXED, 6, pairs=0):
        doc_id = passage.excerpts[0].doc_id
        counts[doc_id] += 1
        if counts[doc_id] == 3:
            assert len(counts) == len(MIXED)
            break


@settings(derandomize=True, max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.just(0.0) | st.floats(0.01, 100)), max_size=12),
    st.integers(0, 9),
)
def test_every_beginning_of_the_turns_is_fair(files, seed):
    """Each file has all its turns, and none a third before all had a first."""
    ids = [str(i) for i in range(len(files))]
    counts = np.array([count for count, _ in files], np.int64)
    weights = np.array([weight for _, weight in files])

    order = stratified_order(ids, counts, weights, seed).tolist()

    assert Counter(order) == Counter(
        {i: count for i, (count, weight) in enumerate(files) if count and weight}
    )
    had = Counter()
    for i in order:
        had[i] += 1
        assert had[i] < 3 or len(had) == len(set(order))


def test_shares_grow_with_the_square_root_of_the_text():
    """Files of 4, 16, 64 and 256 paragraphs have turns as 1 to 2 to 4 to 8 until the first has none left."""
    counts = Counter(p.excerpts[0].doc_id for p in PassageOrder(corpus(4, 16, 64, 256), 5, pairs=0).first(60))
    # 60 = 15 * (1 + 2 + 4 + 8) would be 4, 8, 16, 32; systematic sampling is within one turn of that.

    assert all(abs(counts[f"{i:03d}.md"] - 4 * 2**i) <= 1 for i in range(4))


def test_short_files_come_first_as_often_as_their_share():
    """With more files than questions, chance decides in proportion: 300 files of weight 1, 10 of weight 5."""
    counts, weights = np.array([1] * 300 + [25] * 10), np.array([1.0] * 300 + [5.0] * 10)
    ids = [str(i) for i in range(310)]

    heavy = sum(int((stratified_order(ids, counts, weights, seed)[:35] >= 300).sum()) for seed in range(100))

    # 35 * 100 * 50 / 350 = 500 of 3,500 are expected, give or take sqrt(500 * 6 / 7) = 21.
    assert 430 < heavy < 570


def test_a_fifth_of_the_passages_at_least_has_two_excerpts():
    """At any number asked for; the two are different paragraphs in the order of the documents."""
    passages = PassageOrder(MIXED, 1).first(250)
    texts = {document.doc_id: document.text for document in MIXED}

    for n in range(1, 251):
        assert 5 * sum(len(passage.excerpts) == 2 for passage in passages[:n]) >= n
    for one, other in (passage.excerpts for passage in passages if len(passage.excerpts) == 2):
        assert (one.doc_id, one.end) < (other.doc_id, other.start)
        assert one.doc_id != other.doc_id or "\n\n" in texts[one.doc_id][one.end : other.start]


def test_pieces_of_one_long_paragraph_are_no_pair():
    """They would be one passage, and one chunk holds both."""
    text = " ".join(f"{prose(i, 1)}" for i in range(8))

    assert all(len(passage.excerpts) == 1 for passage in PassageOrder([Document("a.md", text)]))


def test_documents_that_share_rare_words_are_combined():
    """Two notes of one paragraph each, about the same rare device; a third is about something else."""
    about = "The Quorvex calibrator with its Blemish adapter and the Zanthor cable "
    documents = [
        Document(f"{i}.md", start + prose(i, 1))
        for i, start in enumerate((about, "Everything about tea. ", about))
    ]
    filler = [Document(f"x{i}.md", prose(f"x{i}", 1)) for i in range(40)]

    pairs = [p for p in PassageOrder(documents + filler, pairs=1.0) if len(p.excerpts) == 2]

    assert ("0.md", "2.md") in {tuple(each.doc_id for each in passage.excerpts) for passage in pairs}


def test_of_copies_one_is_asked_about_and_the_others_come_last():
    """The one chosen knows the other's place; a copy with another number is asked about last, one that is the same never."""
    text = prose("copied", 1)
    documents = [
        Document("2024.md", text),
        Document("2025.md", text.replace(text.split()[30], "2025")),
        Document("2026.md", text.replace(" ", "\n")),
        *corpus(3, 3),
    ]

    passages = PassageOrder(documents, 2, pairs=0).first(100)

    years = [at for at, passage in enumerate(passages) if passage.excerpts[0].doc_id.startswith("20")]
    assert len(years) == 2
    assert years[1] == len(passages) - 1 == 7
    copies = {each.doc_id for each in passages[years[0]].excerpts[0].copies}
    assert copies | {passages[years[0]].excerpts[0].doc_id} == {"2024.md", "2025.md", "2026.md"}


def test_unchanged_text_keeps_its_passage_id():
    """A paragraph put in front moves every offset and no id; a changed word changes the id of its own passage."""
    document = corpus(6)[0]
    moved = Document(document.doc_id, f"{prose('new', 1)}\n\n{document.text}")
    ids = {passage.passage_id for passage in PassageOrder([document], pairs=0)}

    assert ids < {passage.passage_id for passage in PassageOrder([moved], pairs=0)}
    edited = Document(document.doc_id, document.text.rstrip(".") + " otherwise.")
    assert len(ids & {passage.passage_id for passage in PassageOrder([edited], pairs=0)}) == 5
    assert all(len(each) == 32 and int(each, 16) >= 0 for each in ids)


def test_a_small_corpus_gives_what_it_has():
    """Documents without prose are named, and asking for more than there is is no error."""
    choice = PassageOrder([*corpus(2), Document("code.md", "```\nx = 1\n```"), Document("empty.md", "")])

    assert len(choice.first(200)) == 2
    assert PassageOrder([]).first(5) == []


def test_passages_of_a_file_are_spread_over_it():
    """The first ten of four hundred do not stand together."""
    starts = sorted(p.excerpts[0].start for p in PassageOrder(corpus(400), 1, pairs=0).first(10))
    length = len(corpus(400)[0].text)

    assert starts[0] < length / 3
    assert starts[-1] > 2 * length / 3
    assert max(other - one for one, other in pairwise(starts)) < length / 2
