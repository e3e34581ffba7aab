"""Where headings, code, tables and paragraphs begin in Markdown.

By hand, and against a parser of CommonMark.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from harness.text.markdown import CODE, LONGEST, TABLE, TEXT, read_blocks

TEXT_OF_ALL = """---
title: Fees
---
# Fees

Intro words here.

Second
======
Some text.
Not a heading | no table.

| a | b |
|---|:-:|
| 1 | 2 |
| 3 | 4 |

```python
# no heading

x = 1
```
- item one
---

Sub
---
  ~~~
open until the end

# still code
"""


def found(text: str) -> list[tuple[str, int]]:
    """First line and kind of each block."""
    blocks = read_blocks(text)
    bounds = [*blocks.starts.tolist(), len(text)]
    firsts = [text[a:b].lstrip().partition("\n")[0] for a, b in pairwise(bounds)]
    return list(zip(firsts, blocks.kinds.tolist(), strict=True))


def test_by_hand() -> None:
    """Both kinds of headings, front matter, fenced code, a table with its head.

    A # in code and a rule under a list are none.
    """
    assert found(TEXT_OF_ALL) == [
        ("---", CODE),
        ("# Fees", 1),
        ("Intro words here.", TEXT),
        ("Second", 1),
        ("Some text.", TEXT),
        ("| a | b |", TABLE),
        ("```python", CODE),
        ("- item one", TEXT),
        ("Sub", 2),
        ("~~~", CODE),
    ]


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["CRLF", "CR"])
def test_line_ends_make_no_difference(end: str) -> None:
    """The same blocks in a file of any system."""
    blocks = read_blocks(TEXT_OF_ALL.replace("\n", end))

    assert blocks.kinds.tolist() == read_blocks(TEXT_OF_ALL).kinds.tolist()


@pytest.mark.parametrize(
    "front",
    [
        "title: Fees\n---\n",
        "title: Fees\n...\n",
        "title : Fees\n\n# comment\ntags:\n- a\n-  b\nlist: [\n  1,\n]\n---  \n",
        "# comment\n#\ntitle: Fees\n---\n",
        "# a model's card\n{{ card_data }}\n---\n",
        "{{ card_data }}\n---\n",
        "text: |\n  # no heading\n\n  no\n  ---\n---\n",
        '"a-key": 1\n---\n',
        "$schema: x\n---\n",
        "\n# comment\n\ntitle: Fees\n---\n",
        "a key: 1\n# comment\n---\n",
    ],
)
def test_front_matter(front: str) -> None:
    """What looks like YAML between two lines of dashes at the start is one block without headings."""
    assert found(f"---\n{front}Fees\n===\n") == [("---", CODE), ("Fees", 1)]
    assert found(f"---\n{front}") == [("---", CODE)]
    assert found(f"\n---\n{front}")[0] == ("---", TEXT)


def test_front_matter_in_toml() -> None:
    """Between two lines of plus signs at the start; one that is never closed is text."""
    assert found("+++  \n# comment\na = 1\n\n+++\nFees\n===\n") == [("+++  ", CODE), ("Fees", 1)]
    assert found("+++\n# A\n") == [("+++", TEXT), ("# A", 1)]
    assert found("\n+++\n# A\n+++\n")[1] == ("# A", 1)


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("---\n\n# A\n\ntext\n\n---\n", [1]),  # a rule
        ("---\n# A\n---\n", [1]),  # a title between rules
        ("---\n# A\n\nNote: text\n\n---\n", [1]),
        ("---\nNote: first\nthen prose\n\n# A\n\n---\n", [1]),
        ("---\nSee http://a.b\n---\n# A\n", [1]),
        ("---\n**Note**: bold\n\n# A\n\n---\n", [1]),
        ("---\n[1]: http://a.b\n\n# A\n\n---\n", [1]),
        ("---\ntitle: never closed\n\n# A\n", [1]),
        ("----\ntitle: A\n---\n# A\n", [1]),
        ("---\n---\n# A\n", [1]),
    ],
)
def test_what_is_no_front_matter_is_text(text: str, levels: list[int]) -> None:
    """A text that opens with a line of dashes is not taken for one block up to the next one."""
    kinds = read_blocks(text).kinds
    assert kinds[kinds > 0].tolist() == levels
    assert CODE not in kinds


def test_front_matter_takes_time_in_proportion() -> None:
    """A hundred thousand lines that look like YAML and end in prose are read once."""
    text = "---\r\n" + "# c\r\n" * 50_000 + "- a: b\r\n\r\n" * 50_000 + "prose\r\n---\r\n"
    assert len(read_blocks(text).kinds) == 100_002


def test_code_in_a_list_is_indented() -> None:
    """A fence may open at any depth; the one that closes it stands at most three blanks further in."""
    assert found("1. a\n\n    ```\n    x\n    ```\n\n# A\n") == [("1. a", TEXT), ("```", CODE), ("# A", 1)]
    assert found("```py\n    ```\n# no\n   ```\n# A\n") == [("```py", CODE), ("# A", 1)]
    assert found("- a\n\t~~~\n        ~~~\n    ~~~\n# A\n") == [("- a", TEXT), ("~~~", CODE), ("# A", 1)]


@pytest.mark.parametrize(
    "above",
    ["- a", "2) a", "> a", ">a", "| a", "<hr>", "    a", "\ta", "***", "a" * (LONGEST + 1), "a\nb"],
)
def test_what_is_not_underlined(above: str) -> None:
    """A rule below an item, quotation, code, HTML, rule, long line or paragraph makes no heading."""
    kinds = read_blocks(f"{above}\n---\n# A\n").kinds
    assert kinds[kinds > 0].tolist() == [1]


UNITS = st.sampled_from(
    [
        *("\n", "A\n\n", "A\nb c\n\n", "#x\n\n", "    # code\n\n", "---\n\n", "`` ` ``\n\n", "```a`\n\n"),
        *("# A\n", "   ## B ##\n", "#\n", "####### A\n\n", "###### F", "A\n===\n", "b c\n   -  \n"),
        *("x" * LONGEST + "\n---\n", "# " + "x" * 300 + "\n"),
        *("<pre>\n# A\n\n```\n</pre>\n\n", "<?x\n# A\n?>\n\n", "<style>\n# A\n</script> b\n\n"),
        *("<!-- a -->\n\n", "<!--\n# A\n```\n-->\n\n", "  <!-- b\n\nA\n---\n-->\n\n", "A\n<!-- # -->\n\n"),
        *("```\n", "```py\n", "~~~\n", "~~~ `a`\n", "  ```\n", "   ````\n", "~~~~~ \t\n"),
    ]
)


@settings(derandomize=True, deadline=None, max_examples=500)
@given(units=st.lists(UNITS, max_size=30))
def test_headings_and_code_are_those_of_commonmark(units: list[str]) -> None:
    """Where nothing is nested, both begin on the lines and have the levels that another parser finds."""
    text = "".join(units)
    blocks = read_blocks(text)
    ours = [
        (text[:start].count("\n") if i else len(text) - len(text.lstrip("\n")), kind)
        for i, (start, kind) in enumerate(zip(blocks.starts.tolist(), blocks.kinds.tolist(), strict=True))
        if kind
    ]
    theirs = [
        (token.map[0], CODE if token.type == "fence" else int(token.tag[1:]))
        for token in MarkdownIt("commonmark").parse(text)
        if token.map and token.type in {"fence", "heading_open"}
    ]
    assert ours == theirs
