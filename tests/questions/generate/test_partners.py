from __future__ import annotations

import random
from itertools import combinations

from harness.questions.generate import Excerpt
from harness.questions.generate.excerpts import with_copies
from harness.text.words import units


def excerpts(*texts):
    return [[Excerpt(f"{i:04d}", 0, len(text), text)] for i, text in enumerate(texts)]


def copies(*texts):
    """For each text the positions of its copies."""
    return [[int(copy.doc_id) for copy in own[0].copies] for own in with_copies(excerpts(*texts))]


def jaccard(one, other):
    runs = [
        {tuple(words[i : i + 3]) for i in range(max(1, len(words) - 2))}
        for words in (units(one), units(other))
    ]
    return len(runs[0] & runs[1]) / len(runs[0] | runs[1])


def test_one_word_in_forty_makes_no_other_text():
    """Another year is a copy (35 of 41 runs of three words are shared, 0.85), another subject is none."""
    words = [f"word{i}" for i in range(40)]
    changed = [*words[:20], "other", *words[21:]]

    assert copies(" ".join(words), " ".join(changed), " ".join(reversed(words))) == [[1], [0], []]


def test_white_space_and_case_are_nothing():
    """Line breaks move when a page is copied."""
    text = "The gateway keeps its readings for three days when there is no network."
    assert copies(text, text.replace(" ", "\r\n  ").upper()) == [[1], [0]]


def test_chinese_is_compared_by_the_character():
    """One changed character in 62 leaves a copy."""
    text = "在没有网络的情况下网关会将读数保存三天然后再发送给服务器此外用户可以在控制台中查看所有传感器的历史记录并导出为表格文件以供审计"
    assert copies(text, text.replace("三", "五"), text[::-1]) == [[1], [0], []]


def test_agrees_with_comparing_all_pairs():
    """Every pair of at least 0.75 is found, none below 0.7; copies are in the order given and have none of their own."""
    chance = random.Random(5)
    texts = []
    for i in range(40):
        words = [f"w{chance.randrange(500)}" for _ in range(chance.randrange(30, 120))]
        texts.append(" ".join(words))
        for _ in range(chance.randrange(4)):
            for _ in range(chance.randrange(1, 6)):
                words[chance.randrange(len(words))] = f"x{i}{chance.randrange(99)}"
            texts.append(" ".join(words))
    found = with_copies(excerpts(*texts))

    pairs = {(int(own[0].doc_id), int(copy.doc_id)) for own in found for copy in own[0].copies}
    assert all((other, one) in pairs for one, other in pairs)
    for one, other in combinations(range(len(texts)), 2):
        likeness = jaccard(texts[one], texts[other])
        assert ((one, other) in pairs) or likeness < 0.75
        assert ((one, other) not in pairs) or likeness >= 0.7
    assert len(pairs) > 60
    assert all(copy.copies == () for own in found for copy in own[0].copies)
    assert all(
        [copy.doc_id for copy in own[0].copies] == sorted(copy.doc_id for copy in own[0].copies)
        for own in found
    )


def test_a_template_on_a_thousand_pages_has_twenty_copies():
    """Time and memory grow with the corpus, not with its square."""
    found = copies(
        *["This page describes the settings of the device and how they are changed by its owner."] * 1000
    )

    assert all(len(own) == 20 for own in found)


def test_nothing_and_almost_nothing():
    """No excerpts, one, and texts of fewer than three words or none."""
    assert with_copies([]) == []
    assert copies("alone") == [[]]
    assert copies("two words", "two words", "!", "!") == [[1], [0], [], []]
