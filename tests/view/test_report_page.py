"""The report as a file, without a browser."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from made_sweep import found, made_sweep, words

from harness.decision.findings import Findings, found_out
from harness.errors import SettingError, StoreError
from harness.view.report.page import page, write_page

HOSTILE = [
    "</script><script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "\"quotes\" and 'quotes' & <b>bold</b> &amp; <!-- ",
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "zero\u200bwidth\u200djoiner\ufeff \u2028line\u2029separators \x00\x07\x1b[31m",
    "{{ 7 * 7 }} {% raw %} ${1} `code` \\u003c",
    "\U0001f600 \U0001f469\u200d\U0001f469\u200d\U0001f467 caf\u0301e",
    "x" * 16_000,
]


class Outline(HTMLParser):
    """Tags in order, with their attributes, and the text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.inside):
            self.text.append(data)

    def ids(self):
        return [attributes["id"] for _, attributes in self.tags if attributes.get("id")]


def packed(text: str) -> dict:
    data = re.search(r'id="packed">([^<]*)<', text)
    assert data
    return json.loads(zlib.decompress(base64.b64decode(data[1]), -15))


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    rng = np.random.default_rng(3)
    texts = {f"{i}.md": words(rng, 300) for i in range(40)}
    axes = {"model": ["a", "b"], "chunk": ["128", "256"], "retriever": ["dense", "bm25"]}
    return made_sweep(tmp_path_factory.mktemp("sweep"), axes, [f"question {i}?" for i in range(120)], texts)


@pytest.fixture(scope="module")
def text(sweep):
    return page(sweep, found(sweep))


def test_latencies_of_a_sweep_are_called_noted_in_passing(text):
    """3 to 10 ms over the first 20 of 120 questions: column, picture and legend say so; the time of all cells is there.

    Eight cells took 1 s of embedding and half a second of searching each.
    """
    said = " ".join(" ".join(Outline(text).text).split())

    assert "about ms" in said
    assert "Latency, about" in said
    assert said.count("were noted by the sweep in passing, over 20 questions and under its load") == 2
    assert "The cells took 12.0 seconds (embed 8.0, search 4.0)." in said


def test_the_verdict_comes_first_and_every_part_is_there(text):
    """In order: verdict, leaderboard, recall, heat map, cost, diagnosis, effects, wording, questions, golden set."""
    order = [
        "verdict",
        "leaderboard",
        "recall",
        "heat",
        "cost",
        "diagnosis",
        "effects",
        "wording",
        "questions",
        "golden",
    ]

    assert [i for i in Outline(text).ids() if i in order] == order


def test_links_inside_the_page_lead_somewhere(text):
    """No section is linked that is not there, and nothing outside is linked at all."""
    outline = Outline(text)
    links = [attributes["href"] for tag, attributes in outline.tags if tag == "a"]

    assert {link[1:] for link in links} <= set(outline.ids())
    assert all(link.startswith("#") for link in links)


def test_nothing_is_loaded_from_anywhere(text):
    """No address in any attribute that a browser would fetch, and a policy that forbids it."""
    for tag, attributes in Outline(text).tags:
        for name in ("src", "srcset", "data", "poster", "action", "ping"):
            assert name not in attributes, tag
        if tag == "link":
            assert attributes["href"] == "data:,"
    assert "default-src 'none'" in text
    assert not re.search(
        r"@import|url\(|fetch\(|XMLHttpRequest|localStorage|sessionStorage|document\.cookie|innerHTML", text
    )


def test_every_question_and_every_cell_is_in_it(sweep, text):
    """Names in the markup; questions, evidence and marks in the data."""
    data = packed(text)
    said = " ".join(Outline(text).text)

    assert data["questions"] == [f"question {i}?" for i in range(120)]
    assert data["cells"] == [cell.name for cell in sweep.cells]
    assert all(cell.name in said for cell in sweep.cells)
    assert f"{sweep.cells[0].metric('recall_at_2000_tokens'):.3f}" in said


def test_it_says_more_than_scores(text):
    """Intervals, the settings' effects, what might help, and the questions' limits stand in words."""
    said = " ".join(" ".join(Outline(text).text).split())

    for words_ in (
        "95% intervals",
        "Before you believe it",
        "were written by a model",
        "What might help",
        "finds",
        "few words shared",
    ):
        assert words_ in said


def test_hostile_text_stays_text(tmp_path):
    """Whatever documents, questions, ids, names and errors hold, no tag, no script and no template of theirs gets into the page."""
    texts = {f"{i}-{line[:60]}.md": f"before {line} after " * 3 for i, line in enumerate(HOSTILE)}
    axes = {"model": ["a", *HOSTILE[:3]], "chunk": ["<i>128</i>", "256"]}
    sweep = made_sweep(tmp_path, axes, HOSTILE * 5, texts)
    hostile = replace(sweep, name=HOSTILE[0], failures=[{"name": HOSTILE[1], "error": HOSTILE[0]}])
    plain = page(
        made_sweep(
            tmp_path / "plain", {"model": list("abcd"), "chunk": ["1", "2"]}, ["?"] * 40, {"a.md": "x " * 90}
        ),
        Findings("recall_at_2000_tokens", None),
    )
    written = page(hostile, found(hostile))
    outline = Outline(written)

    assert {tag for tag, _ in outline.tags} - {tag for tag, _ in Outline(plain).tags} <= {
        "dl",
        "dt",
        "dd",
        "td",
        "small",
        "b",
    }
    assert sum(tag == "script" for tag, _ in outline.tags) == 2
    assert "img" not in {tag for tag, _ in outline.tags}
    assert not [name for _, attributes in outline.tags for name in attributes if name.startswith("on")]
    assert HOSTILE[0] in "".join(outline.text)
    assert packed(written)["questions"] == HOSTILE * 5
    assert "49 {% raw" not in written


def test_the_same_sweep_gives_the_same_bytes(sweep, text):
    """Nothing in it depends on the clock or on chance."""
    assert page(sweep, found(sweep)) == text


def test_a_sweep_of_one_cell(tmp_path):
    """Nothing to compare: said, and no chart that would need two."""
    sweep = made_sweep(
        tmp_path, {"model": ["a"]}, ["one?"] * 40, {f"{i}.md": "x y z " * 50 for i in range(40)}
    )
    written = page(sweep, found(sweep))

    assert "is the only configuration" in written
    assert not {"heat", "cost", "effects", "wording"} & set(Outline(written).ids())


def test_without_a_verdict_the_page_says_why(sweep):
    """A metric that can't decide, or nothing shared: the reason is the headline, the rest is still there."""
    written = page(sweep, Findings("recall_at_2000_tokens", None, "mrr depends on how the text was cut."))

    assert '<p class="headline">mrr depends on how the text was cut.</p>' in written
    assert "leaderboard" in Outline(written).ids()


def test_a_sweep_without_any_cell(sweep):
    """Failures alone still make a page."""
    empty = replace(sweep, cells=[], failures=[{"name": "a", "error": "No memory."}], evidence={})
    written = page(empty, found_out(empty))

    assert "No configuration was scored; 1 failed." in written
    assert "No memory." in written


def test_untracked_texts_are_said_to_be(tmp_path):
    """With tracker.texts=false the page has places instead of texts, and says so."""
    sweep = made_sweep(
        tmp_path,
        {"model": ["a", "b"]},
        ["secret?"] * 40,
        {f"{i}.md": "confidential " * 20 for i in range(40)},
        tracked=False,
    )
    written = page(sweep, found(sweep))

    assert "were not tracked" in written
    assert "confidential" not in written + json.dumps(packed(written))


def test_row_metrics_are_grey_between_chunkings(sweep, text):
    """With chunk among the settings mrr is marked; with one chunking it is a column like any other."""
    alike = replace(sweep, cells=[cell for cell in sweep.cells if cell.params["chunk"] == "128"])

    assert "mrr*" in text
    assert "mrr*" not in page(alike, found_out(alike))


def test_differences_to_what_runs_today(sweep):
    """``baseline`` adds a column with intervals; a word that means nothing is refused."""
    other = sweep.cells[3].name
    written = page(sweep, found_out(sweep, baseline=other))

    assert f"Beside them the differences to {other}, which runs today." in written
    with pytest.raises(SettingError, match="neither a cell of"):
        found_out(sweep, baseline="nothing")


def test_a_metric_chosen_afterwards_is_called_so(sweep):
    """Another metric than the recorded one is allowed, and marked."""
    cells = [
        replace(
            cell, questions=dict(cell.questions) | {"recall_at_5": cell.questions["recall_at_2000_tokens"]}
        )
        for cell in sweep.cells
    ]
    other = replace(sweep, cells=cells)

    assert "was chosen post hoc, after the results were seen" in page(
        other, found_out(other, metric="recall_at_5")
    )


def test_the_leaderboard_is_ordered_by_the_metric_that_decides(sweep):
    """A metric chosen afterwards orders the rows too; each keeps its colour. Recall of the cells: their places."""
    cells = [
        replace(
            cell,
            questions=dict(cell.questions)
            | {"recall_at_5": np.full_like(cell.questions["recall_at_2000_tokens"], i / 100)},
        )
        for i, cell in enumerate(sweep.cells)
    ]
    other = replace(sweep, cells=cells)
    written = page(other, found_out(other, metric="recall_at_5"))
    rows = re.findall(r'<tr class="(c\d+)">\s*<th scope="row" class="cell" data-key="([^"]*)"', written)

    assert rows == [(f"c{i}", cell.name) for i, cell in reversed(list(enumerate(cells)))]


def test_a_page_is_written_whole_or_not_at_all(sweep, tmp_path):
    """No half file stands under the name; a place that can't be written is a sentence."""
    target = tmp_path / "new" / "report.html"
    write_page(sweep, found_out(sweep), target)
    (tmp_path / "file").write_text("")

    assert [file.name for file in target.parent.iterdir()] == ["report.html"]
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(StoreError, match="can't be written"):
        write_page(sweep, Findings(sweep.primary, None), tmp_path / "file" / "report.html")
