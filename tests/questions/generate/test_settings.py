from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.questions.generate.settings import read_weights

IDS = {"billing/refunds.md", "billing/plans, old.md", "api.md"}


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "weights.csv"
        path.write_text(text, encoding="utf-8")
        return read_weights(path, IDS)

    return read


@pytest.mark.parametrize(
    "text",
    [
        'doc_id,weight\nbilling/refunds.md,12\n"billing/plans, old.md",0.5\n',
        "Page\tViews\r\nbilling/refunds.md\t12\r\n\r\nbilling/plans, old.md\t5e-1\r\n",
        "billing/refunds.md; 12\nbilling/plans, old.md ;.5",
        '{"doc_id": "billing/refunds.md", "weight": 12}\n{"weight": 0.5, "doc_id": "billing/plans, old.md"}\n',
        '\ufeffdoc_id,weight\nbilling/refunds.md,12\n"billing/plans, old.md",0.5\n',
    ],
    ids=["csv", "tsv", "semicolon", "jsonl", "byte order mark"],
)
def test_reads_what_spreadsheets_and_scripts_write(read, text):
    """Header or none, any of three separators, JSON lines."""
    assert read(text) == {"billing/refunds.md": 12.0, "billing/plans, old.md": 0.5}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            "api.md,1\nrefunds.md,2\n",
            2,
            r":2: there is no document refunds\.md\. Did you mean billing/refunds\.md\?",
        ),
        ("aip.md,1\n", 1, r"Did you mean api\.md\?"),
        ("zzz,1\n", 1, "relative to the corpus folder"),
        ("api.md,1\n\napi.md,2\n", 3, r"api\.md was given in line 1 already"),
        ("api.md,many\n", 1, "the weight is 'many'; a number from 0 on"),
        ("api.md,-1\n", 1, "'-1'"),
        ("api.md,nan\n", 1, "'nan'"),
        ("api.md,inf\n", 1, "'inf'"),
        ("api.md\n", 1, "found 1 values"),
        ("api.md,1,2\n", 1, "found 3 values"),
        ('{"doc_id": "api.md"}\n', 1, "a document id and a weight are expected"),
        ('{"doc_id": "api.md", "weight": null}\n', 1, "'null'"),
        ("{\n", 1, "a document id and a weight are expected"),
        ("api.md,0\n", None, "no document a weight above 0"),
        ("", None, "no document a weight above 0"),
    ],
)
def test_names_line_and_remedy(read, text, line, message):
    """What was given, what is expected, where."""
    with pytest.raises(InputError, match=message) as error:
        read(text)

    assert error.value.line == line
    assert error.value.path.name == "weights.csv"


def test_a_missing_file_is_said(tmp_path):
    """With the place that was looked from."""
    with pytest.raises(InputError, match=r"generator\.weights is .*none\.csv, and there is no such file"):
        read_weights(tmp_path / "none.csv", IDS)
