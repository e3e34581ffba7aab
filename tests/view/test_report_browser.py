"""The report in a real browser: it sorts, filters, opens, stays quiet, and loads nothing."""

from __future__ import annotations

import html
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_sweep import found, made_sweep, words

from harness.decision.findings import found_out
from harness.view.report.page import write_page

pytestmark = pytest.mark.browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
HOSTILE = "</script><img src=x onerror=\"document.title='broken'\"> & {{ 7 * 7 }} \u202e\u05e9\u05dc\u05d5\u05dd\u202c \u200b \U0001f600"


@pytest.fixture(scope="module")
def browser():
    if not (CHROMIUM and DRIVER):
        pytest.skip("no Chromium with chromedriver here: the report is not looked at in a browser")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,1000",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    rng = np.random.default_rng(7)
    texts = {f"guides/{i}.md": f"\U0001f600 {HOSTILE} " + words(rng, 400) for i in range(40)}
    axes = {"model": ["a", "b"], "chunk": ["128", "256"], "retriever": ["dense", "bm25"]}
    questions = [f"question {i} {HOSTILE if i % 2 else 'plain'}?" for i in range(100)]
    made = made_sweep(tmp_path_factory.mktemp("sweep"), axes, questions, texts)
    # The hostile text itself, from its second sign to its end.
    evil = {"doc_id": "guides/39.md", "start": 1, "end": 3 + len(HOSTILE)}
    return replace(made, evidence={**made.evidence, "q00039": [evil]})


@pytest.fixture(scope="module")
def file(sweep, tmp_path_factory) -> Path:
    return write_page(sweep, found(sweep), tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture
def page(browser, file):
    return loaded(browser, file)


def loaded(browser, file):
    """The page, ready."""
    browser.get_log("performance")
    browser.get(file.as_uri())
    wait(browser, lambda: js(browser, "return document.documentElement.dataset.ready === 'true'"))
    return browser


def wait(browser, condition):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 60, poll_frequency=0.05).until(lambda _: condition())


def js(browser, script, *arguments):
    return browser.execute_script(script, *arguments)


def choose(browser, name, value):
    """Sets a filter as a hand would."""
    js(
        browser,
        "const f = document.getElementById('filters').elements[arguments[0]]; f.value = arguments[1];"
        "f.dispatchEvent(new Event('input', {bubbles: true}))",
        name,
        value,
    )


def listed(browser):
    return js(browser, "return [...document.querySelectorAll('.q')].map(q => q.dataset.q)")


def opened(browser, question_id):
    js(browser, 'document.querySelector(`.q[data-q="${arguments[0]}"]`).open = true', question_id)
    wait(browser, lambda: js(browser, "return !!document.querySelector('.q[open] .body')"))


def requests(browser):
    """Addresses that the page asked for, itself left out."""
    import json

    asked = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    addresses = [m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"]
    return [a for a in addresses if not a.startswith(("data:", "blob:")) and not a.endswith("report.html")]


def test_it_loads_nothing_and_complains_of_nothing(page):
    """No request, no message in the console, no script of a document's."""
    opened(page, "q00001")

    assert requests(page) == []
    assert page.get_log("browser") == []
    assert "broken" not in page.title


def test_the_leaderboard_sorts_by_any_column(page):
    """By number both ways, then by name; what is sorted by is told to screen readers."""
    head = "[...document.querySelectorAll('.board thead th')].find(h => h.textContent.includes(arguments[0]))"
    column = f"const h = {head}; return [...document.querySelectorAll('.board tbody tr')].map(r => r.cells[h.cellIndex].dataset.key)"
    for name, direction in (("tokens@5", "descending"), ("tokens@5", "ascending")):
        js(page, f"({head}).querySelector('button').click()", name)
        keys = [float(key) for key in js(page, column, name)]

        assert keys == sorted(keys, reverse=direction == "descending")
        assert js(page, f"return ({head}).getAttribute('aria-sort')", name) == direction
    js(page, f"({head}).querySelector('button').click()", "configuration")
    names = js(page, column, "configuration")
    assert names == sorted(names)
    assert js(page, "return document.querySelectorAll('[aria-sort]').length") == 1


def test_questions_are_filtered_by_cause_cell_and_text(page, sweep):
    """The same questions come back as from the cells' own columns; the count is said aloud."""
    cell = sweep.cells[2]
    choose(page, "cell", "2")
    choose(page, "cause", "ranked_low")
    low = [
        q
        for q, c in zip(cell.questions["question_id"], cell.questions["cause"], strict=True)
        if c == "ranked_low"
    ]
    assert listed(page) == low[:40]
    assert js(page, "return document.getElementById('count').textContent") == f"{len(low)} of 100 questions"
    choose(page, "text", "plain QUESTION")
    assert listed(page) == [q for q in low if int(q[1:]) % 2 == 0][:40]
    js(page, "document.getElementById('filters').reset()")
    wait(page, lambda: js(page, "return document.getElementById('count').textContent") == "100 questions")
    assert len(listed(page)) == 40
    js(page, "document.getElementById('more').click()")
    assert len(listed(page)) == 80


def test_a_part_of_a_bar_lists_its_questions(page, sweep):
    """Clicking "not retrieved" of a cell sets both filters."""
    js(page, 'document.querySelector(\'a[data-cell="1"][data-cause="ranked_low"]\').click()')
    columns = sweep.cells[1].questions
    low = columns["question_id"][columns["cause"] == "ranked_low"].tolist()

    assert listed(page) == low[:40]


def test_marks_carry_the_rank_in_the_cells_colour(page, sweep):
    """One per cell, in the order of the leaderboard, filled when all evidence was read."""
    marks = js(
        page,
        "return [...document.querySelectorAll('.q[data-q=\"q00003\"] .mark')].map(m => [m.textContent, m.className])",
    )
    expected = []
    for i, cell in enumerate(sweep.cells):
        rank, cause = cell.questions["first_rank"][3], cell.questions["cause"][3]
        state = "all-read" if cause == "found" else "none-read"
        expected.append(["–" if np.isnan(rank) else f"{rank:.0f}", f"mark c{i} {state}"])

    assert marks == expected


def test_hostile_evidence_is_shown_as_it_is(page):
    """Markup, scripts, templates and invisible signs of a document are text, in the highlight too."""
    choose(page, "text", "q00039")
    opened(page, "q00039")
    marked = js(
        page,
        "return [...document.querySelectorAll('.q[open] .evidence mark')].map(m => m.textContent).join('')",
    )

    assert marked == f" {HOSTILE} "
    assert js(page, "return document.images.length") == 0
    assert "broken" not in page.title


@pytest.mark.parametrize("question", [4, 5])
def test_evidence_is_highlighted_in_place(page, sweep, question):
    """In the evidence and in the row that holds it, to the character, after signs outside the basic plane and hostile text."""
    question_id = f"q{question:05d}"
    [unit] = sweep.evidence[question_id]
    text = sweep.texts[unit["doc_id"]][0][1][unit["start"] : unit["end"]]
    cell = next(i for i, c in enumerate(sweep.cells) if c.questions["first_rank"][question] <= 5)
    rank = int(sweep.cells[cell].questions["first_rank"][question])
    choose(page, "cell", str(cell))
    opened(page, question_id)
    marked = "return [...document.querySelectorAll(arguments[0])].map(m => m.textContent).join('')"

    assert js(page, marked, ".q[open] .evidence mark") == text
    assert js(page, marked, f".q[open] .column.c{cell} .row.has mark")
    assert js(
        page, f"return document.querySelector('.q[open] .column.c{cell} .row.has .place b').textContent"
    ) == str(rank)


def test_configurations_are_chosen_side_by_side(page):
    """Buttons add and remove columns, three at most, by keyboard as well; the choice holds for the next question."""
    opened(page, "q00000")
    press = 'document.querySelector(`.q[open] .choose [data-cell="${arguments[0]}"]`).click()'
    for cell in (4, 5, 6, 7):
        js(page, press, cell)
    columns = "return [...document.querySelectorAll('.q[open] .column b')].filter(b => b.closest('p')).length"

    assert js(page, columns) == 3
    assert js(page, "return document.activeElement.dataset.cell") == "7"
    assert js(page, "return document.querySelectorAll('.q[open] [aria-pressed=\"true\"]').length") == 3
    js(page, "document.querySelector('.q[open]').open = false")
    opened(page, "q00002")
    assert js(page, columns) == 3


def test_a_heat_map_for_any_two_settings(page):
    """One grid is shown, the chosen one."""
    shown = (
        "return [...document.querySelectorAll('[data-grid]')].filter(g => !g.hidden).map(g => g.dataset.grid)"
    )

    assert js(page, shown) == ["0"]
    js(
        page,
        "const s = document.querySelector('[data-heat] select'); s.value = '2'; s.dispatchEvent(new Event('change', {bubbles: true}))",
    )
    assert js(page, shown) == ["2"]


@pytest.mark.parametrize("width", [320, 620, 1440])
def test_it_fits_from_a_phone_to_a_desk(page, width):
    """Nothing but tables, in their own frame, is wider than the window."""
    try:
        page.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
        )
        opened(page, "q00001")
        assert js(page, "return document.documentElement.scrollWidth") <= width
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize(("width", "fits"), [(1440, True), (800, False), (390, False)])
def test_the_leaderboard_with_a_baseline(browser, tmp_path, width, fits):
    """At a desk every column is seen; where some are not, the edge has a shadow, and no name breaks in a word."""
    texts = {"a.md": words(np.random.default_rng(2), 300)}
    axes = {
        "chunker": ["recursive", "sentence"],
        "context": ["context=none", "context=title"],
        "r": ["hybrid"],
    }
    made = made_sweep(tmp_path / "s", axes, [f"question {i}?" for i in range(60)], texts)
    findings = found_out(made, baseline=made.cells[1].name)
    file = write_page(made, findings, tmp_path / "report.html")
    try:
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
        )
        loaded(browser, file)
        wide, seen, shade = js(
            browser,
            "const s = document.querySelector('#leaderboard .scroll');"
            "return [s.scrollWidth, s.clientWidth, getComputedStyle(s).backgroundAttachment]",
        )
        longest = js(
            browser,
            "const n = [...document.querySelectorAll('.board .named > span')].map(s => s.scrollWidth - s.clientWidth);"
            "return Math.max(...n)",
        )
        assert js(browser, "return document.documentElement.scrollWidth") <= width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    assert (wide <= seen) == fits
    assert shade == "local, local, scroll, scroll"
    assert longest <= 0


def test_dark_mode_is_dark_and_can_be_read(page):
    """Ink on page has a contrast of 7 or more either way (WCAG 2, AAA)."""
    contrast = """
      const light = (c) => { const p = c.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255).map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * p[0] + .7152 * p[1] + .0722 * p[2]; };
      const s = getComputedStyle(document.body); return [light(s.backgroundColor), light(s.color)]"""
    try:
        for scheme in ("light", "dark"):
            page.execute_cdp_cmd(
                "Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
            )
            back, ink = js(page, contrast)
            assert (back < ink) == (scheme == "dark")
            assert (max(back, ink) + 0.05) / (min(back, ink) + 0.05) >= 7
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_it_works_in_a_sandboxed_frame(browser, file, tmp_path):
    """As MLflow shows it: ``sandbox="allow-scripts"``, no storage, no origin."""
    frame = tmp_path / "frame.html"
    content = html.escape(file.read_text(encoding="utf-8"), quote=True)
    frame.write_text(
        f'<!doctype html><meta charset="utf-8"><iframe sandbox="allow-scripts" style="width:620px;height:900px" srcdoc="{content}"></iframe>',
        encoding="utf-8",
    )
    browser.get_log("browser")
    browser.get(frame.as_uri())
    browser.switch_to.frame(0)
    try:
        wait(browser, lambda: js(browser, "return document.documentElement.dataset.ready === 'true'"))
        opened(browser, "q00001")
        assert len(listed(browser)) == 40
        assert js(browser, "return document.querySelectorAll('.q[open] mark').length") > 0
    finally:
        browser.switch_to.default_content()
    assert browser.get_log("browser") == []


def test_the_main_parts_need_no_script(browser, file):
    """Verdict, leaderboard, charts and the hardest questions are there without JavaScript."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(file.as_uri())
        text = browser.find_element("tag name", "body").text
        assert browser.find_elements("css selector", "svg.chart")
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    for said in ("configurations", "Leaderboard", "The full list needs JavaScript", "found by"):
        assert said in text


def test_places_stand_in_for_texts_that_were_not_tracked(browser, sweep, tmp_path):
    """Without texts a question still opens, to places and ranks."""
    bare = replace(sweep, texts={})
    loaded(browser, write_page(bare, found(bare), tmp_path / "report.html"))
    opened(browser, "q00001")

    assert js(browser, "return document.querySelectorAll('.q[open] .place').length") > 5
    assert js(browser, "return document.querySelectorAll('.q[open] .excerpt').length") == 0
    assert browser.get_log("browser") == []


def test_whole_documents_as_evidence(browser, sweep, tmp_path):
    """Evidence without offsets is shown by how the document begins, and its rows are framed."""
    whole = {question_id: [{"doc_id": unit["doc_id"]}] for question_id, [unit] in sweep.evidence.items()}
    cell = next(i for i, c in enumerate(sweep.cells) if c.questions["first_rank"][6] <= 5)
    other = replace(sweep, evidence=whole)
    loaded(browser, write_page(other, found(other), tmp_path / "report.html"))
    choose(browser, "cell", str(cell))
    opened(browser, "q00006")

    assert "whole document" in js(browser, "return document.querySelector('.q[open] .evidence').textContent")
    assert js(browser, f"return document.querySelectorAll('.q[open] .column.c{cell} .row.has').length") >= 1
    assert browser.get_log("browser") == []
