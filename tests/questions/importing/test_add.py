"""``python -m harness.golden.add`` as its users run it: what it says, what it writes, and that nothing stops it half-way."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from workplace import PAGES, Workplace

from harness.files.journal import Journal
from harness.golden import add
from harness.questions.importing import run

MODULE = "harness.golden.add"
QUOTES = [
    "two minutes at 75 degrees",
    "four minutes in boiling water",
    "60 grams of ground coffee",
    "25 to 30 seconds",
]


def words(here: Workplace, *more: str) -> list[str]:
    """The words of the command for this corpus and golden set."""
    return ["corpus=folder", f"corpus.path={here.documents}", f"golden.path={here.golden}", *more]


def table(path: Path, quotes: list[str], start: int = 0) -> Path:
    """A table of questions, one for each quote."""
    rows = [f'question {i},"{quote}"\n' for i, quote in enumerate(quotes, start=start)]
    path.write_text("question,quote\n" + "".join(rows), encoding="utf-8")
    return path


def lines(path: Path) -> list[dict]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def test_what_the_terminal_says(here, capsys):
    """Every figure that a user needs to trust the set, and the command that comes next."""
    table(here.root / "asked.csv", [*QUOTES, "what nobody ever wrote down anywhere"])
    code = add.main(["asked.csv", *words(here, "source=production")])
    said = capsys.readouterr().out

    assert code == 0
    assert said.splitlines() == [
        "documents  4",
        "file       asked.csv: a table (separated by commas)",
        "rows       5",
        "labels     4 VALID, 1 LOST",
        "added      4 questions",
        "rejected   1 row",
        "           line 6: LOST: the quote “what nobody ever wrote down anywhere” of no",
        "             named document stands in no document",
        "           all of them, with reasons: asked.rejected.csv",
        "           correct them there and add that file",
        f"golden set {here.golden}: 4 questions (4 production)",
        f"next       python -m harness corpus=folder corpus.path={here.documents} golden.path={here.golden} model=wordllama",
    ]


def test_copies_count_without_being_written(here, capsys):
    """They are told; the same question about another copy is the same, and two copies are one evidence."""
    (here.documents / "copy.md").write_text(PAGES["tea.md"].replace("is steeped", "steeps"), "utf-8")
    first, second = here.root / "first.csv", here.root / "second.csv"
    first.write_text(f"question,quote,doc_id\nHow hot?,{QUOTES[0]},tea.md\n", encoding="utf-8")
    second.write_text(
        f"id,question,quote,doc_id\n1,How hot?,{QUOTES[0]},copy.md\n"
        f"2,How long?,{QUOTES[1]},tea.md\n2,How long?,{QUOTES[1]},copy.md\n",
        encoding="utf-8",
    )

    assert add.main(["first.csv", *words(here)]) == 0
    assert "           1 label has equal texts elsewhere: 1 place counts as well\n" in capsys.readouterr().out
    assert [list(unit) for unit in lines(here.golden)[0]["evidence"]] == [["doc_id", "start", "end", "quote"]]

    assert add.main(["second.csv", *words(here)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 label repeats the text of another label of the question; both count as one" in said
    assert "added 1 question merged 1 question, in the set already" in said
    hot, long = lines(here.golden)
    assert [len(line["evidence"]) for line in (hot, long)] == [1, 1]

    here.golden.unlink()
    assert add.main(["second.csv", *words(here, "golden.twins=false")]) == 0
    assert "equal texts" not in capsys.readouterr().out
    assert [len(line["evidence"]) for line in lines(here.golden)] == [1, 2]


def test_a_set_that_was_added_feeds_a_sweep(here):
    """No step in between, and the labels are valid there too."""
    table(here.root / "asked.csv", QUOTES)
    added = here.run("asked.csv", *words(here), module=MODULE)
    swept = here.sweep("plan=true")

    assert added.returncode == 0, added.stderr
    assert swept.returncode == 0, swept.stderr
    assert "questions  4; labels: 4 VALID" in swept.stdout


def test_adding_twice_adds_nothing(here, capsys):
    """Neither a question nor a byte."""
    table(here.root / "asked.csv", QUOTES)
    add.main(["asked.csv", *words(here)])
    before = here.golden.read_bytes()
    capsys.readouterr()
    code = add.main(["asked.csv", *words(here)])

    assert code == 0
    assert "added      0 questions\nmerged     4 questions" in capsys.readouterr().out
    assert here.golden.read_bytes() == before


def test_a_corrected_row_can_be_added_again(here, capsys):
    """The rejected file is of the same format, and its column of reasons does no harm."""
    table(here.root / "asked.csv", [QUOTES[0], "twenty to thirty seconds"])
    add.main(["asked.csv", *words(here)])
    rejected = here.root / "asked.rejected.csv"
    unchanged = add.main([rejected.name, *words(here)])
    rejected.write_text(
        rejected.read_text(encoding="utf-8-sig").replace("twenty to thirty seconds", QUOTES[3], 1),
        encoding="utf-8",
    )
    code = add.main([rejected.name, *words(here)])

    assert (unchanged, code) == (1, 0)
    assert [line["question"] for line in lines(here.golden)] == ["question 0", "question 1"]
    assert "rejected_because" not in here.golden.read_text(encoding="utf-8")
    assert sorted(path.name for path in here.root.glob("asked*")) == ["asked.csv", "asked.rejected.csv"]
    assert "all of them" in capsys.readouterr().out


def test_lines_that_were_there_keep_their_bytes(here):
    """A hand-written file is added to, not written anew."""
    by_hand = '{"question":  "Hot?",   "evidence":[{"quote":"two minutes at 75 degrees"}]}\n\n'
    here.golden.write_text(by_hand, encoding="utf-8")
    table(here.root / "asked.csv", QUOTES[1:])
    add.main(["asked.csv", *words(here)])

    assert here.golden.read_text(encoding="utf-8").startswith(by_hand)
    assert len(lines(here.golden)) == 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "Give one file of questions"),
        (["a.csv", "b.csv"], "Give one file of questions"),
        (["-m", "asked.csv"], "Give one file of questions"),
        (["nothing.csv"], "there is no such file"),
        (["asked.csv", "format=xlsx"], "allowed are csv, pairs"),
        (["asked.csv", "source=users"], "allowed are synthetic, production, import"),
        (["asked.csv", "golden=beir"], "questions are written to a file"),
        (["asked.csv", "qrels=none.txt"], "there is no such file"),
        (["documents", "qrels=asked.csv"], "needs a file of topics"),
        (["asked.csv", "format=beir"], "is not a folder in BEIR's layout"),
        (["--strict", "asked.csv"], "unknown flag '--strict'"),
        (["asked.csv", "form=csv"], "unknown setting 'form'"),
        (["documents/cocoa.txt", "format=pairs"], "is one of the documents"),
        (["asked.csv", "format=llama_index"], "not a question set of LlamaIndex"),
        (["asked.csv", "format=trec"], "qrels=FILE"),
        (["asked.csv", "corpus.path=elsewhere"], "no such folder"),
        (["asked.csv", "golden.path=documents"], "can't be written. Give a file"),
    ],
)
def test_mistakes_are_sentences(here, capsys, given, said):
    """Each says what is wrong; nothing is written."""
    table(here.root / "asked.csv", QUOTES)
    (here.documents / "cocoa.txt").write_text("question,quote\nHot?,Cold milk first.\n", encoding="utf-8")
    keys = {word.partition("=")[0] for word in given}
    code = add.main([*given, *(word for word in words(here) if word.partition("=")[0] not in keys)])

    assert code == 1
    assert said in capsys.readouterr().err
    assert not here.golden.exists()


def test_the_sample_is_not_added_to_by_mistake(here, capsys):
    """Without a corpus the question would go into the handbook that comes with the program."""
    table(here.root / "asked.csv", QUOTES)

    assert add.main(["asked.csv"]) == 1
    assert "Name the documents" in capsys.readouterr().err


def test_names_with_blanks_and_equal_signs(here):
    """Paths are text, whatever signs they hold."""
    path = table(here.root / "asked = 1, really.csv", QUOTES)
    golden = here.root / "set = a, b.jsonl"
    code = add.main(
        [
            path.name,
            f"corpus.path={here.documents}",
            "corpus=folder",
            f"golden.path={golden}",
            "rejected=r = 1.csv",
        ]
    )

    assert code == 0
    assert len(lines(golden)) == 4


def test_ten_thousand_rows_in_few_passes(here, monkeypatch):
    """The documents are searched for all quotes at once, and the disk is waited for once."""
    import os

    from harness.text import spans

    synced, passes = [], []
    sync, find = os.fsync, spans.find_occurrences
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(1), sync(descriptor))[1])
    monkeypatch.setattr(spans, "find_occurrences", lambda *given: (passes.append(1), find(*given))[1])
    page = "\n".join(f"Fact number {i:05d} is that {i * i} is a square." for i in range(10_000))
    (here.documents / "facts.txt").write_text(page, encoding="utf-8")
    table(here.root / "asked.csv", page.split("\n"))
    code = add.main(["asked.csv", *words(here)])

    assert code == 0
    assert len(lines(here.golden)) == 10_000
    assert len(synced) <= 3
    assert len(passes) <= 4


def test_a_kill_at_any_byte_is_made_good_by_the_same_command(here):
    """Whatever part of the lines had reached the disk, the finished file is the same, without doubles."""
    table(here.root / "asked.csv", QUOTES)
    add.main(["asked.csv", *words(here)])
    whole = here.golden.read_bytes()

    for size in range(0, len(whole), 97):
        here.golden.write_bytes(whole[:size])
        assert add.main(["asked.csv", *words(here)]) == 0
        assert here.golden.read_bytes() == whole


KILLED = """
import os, signal, sys
from harness.files import journal
from harness.golden import add
write = os.write
def torn(descriptor, data):
    write(descriptor, data[: len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
journal.os.write = torn
sys.exit(add.main(sys.argv[1:]))
"""


def test_a_real_kill_in_the_middle_of_writing(here):
    """The torn line is kept beside the file, and written again."""
    table(here.root / "asked.csv", QUOTES)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, "asked.csv", *words(here)],
        cwd=here.root,
        env=here.environment(),
        check=False,
        capture_output=True,
    )
    torn = here.golden.read_bytes()
    code = add.main(["asked.csv", *words(here)])

    assert killed.returncode == -9
    assert not torn.endswith(b"\n")
    assert code == 0
    assert [line["question"] for line in lines(here.golden)] == [f"question {i}" for i in range(4)]


def test_two_processes_at_once(here):
    """One waits for the other; together they add every question once."""
    first, second = table(here.root / "a.csv", QUOTES[:3]), table(here.root / "b.csv", QUOTES[1:], start=1)
    running = [
        subprocess.Popen(
            [sys.executable, "-m", MODULE, file.name, *words(here)],
            cwd=here.root,
            env=here.environment(),
            stdout=subprocess.DEVNULL,
        )
        for file in (first, second)
    ]

    assert [process.wait() for process in running] == [0, 0]
    assert sorted(line["question"] for line in lines(here.golden)) == [f"question {i}" for i in range(4)]


def test_a_set_that_another_process_writes_is_waited_for(here, capsys, monkeypatch):
    """And when that takes too long, the sentence says so; nothing is written past the lock."""
    monkeypatch.setattr(run, "_WAIT_SECONDS", 0.0)
    table(here.root / "asked.csv", QUOTES)
    with Journal(here.golden).locked():
        assert add.main(["asked.csv", *words(here)]) == 1

    assert "another process" in capsys.readouterr().err
    assert not here.golden.exists()


def test_offsets_survive_into_the_set(here):
    """What is written stands in the document, character for character."""
    table(here.root / "asked.csv", QUOTES)
    add.main(["asked.csv", *words(here)])

    for line in lines(here.golden):
        place = line["evidence"][0]
        assert PAGES[place["doc_id"]][place["start"] : place["end"]] == place["quote"]


def test_a_packed_file_and_its_refused_rows(here, capsys):
    """Refused rows of asked.csv.gz are written where a table can be corrected: not packed, and named like it."""
    rows = f"question,quote\nHow long?,{QUOTES[0]}\nWho?,nobody ever wrote this down anywhere\n"
    (here.root / "asked.csv.gz").write_bytes(gzip.compress(rows.encode()))
    code = add.main(["asked.csv.gz", *words(here)])

    assert code == 0
    assert "file       asked.csv.gz: a table (separated by commas)" in capsys.readouterr().out
    assert "Who?,nobody" in (here.root / "asked.rejected.csv").read_text(encoding="utf-8-sig")


def test_results_are_refused_with_the_columns_and_what_to_do(here, capsys):
    """Nothing is added, and the sentence says how to go on."""
    (here.root / "results.csv").write_text(f'question,question_type,answer,ground_truth,contexts\nHow?,simple,a,g,"[\'{QUOTES[0]}\']"\n')  # fmt: skip
    code = add.main(["results.csv", *words(here)])
    said = " ".join(capsys.readouterr().err.split())

    assert code == 1
    assert "contexts beside answer and ground_truth: this is what a retriever returned, not evidence." in said
    assert "name it reference_contexts" in said
    assert not here.golden.exists()


def test_what_is_proposed_is_accepted_by_renaming(here, capsys):
    """An edited quote comes back with the document's own words, which then are the label."""
    edited = QUOTES[0].replace(QUOTES[0].split()[-1], "something")
    table(here.root / "asked.csv", [edited])
    refused = add.main(["asked.csv", *words(here)])
    rejected = here.root / "asked.rejected.csv"
    text = rejected.read_text(encoding="utf-8-sig")
    again = add.main([rejected.name, *words(here)])
    rejected.write_text(text.replace(",quote,proposed_quote,", ",old,quote,", 1), encoding="utf-8")
    code = add.main([rejected.name, *words(here)])

    assert text.splitlines()[0] == "question,quote,proposed_quote,proposed_doc_id,rejected_because"
    assert (refused, again, code) == (1, 1, 0)
    (line,) = lines(here.golden)
    assert len(line["evidence"]) == 1
    assert "rename proposed_quote to quote" in " ".join(capsys.readouterr().out.split())
