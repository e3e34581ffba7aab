"""``python -m harness.golden.check`` as its users run it."""

from __future__ import annotations

import json
import re

import pyarrow.parquet as pq
import pytest

TEXTS = {
    "tea.md": "# Tea\n\nGreen tea is steeped for two minutes at seventy-five degrees, and never longer.\n\nBlack tea takes four minutes in boiling water, with the lid on the pot.\n",
    "coffee.md": "# Coffee\n\nUse sixty grams of freshly ground coffee for each litre of water in the filter.\n\nThe water should be just off the boil when it is poured.\n",
    "cocoa.txt": "Cocoa is whisked into a little cold milk first, so that no lumps are left.\n\nThen hot milk is poured over it slowly.\n",
    "mate.md": "# Mate\n\nFill the gourd to two thirds with leaves, and tilt it before the water is poured in.\n",
}
QUESTIONS = {
    "green": ("How hot should it be for a green brew?", "tea.md", "Green tea is steeped for two minutes at seventy-five degrees"),
    "black": ("How long do I leave the dark leaves?", "tea.md", "Black tea takes four minutes in boiling water"),
    "filter": ("How much powder per litre?", "coffee.md", "Use sixty grams of freshly ground coffee for each litre of water"),
    "cocoa": ("Is chocolate stirred into something hot?", "cocoa.txt", "Cocoa is whisked into a little cold milk first"),
    "mate": ("How full is a gourd?", "mate.md", "Fill the gourd to two thirds with leaves"),
}  # fmt: skip

pytestmark = pytest.mark.models


@pytest.fixture
def kitchen(workplace):
    """A workplace with longer quotes, so that an edit leaves something to recognise."""
    for file in sorted(workplace.documents.rglob("*.*")):
        file.unlink()
    for name, text in TEXTS.items():
        (workplace.documents / name).write_text(text, encoding="utf-8", newline="")
    lines = []
    for question_id, (question, doc_id, quote) in QUESTIONS.items():
        start = TEXTS[doc_id].index(quote)
        place = {"doc_id": doc_id, "start": start, "end": start + len(quote), "quote": quote}
        lines.append(json.dumps({"question_id": question_id, "question": question, "evidence": [place]}))
    workplace.golden.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return workplace


def check(place, *words):
    given = ("corpus=folder", f"corpus.path={place.documents}", f"golden.path={place.golden}")
    return place.run(*given, *words, module="harness.golden.check")


def edit(place):
    """A paragraph at the top of one document, another wording in the second, a sentence gone from the third."""
    tea, coffee, cocoa = (place.documents / name for name in ("tea.md", "coffee.md", "cocoa.txt"))
    tea.write_text("Everybody asks about tea, so here is all there is to know.\n\n" + TEXTS["tea.md"])
    coffee.write_text(TEXTS["coffee.md"].replace("sixty grams", "seventy grams"))
    cocoa.write_text("Hot milk is poured over it slowly.\n")


def golden_lines(place):
    return {item["question_id"]: item for item in map(json.loads, place.golden.read_text().splitlines())}


def scores(place):
    """All figures of every question in the newest cell."""
    newest = max(place.root.glob("outputs/*/*/*/questions.parquet"), key=lambda file: file.stat().st_mtime_ns)
    return {row["question_id"]: row for row in pq.read_table(newest).to_pylist()}


def test_edited_documents(kitchen):
    """Labels are MOVED, CHANGED and LOST in the right numbers; accepting mends the file and keeps what is lost.

    The scores of the question that was not touched stay as they were.
    """
    sweep = ("tracker=none", "retriever=bm25")
    assert kitchen.sweep(*sweep).returncode == 0
    before = scores(kitchen)
    edit(kitchen)
    assert kitchen.sweep(*sweep).returncode == 0
    edited = scores(kitchen)
    seen = check(kitchen, "output=report.txt")

    assert seen.returncode == 0, seen.stderr
    assert re.search(r"^labels +1 VALID, 2 MOVED, 1 CHANGED, 1 LOST$", seen.stdout, re.MULTILINE)
    assert "was: Use sixty grams of freshly ground coffee for each litre of water" in seen.stdout
    assert "now: Use seventy grams of freshly ground coffee for each litre of water" in seen.stdout
    report = (kitchen.root / "report.txt").read_text(encoding="utf-8")
    assert "questions: green, black" in report
    assert "1 question is not scored" in report

    old = kitchen.golden.read_bytes()
    done = check(kitchen, "accept=true")
    assert done.returncode == 0, done.stderr
    assert "2 re-anchored, 1 reworded, 1 marked as lost" in done.stdout
    assert (kitchen.golden.parent / "golden.jsonl.bak").read_bytes() == old
    lines = golden_lines(kitchen)
    assert list(lines) == list(QUESTIONS)
    assert lines["cocoa"]["evidence"][0]["state"] == "LOST"
    assert lines["cocoa"]["evidence"][0]["quote"] == QUESTIONS["cocoa"][2]
    assert lines["filter"]["evidence"][0]["quote"].startswith("Use seventy grams")
    for question_id in ("green", "black", "filter", "mate"):
        place = lines[question_id]["evidence"][0]
        text = (kitchen.documents / place["doc_id"]).read_text()
        assert text[place["start"] : place["end"]] == place["quote"]

    assert kitchen.sweep(*sweep).returncode == 0
    after = scores(kitchen)
    assert set(after) == {"green", "black", "filter", "mate"}
    assert after["mate"] == before["mate"]
    assert edited == {question_id: after[question_id] for question_id in ("green", "black", "mate")}
    again = check(kitchen, "accept=true", "strict=true")
    assert re.search(r"^labels +4 VALID, 1 LOST$", again.stdout, re.MULTILINE)
    assert "marked as LOST in the file" in again.stdout
    assert "Nothing to accept" in again.stdout


def test_lost_text_may_come_back(kitchen):
    """A marked label is looked for all the same: when its text returns, so does the question, and accepting takes the mark away."""
    edit(kitchen)
    check(kitchen, "accept=true")
    for name, text in TEXTS.items():
        (kitchen.documents / name).write_text(text)
    done = check(kitchen, "accept=true")

    assert "1 unmarked" in done.stdout
    assert "LOST" not in kitchen.golden.read_text()
    assert (kitchen.golden.parent / "golden.jsonl.bak2").is_file()


def test_strict_and_what_is_serious(kitchen):
    """The exit code is 1 only with ``strict`` and something serious; ids and severity are in the JSON for scripts."""
    edit(kitchen)
    strict = check(kitchen, "strict=true", "output=health.json")
    found = json.loads((kitchen.root / "health.json").read_text())

    assert (strict.returncode, check(kitchen).returncode) == (1, 0)
    assert found["serious"] >= 2
    lost = next(finding for finding in found["findings"] if finding["kind"] == "lost")
    assert (lost["severity"], lost["question_ids"]) == ("serious", ["cocoa"])


def test_copies_count_or_are_accepted(kitchen):
    """A passage in a second document counts by itself; where labels count as written, it becomes an alternative."""
    (kitchen.documents / "copy.md").write_text("Also here: " + QUESTIONS["mate"][2] + ".\n")
    done = check(kitchen, "accept=true")

    assert "copies       1 label has equal texts elsewhere: 1 place counts as well" in done.stdout
    assert "Nothing to accept" in done.stdout

    done = check(kitchen, "accept=true", "golden.twins=false")

    assert "1 given alternatives" in done.stdout
    evidence = golden_lines(kitchen)["mate"]["evidence"][0]
    assert evidence["doc_id"] == "mate.md"
    assert [(other["doc_id"], other["start"]) for other in evidence["alternatives"]] == [("copy.md", 11)]
    assert "Nothing to accept" in check(kitchen, "accept=true", "golden.twins=false").stdout


def test_judgements_outlive_a_rewrite(kitchen):
    """What is not relevant, and a repeat, stand before the evidence that moved: each entry keeps its place."""
    items = golden_lines(kitchen)
    apart = [
        {"doc_id": "cocoa.txt", "grade": 0},
        *items["filter"]["evidence"] * 2,
        {"doc_id": "mate.md", "grade": -0.5},
    ]
    items["green"]["evidence"] = [*apart[::3], *items["green"]["evidence"]]
    items["filter"]["evidence"] = apart[:3]
    items["black"]["not_relevant"] = [{"doc_id": "mate.md"}]
    items["none"] = {"question_id": "none", "question": "Is there a dog?", "evidence": []}
    kitchen.golden.write_text("".join(json.dumps(item) + "\n" for item in items.values()))
    edit(kitchen)
    done = check(kitchen, "accept=true")
    after = golden_lines(kitchen)

    assert "2 re-anchored, 1 reworded, 1 marked as lost" in done.stdout.replace("\n", " ")
    assert after["green"]["evidence"][:2] == apart[::3]
    assert after["green"]["evidence"][2]["start"] == items["green"]["evidence"][2]["start"] + 60
    assert after["filter"]["evidence"][0] == apart[0]
    assert "seventy grams" in after["filter"]["evidence"][1]["quote"]
    assert after["black"]["not_relevant"] == [{"doc_id": "mate.md"}]
    assert after["none"] == items["none"]


def test_a_label_is_not_moved_into_a_copy(kitchen):
    """The old page lives on under another name: the label is reworded or left at home, and moves once its page is deleted."""
    home = golden_lines(kitchen)["filter"]["evidence"][0]["doc_id"]
    (kitchen.documents / "copy of filter.md").write_bytes((kitchen.documents / home).read_bytes())
    edit(kitchen)
    assert check(kitchen, "accept=true").returncode == 0
    assert golden_lines(kitchen)["filter"]["evidence"][0]["doc_id"] == home
    (kitchen.documents / home).write_text("# Filter\n\nNothing is left of what was here.\n")
    seen = " ".join(check(kitchen, "accept=true").stdout.split())
    assert golden_lines(kitchen)["filter"]["evidence"][0]["doc_id"] == home, seen


def test_ids_outlive_a_rewrite(kitchen):
    """Lines without an id have the number of their line for one; blank lines may go, the ids stay."""
    lines = [json.loads(line) for line in kitchen.golden.read_text().splitlines()]
    for line in lines:
        del line["question_id"]
    kitchen.golden.write_text("\n\n".join(map(json.dumps, lines)) + "\n")
    edit(kitchen)
    check(kitchen, "accept=true")

    assert list(golden_lines(kitchen)) == ["q0001", "q0003", "q0005", "q0007", "q0009"]


def test_a_set_for_another_corpus(kitchen):
    """When nothing can be scored the report says why, and changes nothing unless it is told to."""
    for file in sorted(kitchen.documents.glob("*.*")):
        file.write_text("Something else altogether stands here now.\n")
    old = kitchen.golden.read_bytes()
    done = check(kitchen, "strict=true")

    assert done.returncode == 1
    assert "5 LOST" in done.stdout
    assert "another corpus" in " ".join(done.stdout.split())
    assert kitchen.golden.read_bytes() == old


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report.md"], "unexpected argument 'report.md'"),
        (["-m", "chunk=128,256"], "unexpected argument '-m'"),
        (["accept=1"], "accept is 1; it must be true or false"),
        (["chunk=128,x"], "chunk=128,x: give whole numbers"),
        (["retriever=dense"], "remove retriever="),
        (["acept=true"], "Did you mean accept"),
        (["golden.path=nowhere.jsonl", "accept=true"], "there is no such file"),
        (["golden=beir", "accept=true"], "can't be used with golden=beir"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_mistakes(kitchen, words, message):
    """Every wrong word is answered by a sentence, before anything is read."""
    done = check(kitchen, *(word for word in words))

    assert done.returncode == 4
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(kitchen.root.glob("*nowhere*"))


def test_sizes_that_are_to_be_compared(kitchen):
    """``chunk=256,512`` asks about both."""
    done = check(kitchen, "chunk=256,512")

    assert "Every document is one chunk (the longest has" in done.stdout
    assert "chunk=256, 512" in done.stdout
