"""What a word is, in all of Unicode, and how many of its words a question shares with its evidence."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import SettingError
from harness.text.search_terms import search_terms
from harness.text.words import is_unspaced, overlap, size, stop_words, units, words


def test_hand_worked_shares():
    """Distinct lower-cased words, nothing left out; then without stop words and by stem."""
    # how, many, days, do, i, have, to, return, a, sensor: 10 words.
    # In the quotes: days, return, a, to = 4 of 10.
    # Stopped: many, days, return, sensor ("how", "do", "i", "have", "to", "a" go).
    # Stems mani, day, return, sensor;
    # the quotes hold day (days), return (return, returned) and sensor (sensors) = 3 of 4.
    result = overlap(
        "How many days do I have to return a sensor?",
        ["Within 45 DAYS of delivery a Pip can be RETURNED,", "no need to return both sensors."],
    )

    assert result == (0.4, 0.75)


def test_apostrophes_and_hyphens_part_words_and_case_does_not_count():
    """What makes Chroma's published set come out at 0.487."""
    # it, s, high, tech: 4 words; the quote has it, s and tech.
    assert overlap("It's high-tech?", ["IT'S a tech"]).plain == 0.75


def test_every_combining_mark_stays_in_its_word():
    """All of Unicode's, wherever they lie (those of scripts without blanks stand for themselves)."""
    marks = [
        chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in {"Mn", "Mc"}
    ]
    assert len(marks) > 2000
    wrong = [
        m
        for m in marks
        if not is_unspaced(m) and units(f"x{m}y") != [unicodedata.normalize("NFC", f"x{m}y").lower()]
    ]
    assert wrong == []


def test_letters_are_those_of_python():
    r"""Words are made of what ``\w`` matches in Python's own ``re`` and of marks, in all of its Unicode."""
    known = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) != "Cn"]
    letter = re.compile(r"\w")
    has_letter = {c: bool(letter.search(unicodedata.normalize("NFKC", c).lower())) for c in known}

    assert [c for c in known if bool(list(search_terms(c, 1))) != has_letter[c]] == []
    marks = {c for c in known if unicodedata.category(c) in {"Mn", "Mc"}}
    spaced = [c for c in known if not is_unspaced(c) and unicodedata.normalize("NFC", c) == c]
    assert [c for c in spaced if bool(units(c)) != (c in marks or bool(letter.match(c)))] == []


def test_a_repeated_word_counts_once():
    """Words are distinct: who, is, that; one of three."""
    assert overlap("who who who is that", ["who", "who"]).plain == 1 / 3


def test_chinese_counts_by_pairs_of_characters():
    """A single character is in every text; 退货期限 is 退货, 货期, 期限, of which the quote has two."""
    assert words("退货期限") == ["退货", "货期", "期限"]
    assert overlap("退货期限", ["退货的期限"]).plain == 2 / 3


def test_words_of_other_scripts_stay_whole():
    """Combining marks are part of their word, and equal characters are equal however they are composed."""
    assert words("हिन्दी में") == ["हिन्दी", "में"]
    assert words("cafe\u0301 سلامٌ") == ["café", "سلامٌ"]
    assert words("日 é本語x") == ["日", "é", "本語", "x"]
    assert units("日本x1") == ["日", "本", "x1"]
    assert size("日本x") == 5


def test_other_languages_are_stemmed_their_own_way():
    """German: Sensoren and Sensor have one stem; die is a stop word."""
    assert overlap("die Sensoren?", ["der Sensor"], "german").stemmed == 1.0
    assert "die" in stop_words("german")
    assert stop_words("finnish") == frozenset()


def test_an_unknown_language_is_a_setting_error_that_lists_the_known():
    """What was given and what is allowed."""
    with pytest.raises(SettingError, match=r"'klingon'; allowed are .*english"):
        overlap("who?", ["who"], "klingon")


@pytest.mark.parametrize("question", ["", "?!", " \n"])
def test_no_words_overlap_with_nothing(question):
    """0.0, so that every line of a golden set has a number."""
    assert overlap(question, ["anything"]) == (0.0, 0.0)


TEXT = st.text("aбéع日本\u0301 -'1😀\ud800", max_size=30)


@settings(derandomize=True, max_examples=200)
@given(TEXT, st.lists(TEXT, max_size=3), TEXT)
def test_more_evidence_never_lowers_an_overlap(question, quotes, more):
    """Both figures are shares, grow with the evidence, and are 1 when the question itself is quoted."""
    before, after = overlap(question, quotes), overlap(question, [*quotes, more])

    assert 0 <= before.plain <= after.plain <= 1
    assert 0 <= before.stemmed <= after.stemmed <= 1
    assert overlap(question, [question]).plain == (1.0 if words(question) else 0.0)
