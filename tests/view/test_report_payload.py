"""The data behind the list of questions."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace

import numpy as np
import pytest
from made_sweep import DEPTH, PRIMARY, made_sweep, words

from harness.view.report.excerpts import pieces, shown_rows
from harness.view.report.payload import payload

AXES = {"model": ["a", "b"], "chunk": ["128", "256"]}


def opened(packed: str) -> dict:
    return json.loads(zlib.decompress(base64.b64decode(packed), -15))


def text_at(data: dict, doc: int, start: int, end: int) -> str:
    for first, text in data["text"].get(str(doc), []):
        if first <= start < first + len(text):
            return text[start - first : end - first]
    return ""


@pytest.fixture
def sweep(tmp_path):
    rng = np.random.default_rng(5)
    texts = {f"{i}.md": words(rng, 500) for i in range(20)}
    return made_sweep(tmp_path, AXES, [f"question {i}?" for i in range(60)], texts)


def test_every_question_every_mark_and_every_shown_row_is_there(sweep):
    """Ranks, causes and rows are the cells' own; the text of every row and of all evidence can be read from it."""
    data = opened(payload(sweep, PRIMARY).packed)
    whole = {doc: pieces[0][1] for doc, pieces in sweep.texts.items()}

    assert data["questions"] == [f"question {i}?" for i in range(60)]
    for i, cell in enumerate(sweep.cells):
        ranks = np.nan_to_num(cell.questions["first_rank"]).astype(int)
        assert data["ranks"][i] == ranks.tolist()
        assert [data["causes"][int(c)] for c in data["cause"][i]] == cell.questions["cause"].tolist()
        with np.load(cell.folder / "rankings.npz") as archive:
            for q in range(60):
                width = data["rows"] + 1
                row = data["row"][i][q * width : (q + 1) * width]
                for at, number in enumerate(row[: data["rows"]]):
                    doc, start, length = (column[number] for column in data["spans"])
                    name = data["docs"][doc]
                    assert name == archive["doc_ids"][archive["span_doc"][q, at]]
                    assert (start, start + length) == (
                        archive["span_start"][q, at],
                        archive["span_end"][q, at],
                    )
                    assert text_at(data, doc, start, start + length) == whole[name][start : start + length]
                assert (row[-1] >= 0) == (data["rows"] < ranks[q] <= DEPTH)
    for q, question_id in enumerate(data["ids"]):
        [[[doc, start, end]]] = data["evidence"][q]
        [unit] = sweep.evidence[question_id]
        assert (data["docs"][doc], start, end) == (unit["doc_id"], unit["start"], unit["end"])
        assert text_at(data, doc, start, end) == whole[unit["doc_id"]][start:end]


def test_rows_of_the_worst_cells_go_first_when_there_is_no_room(tmp_path):
    """The best cells keep their rows, all marks stay, and a sentence says what is missing."""
    rng = np.random.default_rng(2)
    axes = {"model": [f"m{i}" for i in range(20)]}
    texts = {f"{i}.md": words(rng, 1000) for i in range(4)}
    sweep = made_sweep(tmp_path, axes, [f"question {i}?" for i in range(200)], texts)
    full = payload(sweep, PRIMARY)
    small = payload(sweep, PRIMARY, most=int(len(full.packed) * 0.8))
    data = opened(small.packed)

    assert full.left_out == []
    assert len(small.packed) <= 0.8 * len(full.packed)
    assert 5 < len(data["row"]) < 20
    assert len(data["ranks"]) == len(data["cause"]) == 20
    assert f"for the best {len(data['row'])} of 20 configurations" in small.left_out[0]


def test_texts_of_missed_questions_are_the_last_to_go(sweep):
    """Hardly any room: no marks are lost, and texts stand beside the questions that most cells miss."""
    least = len(payload(sweep, PRIMARY, most=1).packed)
    full = len(payload(sweep, PRIMARY).packed)
    small = payload(sweep, PRIMARY, most=least + (full - least) // 3)
    data = opened(small.packed)
    missed = np.sum([[c != "1" for c in causes] for causes in data["cause"]], axis=0)
    width = data["rows"] + 1
    kept = [max(data["row"][0][q * width : (q + 1) * width]) >= 0 for q in range(60)]

    assert len(data["questions"]) == 60
    assert "Texts stand beside" in small.left_out[0]
    assert 0 < sum(kept) < 60
    assert missed[kept].min() >= missed[np.logical_not(kept)].max()


def test_a_hundred_cells_and_a_thousand_questions_fit(tmp_path):
    """The size is bounded whatever the number of cells, and so is the work: the data is packed seven times at most."""
    rng = np.random.default_rng(1)
    texts = {f"{i}.md": words(rng, 300) for i in range(200)}
    axes = {"model": [f"m{i}" for i in range(10)], "chunk": [str(2**i) for i in range(10)]}
    sweep = made_sweep(tmp_path, axes, [f"question {i} of a thousand?" for i in range(1000)], texts)
    found = payload(sweep, PRIMARY, most=1_500_000)

    assert len(found.packed) <= 1_500_000
    assert len(opened(found.packed)["cause"]) == 100
    assert len(opened(found.packed)["row"]) > 10


def test_untracked_texts_leave_places_and_marks(tmp_path):
    """With tracker.texts=false there is no word of a document or a question in it."""
    texts = {"secret.md": "confidential " * 100}
    sweep = made_sweep(tmp_path, AXES, ["who?"] * 3, texts, tracked=False)
    data = opened(payload(sweep, PRIMARY).packed)

    assert "confidential" not in json.dumps(data)
    assert data["questions"] == [None] * 3
    assert len(data["row"]) == 4


def test_a_cell_whose_rankings_are_gone_keeps_its_marks(sweep):
    """A deleted file costs the rows of one cell."""
    (sweep.cells[1].folder / "rankings.npz").unlink()
    shown = shown_rows(sweep, 5)

    assert np.all(shown.rows[1] == -1)
    assert np.all(shown.rows[0][:, 0] >= 0)


def test_pieces_are_cut_from_what_was_tracked():
    """What the tracked stretches lack is left out, and every piece says where it begins."""
    texts = {"a": [(10, "0123456789"), (40, "abcdef")]}

    assert pieces(texts, ["a", "b"], np.array([[0, 5, 15], [0, 18, 43], [1, 0, 9]])) == {
        0: [(10, "01234"), (18, "89"), (40, "abc")]
    }


def test_text_of_a_lone_surrogate_does_not_break_the_file(tmp_path):
    """Half a character, as JSON can bring it, is shown as a question mark."""
    texts = {"a.md": "x\ud800y " * 100}
    sweep = made_sweep(tmp_path, {"model": ["a"]}, ["what \ud83d?"], texts)

    assert opened(payload(sweep, PRIMARY).packed)["questions"] == ["what ??"]


def test_the_metric_is_the_judged_one(sweep):
    """The share beside each question is that of the metric that decides."""
    cell = sweep.cells[0]
    columns = dict(cell.questions) | {"recall_at_5": np.full(60, 0.256)}
    data = opened(payload(replace(sweep, cells=[replace(cell, questions=columns)]), "recall_at_5").packed)

    assert data["value"] == [[26] * 60]
