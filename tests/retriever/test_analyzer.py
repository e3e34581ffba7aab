from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import SettingError
from harness.retriever.bm25 import Analyzer

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("english", "The running Dogs of plan B, foo_bar!", ["run", "dog", "plan", "foo_bar"]),
        ("none", "The running Dogs", ["the", "running", "dogs"]),
        ("german", "die H\u00e4user und die Stra\u00dfe", ["haus", "strass"]),
        # Without blanks: two neighbouring characters each; what stands alone stands for itself.
        ("english", "\u9ed1\u8c79\u961f\u7684ABC\u6df1",
         ["黑豹", "豹队", "队的", "abc", "深"]),
        ("english", "\ud55c\uad6d\uc5b4", ["\ud55c\uad6d", "\uad6d\uc5b4"]),
        ("english", "\u0e20\u0e32\u0e29\u0e32", ["\u0e20\u0e32", "\u0e32\u0e29", "\u0e29\u0e32"]),
        # One word with its vowel signs and without them, for the stemmer that knows them.
        ("arabic", "\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f \u0645\u062d\u0645\u062f",
         ["\u0645\u062d\u0645\u062f"] * 2),
        # Vowel signs of Hindi are part of the word.
        ("none", "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902",
         ["\u0939\u093f\u0928\u094d\u0926\u0940", "\u092e\u0947\u0902"]),
        # An accent of its own, a ligature and full-width letters are written otherwise, not other words.
        ("none", "caf\u00e9 cafe\u0301 \ufb01ne \uff21\uff22\uff11",
         ["caf\u00e9", "caf\u00e9", "fine", "ab1"]),
        ("english", f"{FAMILY} \u2708\ufe0f -- ", []),
        ("english", "ab\ud800cd", ["ab", "cd"]),
    ],
)  # fmt: skip
def test_words_of_any_script(language, text, words):
    """Lower case, stems, no stop words; scripts without blanks in pairs of characters.

    Marks belong to their letters.
    """
    assert Analyzer(language, 2).terms(text) == words


def test_short_words_can_be_kept():
    """With ``shortest`` 1, plan B and step 5 differ from plan C and step 6."""
    assert Analyzer("english", 1).terms("plan B step 5") == ["plan", "b", "step", "5"]


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.text(max_size=60), st.sampled_from(["english", "arabic", "hindi", "none"]))
def test_any_text_has_words_without_blanks(text, language):
    """No text breaks it, and no word holds a blank or is empty but for what a stemmer leaves."""
    words = Analyzer(language, 2).terms(text)

    assert words == Analyzer(language, 2).terms(text.replace(" ", "  "))
    assert not any(char.isspace() for word in words for char in word)


@pytest.mark.parametrize(
    ("settings", "key"),
    [(("klingon", 2), "language"), (("english", 0), "shortest"), (("english", "2"), "shortest")],
)
def test_wrong_settings_are_named(settings, key):
    """The message names the setting and what is allowed."""
    with pytest.raises(SettingError, match=rf"retriever\.{key} is ") as caught:
        Analyzer(*settings)

    assert caught.value.key == f"retriever.{key}"


def test_identifiers_are_found_by_their_parts_and_names_by_their_signs():
    """With identifiers=split; without it nothing changes."""
    split, plain = Analyzer("english", 2, "split"), Analyzer("english", 2)

    assert split.terms("getUserById") == ["getuserbyid", "get", "user", "id"]
    assert split.terms("get_user_by_id") == ["get_user_by_id", "get", "user", "id"]
    assert split.terms("get user by id") == plain.terms("get user by id") == ["get", "user", "id"]
    assert split.terms("Is 2.1.0?") == ["2.1.0"]
    assert split.terms("C++") == ["c++"]
    assert split.terms("CVE-2024-1234") == ["cve", "2024", "1234", "cve-2024-1234"]
    assert split.terms("end-to-end") == plain.terms("end-to-end")
    assert plain.terms("getUserById 2.1.0 C++") == ["getuserbyid"]
    with pytest.raises(SettingError, match=r"retriever\.identifiers is parts; allowed are whole, split"):
        Analyzer("english", 2, "parts")
