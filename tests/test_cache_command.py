"""``python -m harness.cache``: what people read and type."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from rich.cells import cell_len

from harness import cache
from harness.records import Encoded
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel

LONG = "sentence-transformers/paraphrase-multilingual-mpnet-base-v2-distilled-for-long-questions"


class StandIn:
    """Constant vectors; only the names matter here."""

    def __init__(self, name, revision="1"):
        self.name, self.revision = name, revision

    def identity(self):
        return {"name": self.name, "revision": self.revision, "dim": 2, "window": None}

    def whole(self):
        return self

    def cut(self, encoded):
        return encoded

    def check(self, encoded, texts):
        pass

    def encode_documents(self, texts):
        lengths = np.ones(len(texts), np.int64)
        return Encoded(np.ones((len(texts), 2), np.float32), lengths, lengths, lengths)


def embedded(folder, name, number=3, days=0.0, **kwargs):
    """So many texts, embedded by this model and last used so many days ago."""
    model = CachedModel(StandIn(name, **kwargs), EmbeddingStore(folder / "embeddings"))
    model.encode_documents([f"{i}" for i in range(number)])
    then = time.time() - days * 24 * 3600
    place = model.folder("document")
    for path in (*place.iterdir(), place):
        os.utime(path, (then, then))
    return place


@pytest.fixture
def said(tmp_path, capsys):
    """Runs the command on this folder: exit code, output, complaints."""

    def run(*words, folder=tmp_path):
        code = cache.main([f"cache={folder}", *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_real_sweep_is_listed_checked_and_removed(workplace):
    """After a sweep its embeddings and rankings are there, sound, and go when they are told to; the next sweep works."""
    done = workplace.sweep("model=wordllama", "tracker=none")
    assert done.returncode == 0, done.stdout + done.stderr

    listed = workplace.run(module="harness.cache")
    assert listed.returncode == 0, listed.stderr
    rows = [line.split() for line in listed.stdout.splitlines()]
    assert [row[:2] for row in rows if row and row[0].startswith("wordllama")] == [
        ["wordllama-l2-supercat-256", "document"],
        ["wordllama-l2-supercat-256", "query"],
    ]
    assert any(row[:2] == ["rankings", "1"] for row in rows)
    assert max(map(len, listed.stdout.splitlines()[1:])) <= 80

    damaged = next(workplace.root.rglob("ranking-*.npz"))
    damaged.write_bytes(damaged.read_bytes()[:-30])
    both = workplace.run("verify=true", module="harness.cache")
    assert both.returncode == 1
    assert str(damaged) in both.stdout
    assert "computed again" in both.stdout

    assert workplace.run("prune=0", module="harness.cache").returncode == 0
    assert not list(workplace.root.rglob("*.safetensors"))
    assert workplace.sweep("model=wordllama", "tracker=none").returncode == 0


def test_names_are_never_cut(said, tmp_path):
    """A name of any length and script is whole; every other line fits into 80 columns; numbers stand below one another."""
    embedded(tmp_path, LONG, 1234)
    embedded(tmp_path, "日本語/モデル", days=412)
    embedded(tmp_path, "short")
    code, out, _ = said()

    assert code == 0
    lines = out.splitlines()[2:-3]
    assert LONG in lines
    assert all(cell_len(line) <= 80 for line in lines if line != LONG)
    assert len({cell_len(line) for line in lines if line != LONG}) == 1
    assert [line.split()[-1] for line in lines if set(line) != {"-"}] == ["idle", LONG, "0", "0", "412"]
    assert "1,234" in out


def test_models_that_look_alike_are_told_apart(said, tmp_path):
    """Two revisions of one model are two lines with a part of their folder's name."""
    places = [embedded(tmp_path, "org/model", revision=revision) for revision in ("1", "2")]
    _, out, _ = said()

    assert all(f"org/model {place.name[:6]}" in out for place in places)


def test_pruning_says_what_went_and_what_is_free(said, tmp_path):
    """The removed lines are shown, with the room there is; a second time there is nothing to remove."""
    embedded(tmp_path, "old", days=31)
    stays = embedded(tmp_path, "young", days=29)
    code, out, _ = said("prune=30")

    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if " document " in line] == ["old"]
    assert "GB free now" in out
    assert stays.exists()
    assert said("prune=30")[1].startswith("nothing was idle for 30 days; ")


def test_only_restricts_everything(said, tmp_path):
    """Listing and removing touch only models whose name contains it; a name that nothing has is answered with those there are."""
    first, second = embedded(tmp_path, "org/first"), embedded(tmp_path, "org/second")
    assert "second" not in said("only=fIRST")[1]
    said("only=first", "prune=0")
    assert (first.exists(), second.exists()) == (False, True)
    for name in ("1e5", "a, [b"):
        assert f"'{name}' is cached; models: org/second" in said(f"only={name}")[1]
    code, out, _ = said("only=third", "prune=0")
    assert code == 0
    assert "'third' is cached; models: org/second" in out
    assert second.exists()


def test_nothing_yet(said, tmp_path):
    """A folder that does not exist, and an empty one, are no mistakes, whatever is asked."""
    for words in ([], ["verify=true"], ["prune=3"]):
        code, out, _ = said(*words, folder=tmp_path / "none")
        assert (code, out) == (0, f"nothing is cached in {tmp_path / 'none'} yet\n")
    assert not (tmp_path / "none").exists()
    assert said()[0] == 0


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("prune=abc", "error: prune is abc; it must be a whole number of days, at least 0"),
        ("prune=-1", "error: prune is -1; it must be a whole number of days, at least 0"),
        ("prune=1.5", "error: prune is 1.5; it must be a whole number of days, at least 0"),
        ("prune=true", "error: prune is True; it must be a whole number of days, at least 0"),
        ("prune=", "error: prune is empty; it must be a whole number of days"),
        ("verify=perhaps", "error: verify is perhaps; it must be true or false"),
        ("verfy=true", "error: unknown setting 'verfy'. Did you mean verify?"),
        (
            "zzzz=1",
            "error: unknown setting 'zzzz'. Settings of cache: verify, prune, only. Further ones: python -m harness --help",
        ),
        ("prune", "error: unexpected argument 'prune'. Arguments: verify=true, prune=DAYS"),
        ("-m", "error: unexpected argument '-m'."),
    ],
)
def test_wrong_words_are_answered_by_a_sentence(said, tmp_path, word, answer):
    """Nothing is removed, the exit code is 1, and the answer says what is allowed."""
    place = embedded(tmp_path, "old", days=400)
    code, out, err = said(word)

    assert (code, out) == (1, "")
    assert err.startswith(answer)
    assert place.exists()
