from __future__ import annotations

import os
import socket

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.corpus.folder import FolderCorpus, _documents
from harness.corpus.gather import Notes, summary
from harness.corpus.walk import CorpusFile, _entries
from harness.errors import InputError, SettingError

TEXTS = ["*.md", "*.txt"]


def write(folder, **files):
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_md", ".md").replace("_txt", ".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def load(folder, pattern=TEXTS):
    return FolderCorpus(str(folder), pattern).load()


def ids(loaded):
    return [document.doc_id for document in loaded.documents]


def test_documents_are_the_files_in_the_order_of_their_paths(tmp_path):
    """Ids are paths with a slash, sorted as texts; positions count from 0.

    Titles come from the first heading.
    """
    write(
        tmp_path,
        b_md="# B  \nx",
        a__z_md="no heading",
        a_txt="# no Markdown",
        B_md="```\n# code\n```\n## Real ##\n",
    )

    loaded = load(tmp_path)

    assert ids(loaded) == ["B.md", "a.txt", "a/z.md", "b.md"]
    assert [document.position for document in loaded.documents] == [0, 1, 2, 3]
    assert [document.title for document in loaded.documents] == ["Real", "a.txt", "z.md", "B"]
    assert {document.embed_prefix for document in loaded.documents} == {""}
    assert loaded.notes == {}


@settings(derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), st.data())
def test_a_file_comes_back_character_for_character(tmp_path, text, data):
    """Offsets taken in the text as written hold in the document: nothing before them was added or dropped."""
    text = "x" + text  # a mark at the very start is dropped, which another test covers
    start = data.draw(st.integers(0, len(text)))
    write(tmp_path, a_md=text)

    (document,) = load(tmp_path).documents

    assert document.text == text
    assert document.text[start:] == text[start:]


def test_what_is_left_out_is_named(tmp_path):
    """Binary, empty, blank, other formats, hidden, other encodings, equal texts.

    Each is in the notes by name.
    """
    write(
        tmp_path,
        good_md="text",
        twin_md="text",
        empty_md="",
        blank_md=" \r\n\t\u3000",
        image_md=b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0",
        old_txt="Le café était fermé à cause de la grève. Où êtes-vous ?".encode("cp1252"),
        wide_txt="plain words in two bytes each".encode("utf-16-le"),
        marked_md=b"\xef\xbb\xbfwith a mark",
    )
    for name in ("a.pdf", "b.PDF", "c.docx", "Makefile", ".secret.md"):
        (tmp_path / name).write_text("x")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.md").write_text("x")

    loaded = load(tmp_path)

    assert ids(loaded) == ["good.md", "marked.md", "old.txt", "twin.md", "wide.txt"]
    assert loaded.documents[1].text == "with a mark"
    assert loaded.notes == {
        "hidden": (".git", ".secret.md"),
        "other formats": (".docx (1 file)", ".pdf (2 files)", "no extension (1 file)"),
        "empty": ("blank.md", "empty.md"),
        "binary": ("image.md",),
        "not UTF-8": ("old.txt (cp1252)", "wide.txt (utf-16-le without a byte order mark)"),
        "same text": ("twin.md (as good.md)",),
    }


def test_of_equal_texts_the_longer_name_is_the_copy(tmp_path):
    """The name "copy of guide.md" comes first in the order, and is the copy all the same.

    Both are documents.
    """
    for name in ("copy of guide.md", "guide.md", "old guide.md"):
        (tmp_path / name).write_text("text")

    loaded = load(tmp_path)

    assert ids(loaded) == ["copy of guide.md", "guide.md", "old guide.md"]
    assert loaded.notes == {"same text": ("copy of guide.md (as guide.md)", "old guide.md (as guide.md)")}


def test_links_are_followed_inside_only_and_never_twice(tmp_path):
    """A link out of the folder, a loop, a dangling link and a second name of a file are named, not read."""
    write(tmp_path, outside__x_md="secret", corpus__a_md="a", corpus__sub__b_md="b", corpus__raw_dat="c")
    corpus = tmp_path / "corpus"
    for name, target in {
        "away.md": "../outside/x.md",
        "away": "../outside",
        "again.md": "a.md",
        "loop": ".",
        "nowhere.md": "missing.md",
        "circle.md": "circle.md",
        "through.md": "raw_dat",
        "sub/up": "..",
    }.items():
        (corpus / name).symlink_to(target)

    loaded = load(corpus)

    assert ids(loaded) == ["a.md", "sub/b.md", "through.md"]
    assert loaded.notes["link out of the folder"] == ("away", "away.md")
    assert set(loaded.notes["link to what is read anyway"]) >= {"again.md", "loop", "sub/up"}
    unreadable = loaded.notes["unreadable"]
    assert any(note.startswith("nowhere.md (link: no such file") for note in unreadable)
    assert any(note.startswith("circle.md (link: ") for note in unreadable)


def test_what_is_no_regular_file_is_not_opened(tmp_path):
    """A pipe would wait for ever; a folder may be called x.md."""
    write(tmp_path, a_md="a", x_md__inside_md="b")
    os.mkfifo(tmp_path / "pipe.md")
    here = os.getcwd()  # noqa: PTH109 - a socket's path must be short
    os.chdir(tmp_path)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket.md")
    finally:
        os.chdir(here)

    loaded = load(tmp_path)

    assert ids(loaded) == ["a.md", "x.md/inside.md"]
    assert loaded.notes["unreadable"] == ("pipe.md (not a regular file)", "socket.md (not a regular file)")


def test_a_link_to_the_folder_itself_may_be_given(tmp_path):
    """corpus.path may be a symbolic link; what lies behind it counts as inside."""
    write(tmp_path, real__a_md="a")
    (tmp_path / "link").symlink_to("real")

    assert ids(load(tmp_path / "link")) == ["a.md"]


def test_a_name_that_is_no_text_can_be_printed(tmp_path):
    """File names are bytes; one that is not UTF-8 becomes an id that can be written anywhere."""
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")

    (document,) = load(tmp_path).documents

    assert document.doc_id == r"caf\xe9.md"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.md", ["a.md", "g/b.md", "g/h/c.MD"]),
        (["g/*.md"], ["g/b.md"]),
        ("g/**/*.md", ["g/b.md", "g/h/c.MD"]),
        ("**/h/*", ["g/h/c.MD", "g/h/d.txt"]),
        ("**", ["a.md", "g/b.md", "g/h/c.MD", "g/h/d.txt"]),
        ("[!ab].*", ["g/h/c.MD", "g/h/d.txt"]),
        ("?.txt", ["g/h/d.txt"]),
    ],
)
def test_patterns_choose_files(tmp_path, pattern, expected):
    """A glob without a slash is about names in all folders, one with a slash about paths from the top."""
    write(tmp_path, a_md="1", g__b_md="2", g__h__d_txt="4")
    (tmp_path / "g/h/c.MD").write_text("3")

    assert ids(load(tmp_path, pattern)) == expected


@pytest.mark.parametrize("pattern", ["", [], [""], [3], None])
def test_a_pattern_must_be_a_glob(pattern):
    """The setting is refused before anything is read, by its name."""
    with pytest.raises(SettingError, match=r"corpus\.pattern is .*must be a glob") as caught:
        FolderCorpus("anywhere", pattern)
    assert caught.value.key == "corpus.pattern"


def test_a_missing_folder_and_a_file_are_refused(tmp_path):
    """The message says what was given and what would do."""
    write(tmp_path, a_md="a")

    with pytest.raises(InputError, match=r"no such folder .*Check the spelling"):
        load(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"is not a folder. corpus=folder reads a folder") as caught:
        load(tmp_path / "a.md")
    assert caught.value.path == tmp_path / "a.md"


def test_nothing_left_says_what_was_looked_for_and_found(tmp_path):
    """A folder of PDF files does not become an empty corpus."""
    (tmp_path / "a.pdf").write_text("x")
    write(tmp_path, b_md=" ")

    with pytest.raises(InputError) as caught:
        load(tmp_path)
    message = str(caught.value)
    assert f"No documents in {tmp_path}: looked for files named *.md, *.txt" in message
    assert "other formats: .pdf (1 file); empty: b.md" in message

    (tmp_path / "a.pdf").unlink()
    (tmp_path / "b.md").unlink()
    with pytest.raises(InputError, match="Nothing at all was found"):
        load(tmp_path)


def test_the_digest_follows_ids_and_texts(tmp_path):
    """Equal files give equal digests.

    Another text, another id, or text moved from one file to the next do not.
    """

    def digest(name, **files):
        write(tmp_path / name, **files)
        return load(tmp_path / name).digest

    first = digest("one", a_md="xy", b_md="z")
    assert digest("two", b_md="z", a_md="xy") == first
    assert digest("three", a_md="x", b_md="yz") != first
    assert digest("four", a_md="xy", c_md="z") != first
    assert len(first) == 64


def test_what_vanishes_while_it_is_read_is_named(tmp_path):
    """A file or folder that is gone between the listing and the reading does not end the run."""
    notes = Notes()

    assert list(_documents([CorpusFile("gone.md", tmp_path / "gone.md")], notes)) == []
    assert _entries(tmp_path / "sub", "sub/", notes) == []
    assert notes.frozen() == {
        "unreadable": ("gone.md (no such file or directory)", "sub/ (no such file or directory)")
    }


def test_own_results_and_golden_sets_are_no_documents(tmp_path):
    """Folders are known by what lies in them, files by how they begin; whatever else is called so stays."""
    own = {
        "outputs/2026-11-30/21-59-34/sweep.json": '{\n "schema": 3,\n "name": "x"}',
        "outputs/2026-11-30/21-59-34/notes.md": "of the sweep",
        "outputs/2026-11-30/21-59-34/0/deep/page.md": "of a cell",
        "runs/0/result.json": '{\n "schema": 3}',
        "runs/0/error.txt": "Traceback",
        "mlruns/artifacts/abc/artifacts/page.md": "logged",
        "mlartifacts/1/abc/artifacts/page.md": "logged",
        "store/mlflow.db": "SQLite",
        "store/artifacts/page.md": "logged",
        "model/MLmodel": "flavors:",
        "model/requirements.txt": "mlflow",
        "report.html": "<!doctype html>\r\n<head>\r\n<title>2 cells \u00b7 retrieval report</title>",
        "leaderboard.md": "# Leaderboard\n\n**No winner.**\n\n| cell | recall@5 |\n|---|---:|\n| a | 1 |\n",
        "check.md": "golden.jsonl: 1 question, 2 documents; nothing found\n\nquestions    1\n",
        "gate.md": "### Retrieval gate: Undecided\n",
        "questions.txt": '{"question_id": "a", "question": "Why?", "evidence": [{"doc_id": "a.md"}]}\n',
    }
    own |= {
        "asked.txt": '{"query": "Why?", "relevant_doc_ids": ["a.md"]}\n',
        "golden.ledger.txt": '{"request": "abc", "passage": "p"}\n',
        "scores.txt": "question_id,cluster,recall_at_5\nh001,a.md,1.0\n",
        "decision.txt": '{\n "sweep": "2 cells",\n "run_id": "x"\n}',
        "production.txt": "# One retrieval configuration, written by `python -m harness.pick`.\n",
        "cache/rankings/0a/ranking.json": "{}",
    }
    own["board.md"] = own["leaderboard.md"].removeprefix("# Leaderboard\n\n")
    others = {
        "api/bold.md": "**Cells.**\n\n| cell | volts |\n|---|---:|\n",
        "api/report.html": "<!doctype html>\n<title>Sales report</title>",
        "games/leaderboard.md": "# Leaderboard\n\n| player | points |\n|---|---:|\n",
        "games/result.json": '{"winner": "a"}',
        "outputs/guide.md": "What a power supply puts out.",
        "cache/tuning.md": "Caches need tuning.",
        "mlruns/about.md/mlruns/page.md": "How we run MLflow.",
        "check.txt": "golden.jsonl: what is in it\n",
        "faq.txt": '{"question": "Why?"}\n',
    }
    for name, content in (own | others).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, newline="")

    loaded = load(tmp_path, ["*.md", "*.txt", "*.html"])

    nested = "mlruns/about.md/mlruns/page.md"  # lies in a store
    assert ids(loaded) == sorted(
        name for name in others if name.endswith((".md", ".txt", ".html")) and name != nested
    )
    passed_over = {name for name in own if name.endswith((".md", ".txt", ".html"))} | {nested}
    assert set(loaded.notes["written by this program"]) == passed_over
    assert summary(loaded.notes)[0].startswith(f"written by this program ({len(passed_over)}): ")


def test_the_folder_itself_is_read_whatever_lies_in_it(tmp_path):
    """A store beside the documents does not make the whole corpus one."""
    write(tmp_path, a_md="a", artifacts__b_md="b")
    (tmp_path / "mlflow.db").write_text("x")
    (tmp_path / "sweep.json").write_text('{\n "schema": 3}')

    assert ids(load(tmp_path)) == ["a.md", "artifacts/b.md"]


def test_what_is_excluded_is_counted(tmp_path):
    """What package managers install, the user's patterns, and those of every .gitignore, the innermost first."""
    write(
        tmp_path,
        a_md="a",
        CHANGELOG_md="1.0",
        docs__CHANGELOG_md="1.1",
        drafts__x__b_md="b",
        door_lock_md="d",
    )
    write(
        tmp_path, node_modules__x__README_md="x", build__c_md="c", docs__build__keep_md="d", docs__tmp_md="t"
    )
    write(tmp_path, docs__log_txt="l", log_txt="l2", node_modules__x__index_js="x")
    (tmp_path / ".gitignore").write_text("# built\nbuild/\n*.txt\n!\n")
    (tmp_path / "docs/.gitignore").write_text("!log.txt\n/tmp.md\n!build/\n")

    def read(**settings):
        return FolderCorpus(str(tmp_path), TEXTS, **settings).load()

    plain = read()
    assert ids(plain) == [
        *("CHANGELOG.md", "a.md", "docs/CHANGELOG.md", "docs/build/keep.md", "docs/log.txt", "door_lock.md"),
        "drafts/x/b.md",
    ]
    assert plain.notes["excluded"] == ("node_modules/x/README.md",)
    assert sorted(plain.notes["ignored by .gitignore"]) == ["build/c.md", "docs/tmp.md", "log.txt"]
    (line,) = (line for line in summary(plain.notes) if line.startswith("ignored by .gitignore (3): "))
    assert line.endswith("; corpus.gitignore=false reads them")
    every = read(gitignore=False, exclude=["drafts/", "/CHANGELOG.md", "!node_modules/"])
    assert ids(every) == [
        *("a.md", "build/c.md", "docs/CHANGELOG.md", "docs/build/keep.md", "docs/log.txt", "docs/tmp.md"),
        *("door_lock.md", "log.txt", "node_modules/x/README.md"),
    ]
    assert sorted(every.notes["excluded"]) == ["CHANGELOG.md", "drafts/x/b.md"]
    assert ids(read(exclude="*.md")) == ["docs/log.txt"]
    (tmp_path / ".gitignore").write_text("*\n")
    with pytest.raises(InputError, match=r"ignored by .gitignore: a.md; corpus.gitignore=false reads them"):
        load(tmp_path, ["a.md"])


@pytest.mark.parametrize("wrong", [["!"], [3], [None]])
def test_a_pattern_that_excludes_must_be_one(wrong):
    """The setting is refused by its name."""
    with pytest.raises(SettingError, match=r"corpus\.exclude is .*must be a list of patterns"):
        FolderCorpus("anywhere", TEXTS, exclude=wrong)
    with pytest.raises(SettingError, match=r"corpus\.gitignore is no"):
        FolderCorpus("anywhere", TEXTS, gitignore="no")
