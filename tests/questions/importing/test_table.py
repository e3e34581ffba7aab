"""Tables as spreadsheets write them, good and bad."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.golden.jsonl import read_text
from harness.questions.importing.table import read_table

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters_and_line_ends(delimiter, end):
    """The delimiter is found though the cells hold others."""
    others = "".join(other for other in ",;|" if other != delimiter)
    table = read_table(
        f"question{delimiter}quote{end}How, when?{delimiter}Now{others}{end}".replace(
            "How, w", f"How{others}w"
        )
    )

    assert table.delimiter == delimiter
    assert table.columns == ("question", "quote")
    assert [len(record.cells) for record in table.records] == [2]


def test_two_columns_without_a_header():
    """Question and quote as people type them; commas inside are no columns."""
    table = read_table("How, really?;two, or so\nHow much, then?;sixty, or so\n")

    assert table.columns == ()
    assert [record.cells for record in table.records] == [
        ["How, really?", "two, or so"],
        ["How much, then?", "sixty, or so"],
    ]


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_of_excel(tmp_path, codec):
    """UTF-8 with and without a mark, and the UTF-16 with tabs that Excel calls Unicode text."""
    path = tmp_path / "q.txt"
    path.write_bytes("question\tquote\nWie heiß?\t75 °C\n".encode(codec))
    table = read_table(read_text(path))

    assert (table.columns, table.records[0].cells) == (("question", "quote"), ["Wie heiß?", "75 °C"])


def test_excels_own_first_line():
    """``sep=;`` names the delimiter, and lines are still counted from the top of the file."""
    table = read_table("sep=;\nquestion;quote\nHow?;so, so\n")

    assert table.columns == ("question", "quote")
    assert [(record.line, record.cells) for record in table.records] == [(3, ["How?", "so, so"])]


def test_lines_of_records_that_run_over_lines():
    """A record is known by the line on which it begins."""
    table = read_table('question,quote\n"How\nlong?","two\n\nminutes"\nHow much?,60\n')

    assert [record.line for record in table.records] == [2, 6]
    assert table.records[0].cells == ["How\nlong?", "two\n\nminutes"]


def test_a_quotation_mark_that_is_never_closed_swallows_nothing():
    """The lines after it are rows of their own."""
    table = read_table('question,quote\nHow?,"never closed\nHow much?,60\n"How ""long""?",two\n')

    assert [record.cells[0] for record in table.records] == ["How?", "How much?", 'How "long"?']


def test_quotation_marks_that_are_no_marks():
    """Two lines that each begin a cell with one would else become a single row of what stands between them."""
    table = read_table('question\tquote\n"Hot tea\tor not\nCold\tyes\n"Milk\tno\n')

    assert [record.cells for record in table.records] == [
        ['"Hot tea', "or not"],
        ["Cold", "yes"],
        ['"Milk', "no"],
    ]


def test_a_row_over_several_lines_must_have_the_right_number_of_cells():
    """Else its marks are none, and each line is a row, good or bad."""
    table = read_table('question\tquote\na\t"x\nb\ty"\tz\nc\td\n')

    assert [record.cells for record in table.records] == [["a", '"x'], ["b", 'y"', "z"], ["c", "d"]]


def test_very_long_cells_and_the_limit_of_the_process():
    """A context may be a whole document; the process's own limit is as before."""
    before = csv.field_size_limit()
    table = read_table("question,quote\nHow?," + "x" * 300_000 + "\n")

    assert len(table.records[0].cells[1]) == 300_000
    assert csv.field_size_limit() == before


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6), st.sampled_from(",;\t|"))
def test_what_a_writer_of_tables_wrote_is_read(rows, delimiter):
    """Python's writer as the oracle: every row with something in it comes back, whatever is in its cells."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(["question", "quote", "doc_id"])
    writer.writerows(rows)
    table = read_table(buffer.getvalue())

    assert [record.cells for record in table.records] == [
        list(row) for row in rows if any(cell.strip() for cell in row)
    ]
