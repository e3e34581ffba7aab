from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.chunker.markdown import Markdown
from harness.records import Document
from harness.text.markdown import CODE, TABLE, read_blocks
from harness.text.tokens import TokenMap


def words(text: str) -> TokenMap:
    """One token a word, so that sizes are counted by hand."""
    starts = [i for i, x in enumerate(text) if not x.isspace() and (i == 0 or text[i - 1].isspace())]
    return TokenMap(np.array(starts, np.int64), len(text))


def texts(text: str, size: int, overlap: int = 0) -> list[str]:
    chunks = Markdown(size, overlap).split(Document("d", text), words(text))
    return [text[chunk.start : chunk.end] for chunk in chunks]


def test_sections_that_fit_are_packed_and_others_cut_at_their_headings() -> None:
    """By hand, 6 words at most: A (3) and B (3) are one chunk.

    C has 10 and is cut before its headings into 3, 4 and 3.
    """
    text = "# A\na\n\n# B\nb\n\n# C\nc\n\n## D\nd d\n\n## E\ne\n\n# F\nf\n"

    assert texts(text, 6) == ["# A\na\n\n# B\nb", "# C\nc", "## D\nd d", "## E\ne", "# F\nf"]
    assert texts(text, 10) == ["# A\na\n\n# B\nb", "# C\nc\n\n## D\nd d\n\n## E\ne", "# F\nf"]


def test_code_and_tables_stay_whole_where_they_fit() -> None:
    """A block that fits is never cut, even if the one before it is then short.

    A heading stays with its block.
    """
    code = "```\n1 2 3\n\n4 5 6\n```"
    table = "| a |\n|---|\n| 1 |"
    text = f"# H\n\none two three four\n\n{code}\n\n{table}\n"

    # 2 + 4 words; 8 words of code; 3 + 1 + 3 of the table.
    assert texts(text, 8) == ["# H\n\none two three four", code, table]
    assert texts(f"# H\n\n{code}\n", 10) == [f"# H\n\n{code}"]


def test_a_block_that_is_too_long_is_cut_between_its_lines_and_keeps_its_heading() -> None:
    """16 rows of 3 words under a heading of 2, 12 at most.

    Lines stay whole, the heading opens the first chunk.
    """
    rows = ["| a |", "|---|", *(f"| {i} |" for i in range(8))]
    found = texts("## T\n\n" + "\n".join(rows) + "\n", 12)

    assert found[0].startswith("## T\n\n| a |\n|---|")
    assert [line for chunk in found for line in chunk.splitlines() if "|" in line] == rows
    assert all(len(chunk.split()) <= 12 for chunk in found)


def test_a_title_is_not_a_chunk_of_its_own() -> None:
    """A title directly above the first section goes with it, though both sections together are too long."""
    text = "# Title\n\n## A\n\na a a\n\n## B\n\nb b b\n"

    assert texts(text, 8) == ["# Title\n\n## A\n\na a a", "## B\n\nb b b"]


def test_overlap_repeats_whole_blocks() -> None:
    """With 3 words of overlap the last paragraph of 2 comes again, and never half of one."""
    assert texts("a a a\n\nb b\n\nc c c\n\nd d\n", 5, 3) == ["a a a\n\nb b", "b b\n\nc c c", "c c c\n\nd d"]


@pytest.mark.models
def test_no_block_that_fits_is_cut_in_real_documents() -> None:
    """The bundled handbook at 128 and 256 tokens.

    Every code block and table of at most that size lies in one chunk.
    """
    from harness.text.tokenizer import load_tokenizer

    bert = load_tokenizer("bert")
    whole = 0
    for path in sorted((Path(__file__).parents[2] / "data" / "handbook").rglob("*.md")):
        text = path.read_bytes().decode()
        tokens = bert.map([text])[0]
        blocks = read_blocks(text)
        bounds = [*blocks.starts.tolist(), len(text)]
        for size in (128, 256):
            chunks = list(Markdown(size).split(Document("d", text), tokens))
            for kind, start, end in zip(blocks.kinds, bounds[:-1], bounds[1:], strict=True):
                inner = start + len(text[start:end].rstrip())
                if kind in {CODE, TABLE} and tokens.count(start, end) <= size:
                    whole += 1
                    assert any(chunk.start <= start and inner <= chunk.end for chunk in chunks)
    assert whole > 50
