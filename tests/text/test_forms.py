"""Normal forms, against the same done character by character, and the way back from each of their characters."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.text.copied import UNMARKED
from harness.text.forms import SPACED, TYPED, in_form

# What is typed for each; of the characters here, only those typed as themselves may be part of a cluster.
TYPED_FOR = {
    **{c: c for c in "abu1.,=\u0308\u0301ก\u0e34一가한²½①ßx"},
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u202a\u2066\ufe0f", ""),
    **dict.fromkeys(" \n\t\u00a0\u2009\u202f\u3000", " "),
    "ﬁ": "fi",
    "ﬀ": "ff",
    "’": "'",
    "‹": "'",
    "″": '"',
    "„": '"',
    "«": '"',
    "「": '"',
    "–": "-",
    "−": "-",
    "\u2011": "-",
    "≥": ">=",
    "≠": "!=",
    "Ａ": "A",
    "１": "1",
    "\u212b": "Å",
    "ﺍ": "ا",
}


def is_without_runs(text):
    """Whether no dots or dashes stand together, which are typed as one."""
    return not re.search(r"\.\.|--", "".join(map(TYPED_FOR.get, text)))


@settings(derandomize=True, max_examples=400, deadline=None)
@given(st.text("ab. \n\t\r\u00a0\u2003\u3000\u2028\x1f一", max_size=60))
def test_white_space_becomes_one_blank(text):
    """And every other character comes from itself."""
    normal = in_form(SPACED, text)

    assert normal.text == re.sub(r"\s+", " ", text)
    at = 0
    for i, character in enumerate(normal.text):
        start, end = normal.source(i, i + 1)
        assert start == at
        assert text[start:end] == character or (character == " " and text[start:end].isspace())
        at = end
    assert at == len(text)


@settings(derandomize=True, max_examples=600, deadline=None)
@given(st.text(list(TYPED_FOR), max_size=40).filter(is_without_runs))
def test_typography_is_what_is_typed_for_each_character(text):
    """Composed and with single blanks; each character comes from what is typed so."""
    normal = in_form(TYPED, text)

    typed = unicodedata.normalize("NFC", "".join(map(TYPED_FOR.get, text)))
    assert normal.text == re.sub(" +", " ", typed)
    before = 0, 0
    for i, character in enumerate(normal.text):
        start, end = normal.source(i, i + 1)
        assert 0 <= start < end <= len(text)
        assert start >= before[0]  # a ligature is several characters
        assert end >= before[1]
        assert character in in_form(TYPED, text[start:end]).text
        before = start, end


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("month… — wait……", "month... - wait..."),
        ("a -- b, 3--4, run --help", "a - b, 3-4, run --help"),
        ("3 × 4 m, 2×2, f × g", "3 x 4 m, 2x2, f × g"),
        ("10² and 1½ and ①", "10² and 1½ and ①"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"),
        ("ｶﾞ １０ ㎏", "ガ 10 kg"),
    ],
)
def test_special_cases_of_typography(text, typed):
    """Runs, options of commands, products, and digits that must stay what they are."""
    assert in_form(TYPED, text).text == typed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Head #\n\nText", "Head Text"),
        (
            "## Head {#head}\n**Bold** and __bold__, _it_ and *it*, ~~gone~~, `code`",
            "Head Bold and bold, it and it, gone, code",
        ),
        ("- one\n* two\n+ three\n• four\n- [x] five\n1. six", "one two three four five 1. six"),
        ("> said\n> > twice\n>= 5", "said twice >= 5"),
        ("| a | b |\n|---|:-:|\n| c | d |", "a b c d"),
        ("Title\n=====\n***\n```bash\nrun\n```", "Title run"),
        (
            "[text](http://x.y/z_(a) 'title'), ![alt](a.png), [![b](c)](d), [see][1], <http://x.y>",
            "text, alt, b, see, http://x.y",
        ),
        ("a[i][1] = [3][4] + f[0]", "a[i][1] = [3][4] + f[0]"),
        (
            "Fish &amp; chips&nbsp;cost &ge; 3&shy;0 &lt;b&gt; &unknown;",
            "Fish & chips cost >= 30 <b> &unknown;",
        ),
        ('<p class="x">One<br/>two <b>th</b>ree<!-- four --></p><td>five</td>', "One two three five"),
        ("if a<b && c>d run <name>", "if a<b && c>d run <name>"),
        (r"\*not\* snake\_case C:\dir", r"*not* snake_case C:\dir"),
        ("2*3*4, 2**3, snake_case, a * b", "2*3*4, 2**3, snake_case, a b"),
        ("3 * 4 - 5, of - 20 °C", "3 * 4 - 5, of - 20 °C"),
        ("H<sub>2</sub>O, 1<b>0</b>0, 2[0](x)", "H2O, 1<b>0</b>0, 2[0](x)"),
        ("这是**重点**内容", "这是重点内容"),
    ],
)
def test_markup_is_dropped(text, shown):
    """As a reader sees it; nothing is dropped between two digits, or within a word."""
    assert in_form(UNMARKED, text).text.strip() == shown
