"""Quotes as people copy them: the exact span in the document, or nothing, never another span."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.records import Document
from harness.text.copied import parts_of, way_of
from harness.text.spans import Span, find_spans, span_at

# Words of five scripts, none twice in a row of four; the last two are written without blanks.
LATIN = "The ﬁrst eﬀective filter’s warranty covers “gold” pumps for 20–30 days at −20 °C if installed Kündigung ≥ 3 bar"
CYRILLIC = (
    "Возврат средств за «золотой» насос возможен в течение 14–20 дней если ёмкость цела и пломба не снята"
)
ARABIC = "يمكن إرجاع المضخة “الذهبية” خلال ثلاثين يومًا من تاريخ الشراء إذا كانت العبوة سليمة ولم تفتح"
CHINESE = "本 保 修 涵 盖 “黄 金” 水 泵 并 在 购 买 后 30 天 内 退 款 。"
THAI = "การ รับประกัน ครอบคลุม ปั๊มน้ำ “ทอง” เป็น เวลา สามสิบ วัน หลัง จาก ซื้อ"
SCRIPTS = [
    (LATIN.split(), " "),
    (CYRILLIC.split(), " "),
    (ARABIC.split(), " "),
    (CHINESE.split(), ""),
    (THAI.split(), ""),
]
ASCII = str.maketrans({"’": "'", "“": '"', "”": '"', "«": '"', "»": '"', "–": "-", "−": "-", "\u00a0": " "})
EDGES = "“”«»\"'。"


def typed(text):
    """As somebody types it, in ASCII where that is possible."""
    plain = text.translate(ASCII).replace("≥", ">=").replace("ﬁ", "fi").replace("ﬀ", "ff")
    return unicodedata.normalize("NFC", plain)


def damaged_word(word, how):
    """A word as a document may have it, and the offsets of its characters in that."""
    if how == "decomposed":
        word = unicodedata.normalize("NFD", word)
    elif how == "hyphenated" and len(word) > 2:
        word = word[:2] + "\u00ad\u200b" + word[2:]
    elif how == "direction":
        word = "\u200f" + word + "\u200e"
    before, after = {
        "bold": ("**", "**"),
        "italic": ("_", "_"),
        "code": ("`", "`"),
        "link": ("[", "](http://a.b/c)"),
        "tag": ("<b>", "</b>"),
        "span": ('<span class="x">', "</span>"),
    }.get(how, ("", ""))
    lead = 1 if how == "direction" else 0
    return before + word + after, len(before) + lead, len(before) + len(word) - lead


HOWS = st.sampled_from(
    ["", "", "", "decomposed", "hyphenated", "direction", "bold", "italic", "code", "link", "tag", "span"]
)
BLANKS = st.sampled_from([" ", "\n", "\u00a0", "\u2009 ", "&nbsp;", "  ", "\r\n> ", "\n- ", " | "])


@st.composite
def copies(draw):
    """A document, a quote of it as somebody copied it, and the span where it stands."""
    words, blank = draw(st.sampled_from(SCRIPTS))
    first = draw(st.integers(0, len(words) - 4))
    last = draw(st.integers(first + 3, len(words)))
    text, starts, ends = "", [], []
    for word in words:
        shown, start, end = damaged_word(word, draw(HOWS))
        starts.append(len(text) + start)
        ends.append(len(text) + end)
        text += shown + (draw(BLANKS) if blank else "")
    quote = blank.join(map(typed, words[first:last]))
    start, end = starts[first], ends[last - 1]
    ending = draw(st.sampled_from(["", "", "stop", "quoted", "capital", "omission"]))
    if ending == "stop" and words[last - 1][-1] not in EDGES:
        quote += "."
    elif ending == "quoted" and words[first][0] not in EDGES and words[last - 1][-1] not in EDGES:
        quote = f"“{quote}”"
    elif ending == "capital":
        quote = quote[0].swapcase() + quote[1:]
    elif ending == "omission" and words[first][0] not in EDGES and words[last - 1][-1] not in EDGES:
        quote = f"[...] {quote} …"
    return text, quote, (start, end)


@settings(derandomize=True, max_examples=1500, deadline=None)
@given(copies())
def test_a_damaged_quote_is_found_exactly_or_not_at_all(case):
    """Latin, Cyrillic, Arabic, Chinese and Thai; every word typeset otherwise than it was copied."""
    text, quote, span = case

    found = find_spans({quote}, [Document("other", "Nothing of it."), Document("d", text)], 20)[quote]

    assert found in ([Span(1, *span)], []), (text[slice(*found[0][1:])], text[slice(*span)])
    assert found


@settings(derandomize=True, max_examples=400, deadline=None)
@given(copies(), st.data())
def test_another_letter_or_digit_is_another_text(case, data):
    """However it is typeset, a quote in which one letter or digit differs stands nowhere."""
    text, quote, _ = case
    places = [i for i, character in enumerate(quote) if character.isalnum() and i]
    at = data.draw(st.sampled_from(places))
    other = "7" if quote[at] != "7" else "8"

    assert (
        find_spans({quote[:at] + other + quote[at + 1 :]}, [Document("d", text)], 20)[
            quote[:at] + other + quote[at + 1 :]
        ]
        == []
    )


@settings(derandomize=True, max_examples=200, deadline=None)
@given(copies(), st.sampled_from(["\n\n", " | ", " and again: "]))
def test_two_places_stay_two_places(case, between):
    """The same passage twice, typeset alike: nothing says which is meant."""
    text, quote, _ = case

    assert len(find_spans({quote}, [Document("d", text + between + text)], 20)[quote]) == 2


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("costs 35 euros", "costs **3**.5 euros"),
        ("costs 3.5 euros", "costs **3**5 euros"),
        ("within 10 days", "within **1** 0 days"),
        ("within 1 0 days", "within **10** days"),
        ("costs 102 euros", "costs 10<sup>2</sup> euros"),
        ("Costs 10² euros", "Costs 102 *euros*"),
        ("The price is 3.", "the price is 3.5 kg"),
        ("The price is 3,", "the price is 3,000 euros"),
        ("The rapist is here", "A good **the**rapist is here"),
        ("Therapist rooms", "psycho\u00adtherapist rooms"),
        ("Snake case", "the snake_case rule"),
        ("2 times 34", "2 times 3<br>4"),
        (".5 mm of rain", "**5 mm** of rain"),
    ],
)
def test_numbers_and_words_are_whole(quote, text):
    """No digit is joined, parted or dropped, and no word is cut."""
    assert find_spans({quote}, [Document("d", text)], 20)[quote] == []


@pytest.mark.parametrize(
    ("quote", "way"),
    [
        ("The “gold” plan costs 3 euros.", "as written"),
        ("The “gold”\nplan  costs 3 euros.", "with other white space"),
        ('The "gold" plan costs 3 euros.', "with other typography"),
        ('The "gold" plan costs **3** euros.', "without Markdown or HTML"),
        ('the "gold" plan costs 3 euros', "with another beginning or end"),
    ],
)
def test_the_way_in_which_a_quote_was_found_is_named(quote, way):
    """The strictest that holds."""
    text = "The “gold” plan costs 3 euros."
    (span,) = find_spans({quote}, [Document("d", text)], 20)[quote]

    assert way_of(quote, text[span.start : span.end]) == way


def test_the_strictest_way_wins():
    """A place as it is typed comes before one that is only alike, and a whole quote before its core."""
    documents = [Document("d", 'A “b” c. The "b" c. a "b" c.')]

    assert find_spans({'"b" c.'}, documents, 20)['"b" c.'] == [Span(0, 13, 19), Span(0, 22, 28)]
    assert find_spans({'A "b" c.'}, documents, 20)['A "b" c.'] == [Span(0, 0, 8)]


def test_a_chunk_may_be_cut_within_a_word_and_without_its_numbers():
    """A loader has rendered the list and an index has cut it; a quote must be whole."""
    text = "Intro of it.\n\n1. **Press** the button\n2. Release the button\n"
    chunk = "tro of it. Press the button Release the but"

    assert find_spans({chunk}, [Document("d", text)], 2, is_chunk=True)[chunk] == [Span(0, 2, 56)]
    assert find_spans({chunk}, [Document("d", text)], 2)[chunk] == []


def test_a_quote_stands_at_its_offset_in_another_typography():
    """Not at the other place, where it stands exactly."""
    text = 'One “b” c. And the “b” **c**. And the "b" c.'

    assert span_at('the "b" c', text, 15) == (15, 26)
    assert text[15:26] == "the “b” **c"
    assert span_at('the "b" c', text, 11) is None


@pytest.mark.parametrize(
    ("quote", "parts"),
    [
        ("Hardware is excluded ... it arrived broken.", ["Hardware is excluded", "it arrived broken."]),
        ("one part […] two part [...] three part", ["one part", "two part", "three part"]),
        ("水泵在购买后……天内退款", ["水泵在购买后", "天内退款"]),
        ("...the refund is paid…", []),
        ("each month... on", []),
        ("no omission at all", []),
    ],
)
def test_a_quote_is_parted_where_something_is_left_out(quote, parts):
    """In the middle only, and only into parts that can be looked for."""
    assert parts_of(quote) == parts
