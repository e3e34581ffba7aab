from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.questions.generate.paragraphs import excerpts_of
from harness.records import Document
from harness.text.words import size

SENTENCE = "The gateway keeps its readings for three days when there is no network, and sends them later. "
PROSE = SENTENCE * 3  # 288 characters
CHINESE = "在没有网络的情况下，网关会将读数保存三天，然后再发送给服务器。" * 8
STREAM = "".join(
    f"The {chr(97 + i % 26)}{chr(97 + i // 26)}{'lo' * (i % 7)} gateway keeps {i} readings. "
    for i in range(400)
)
CHINESE_STREAM = "".join(
    f"网关{chr(0x4E00 + 7 * i)}{chr(0x5E00 + 11 * i)}会将读数{chr(0x6E00 + 5 * i)}保存三天。"
    for i in range(900)
)


def of(text, doc_id="guide.md", title=""):
    """The excerpts of one document, with every promise about offsets checked."""
    (found,) = excerpts_of([Document(doc_id, text, title)])
    assert all(each.text == text[each.start : each.end] and each.text == each.text.strip() for each in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    return found


MARKDOWN = f"# Guide\n\n{PROSE}\n\n## Network\n\n{PROSE}\n\n### Cable ###\n\n{PROSE}\n\n## Power\n\n{PROSE}\n"
RST = f"=====\nGuide\n=====\n\n{PROSE}\n\nNetwork\n=======\n\n{PROSE}\n\nCable\n-----\n\n{PROSE}\n\nPower\n=======\n\n{PROSE}\n"
HTML = (
    f"<html><head><title>x</title></head><body><nav>{PROSE}</nav><h1>Guide</h1><p>{PROSE}</p><h2 id='n'>Net<b>work</b></h2>"
    f"<p>{PROSE}</p><h3>Cable</h3><div>{PROSE}</div><h2>Power</h2><p>{PROSE}</p><script>{PROSE}</script></body></html>"
)


@pytest.mark.parametrize(
    ("doc_id", "text"),
    [
        ("a.md", MARKDOWN),
        ("a.rst", RST),
        ("a.html", HTML),
        ("a.md", MARKDOWN.replace("\n", "\r\n")),
        ("a.txt", MARKDOWN.replace("\n", "\r")),
    ],
    ids=["markdown", "rst", "html", "crlf", "cr"],
)
def test_sections_become_excerpts_under_their_headings(doc_id, text):
    """Title and headings, the outermost first, whatever the format and the line ends; each excerpt is the section's text."""
    found = of(text, doc_id, "Guide")

    assert [each.heading for each in found] == [
        "Guide",
        "Guide > Network",
        "Guide > Network > Cable",
        "Guide > Power",
    ]
    assert {each.text for each in found} == {PROSE.strip()}


def test_a_short_document_without_headings_is_one_excerpt():
    """Seventy words are a passage, and its heading is the title."""
    text = "\n\n".join([SENTENCE.strip()] * 4)

    (only,) = of(text, "note.txt", "note.txt")

    assert (only.start, only.end, only.heading) == (0, len(text), "note.txt")


def test_a_document_of_one_sentence_is_asked_about_too():
    """Corpora of short texts have nothing else."""
    assert len(of(SENTENCE)) == 1
    assert of("Too short.") == []


def test_short_neighbours_are_joined_and_stay_whole_paragraphs():
    """Paragraphs of 95 characters: joined until there are 400, under one heading only."""
    text = "\n\n".join(["# A", *[SENTENCE.strip()] * 7, "# B", *[SENTENCE.strip()] * 5])
    # 5 * 95 + 4 * 2 = 483 is the first sum of at least 400 (4 give 386); 2 are left under A (192, above 160: an excerpt of its own).
    found = of(text)

    assert [each.text.count("gateway") for each in found] == [5, 2, 5]
    assert [each.heading for each in found] == ["A", "A", "B"]


def test_very_short_sections_are_joined_with_their_headings():
    """An answer of one sentence goes with the next one, and its own heading is then part of the text."""
    text = f"# FAQ\n\n## Does it ring?\n\n{SENTENCE}\n\n## Does it blink?\n\n{SENTENCE}\n"

    (only,) = of(text)

    assert only.heading == "FAQ"
    assert only.text.startswith("## Does it ring?")
    assert "## Does it blink?" in only.text


@pytest.mark.parametrize(
    "text",
    [STREAM, CHINESE_STREAM, "word " * 3400, "字" * 17000, "x" * 200 + " y" * 9000],
    ids=["sentences", "chinese", "no full stop", "no blank", "mixed"],
)
def test_a_line_of_17000_characters_is_cut(text):
    """At sentence ends where there are any; never longer than 1,600 (Chinese characters count twice)."""
    found = of(text, "log.txt")

    assert all(size(each.text) <= 1600 for each in found)
    if "。" in text or "." in text:
        assert sum(len(each.text) for each in found) > 0.98 * len(text)
        assert all(each.text[-1] in ".。" for each in found)
        assert all(size(each.text) > 360 for each in found)


def test_long_sentences_do_not_make_a_piece_too_long():
    """Sentences of about 490, 490 and 750 characters: two or one of them to a piece, never three."""
    sentences = [
        "".join(f"The w{chr(97 + i)}{chr(97 + j % 26)}ord{'x' * (j % 5)} " for j in range(count)).strip()
        + "."
        for i, count in enumerate([38, 38, 58] * 5)
    ]
    found = of(" ".join(sentences), "a.txt")

    assert all(each.text.count(".") in {1, 2} and size(each.text) <= 1600 for each in found)
    assert sum(each.text.count(".") for each in found) == 15


def test_tables_of_contents_links_code_and_numbers_are_left_out():
    """Only the paragraph of each remains."""
    contents = "Installing ........ 3\nRunning ......... 7\nRemoving ........ 12\n"
    links = "- [Installing the gateway](a.md)\n- [Running the gateway](b.md)\n- [Removing it](c.md)\n"
    code = "```python\n" + "for reading in gateway.readings():\n    send(reading)\n" * 8 + "```\n"
    numbers = "| 2024 | 11.5 | 12.6 |\n|---|---|---|\n" + "| 17 | 281.5 | 99 |\n" * 30
    matter = "---\ntitle: Guide to the gateway and all that belongs to it\ntags: [a, b]\n---\n"
    rule = "-" * 300 + "\n"
    names = "Smith J, Miller K, Brown T, Fischer W, Dupont L, Garcia M, Rossi P, Novak A. " * 4
    for noise in (contents, links, code, numbers, rule, names):
        found = of(f"{matter}\n{noise}\n\n# Guide\n\n{PROSE}\n\n{noise}\n")

        assert [each.text for each in found] == [PROSE.strip()], noise


def test_sections_that_nobody_reads_are_left_out():
    """References and lists of other pages, in several languages."""
    assert of(f"# References\n\n{PROSE}\n\n# 参考文献\n\n{PROSE}") == []


def test_a_heading_in_code_is_none():
    """A comment in a shell script does not open a section."""
    (only,) = of(f"# Guide\n\n{SENTENCE}\n\n```shell\n# not a heading\nls\n```\n\n{PROSE}")

    assert only.heading == "Guide"
    assert "# not a heading" in only.text


def test_text_repeated_over_documents_is_boilerplate():
    """A footer on every page (with another year) is left out; a text in four documents is not yet one."""
    footer = (
        "Copyright {} Example Ltd. All rights of the owner are reserved, and nothing may be copied from these pages. "
        * 2
    )
    pages = [
        Document(f"{i}.md", f"{PROSE}Page {'abcdefghijkl'[i]}.\n\n{footer.format(2000 + i, 2010 + i)}")
        for i in range(12)
    ]

    assert all("Copyright" not in each.text for found in excerpts_of(pages) for each in found)
    assert all("Copyright" in found[-1].text for found in excerpts_of(pages[:4]))


def test_tables_of_words_are_asked_about():
    """Half of a handbook's facts stand in tables."""
    row = "| over the limit for more than an hour | the alarm goes to the second person |\n"
    (only,) = of(f"# Alarms\n\n| When | What happens |\n|---|---|\n{row * 4}")

    assert only.text.endswith("second person |")


def test_emoji_arabic_and_marks_have_exact_offsets():
    """Offsets are code points."""
    arabic = "تحتفظ البوابة بالقراءات لمدة ثلاثة أيام عند انقطاع الشبكة ثم ترسلها لاحقًا إلى الخادم. " * 3
    found = of(f"# 👩‍🔧 Guide\r\n\r\n😀 {PROSE}\r\n\r\n## عنوان\r\n\r\n{arabic}\r\n")

    assert [each.heading for each in found] == ["👩‍🔧 Guide", "👩‍🔧 Guide > عنوان"]
    assert found[0].text[0] == "😀"


PARTS = st.sampled_from(
    ["# A\n", "## B\n", "Title\n-----\n", "\n", "\r\n\r\n", "```\n", "|a|b|\n", SENTENCE, PROSE + "\n\n", CHINESE, "- one\n", "<p>", "</p>", "<h2>", "</h2>", "😀", "\t", "= W =\n", "....\n", ".. note:: x\n", "---\n", "word " * 400, "<nav>", "\ud800", "\x0c", "&amp;"]
)  # fmt: skip


@settings(derandomize=True, max_examples=400, deadline=None)
@given(st.lists(PARTS, max_size=25), st.sampled_from(["a.md", "a.html", "a.txt"]))
def test_any_text_gives_exact_excerpts_within_bounds(parts, doc_id):
    """Offsets are exact, excerpts do not overlap and are never longer than 1,600."""
    for each in of("".join(parts), doc_id):
        assert size(each.text) <= 1600
        assert each.text.strip()


def test_hostile_text_takes_no_time_out_of_proportion():
    """Unclosed tags and brackets of a hundred thousand characters are read once, or nearly."""
    for text in (
        "<nav " * 10000,
        "<nav>" * 1500,
        "[" * 30000,
        "![" * 5000,
        "- " * 50000,
        "= " * 50000,
        "(" * 50000,
        ". " * 50000,
    ):
        of(text + PROSE, "a.html")
        of(text + "\n\n" + PROSE, "a.md")
