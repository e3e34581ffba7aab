"""What is kept is listed as it is, checked to the last byte, and removed only when nobody used it."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import time
from pathlib import Path

import numpy as np
import pytest

from harness.errors import StoreError
from harness.records import Chunks, Document, Encoded, Ranking
from harness.store import upkeep
from harness.store.arrays import DamagedArchiveError, mark_used, read_archive, write_archive
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel
from harness.store.rankings import CachedRetriever

TEXTS = [f"text {i}" for i in range(100)]


class StandIn:
    """A model whose vectors follow from the text; ``before`` is called with each batch."""

    def __init__(self, name="stand-in", before=lambda: None):
        self.name, self.before, self.calls = name, before, 0

    def identity(self):
        return {"name": self.name, "query_prompt": "", "document_prompt": "", "dim": 8, "window": 256}

    def place(self):
        return "here"

    def whole(self):
        return self

    def cut(self, encoded):
        return encoded

    def check(self, encoded, texts):
        pass

    def encode_documents(self, texts):
        self.before()
        self.calls += 1
        rows = [np.frombuffer(hashlib.sha256(text.encode()).digest(), "u1")[:8] + 1.0 for text in texts]
        vectors = np.array(rows, np.float64).reshape(-1, 8)
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        lengths = np.array([len(text) for text in texts], np.int64)
        return Encoded(vectors, lengths, lengths, lengths)

    encode_queries = encode_documents


class Searching:
    """A retriever of ten rows that counts its searches."""

    uses_model = True

    def __init__(self):
        self.searches = 0

    def build(self, chunks, model, index):
        pass

    def search(self, questions, depth, groups=None):
        self.searches += 1
        return Ranking(
            np.tile(np.arange(depth), (len(questions), 1)), np.ones((len(questions), depth), np.float32)
        )


def embedded(cache, name="stand-in", texts=TEXTS, **kwargs):
    """Texts embedded and kept as a sweep does it."""
    model = CachedModel(StandIn(name, **kwargs), EmbeddingStore(cache / "embeddings"))
    model.encode_documents(texts)
    return model


def ranked(cache, name="stand-in", corpus="c"):
    """A retriever with one kept ranking."""
    model = CachedModel(StandIn(name), EmbeddingStore(cache / "embeddings"))
    kept = CachedRetriever(Searching(), model, None, cache / "rankings", {}, corpus)
    none, one = np.zeros(1, np.int64), np.ones(1, np.int64)
    kept.prepare(Chunks([Document("d", "x")], none, none, one, one), (), {}, (), None)
    kept.search(["q"], 5)
    return kept


def age(place, days):
    """Makes it look as if the folder was last used so many days ago."""
    then = time.time() - days * 24 * 3600
    for path in (*place.rglob("*"), place):
        os.utime(path, (then, then))


def named(cache, name):
    """The items of one model."""
    return [item for item in upkeep.cache_items(cache) if item.name == name]


def contents(folder):
    """Every file with its bytes."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_listed(tmp_path):
    """Embeddings by model and role with their texts and bytes, rankings with the name of their model, nothing made up."""
    model = embedded(tmp_path)
    model.encode_queries(TEXTS[:7])
    ranked(tmp_path)
    (tmp_path / "file_hashes").mkdir()
    (tmp_path / "file_hashes" / "a.json").write_bytes(b"12345")
    (tmp_path / "notes.txt").write_bytes(b"123")

    items = upkeep.cache_items(tmp_path)
    assert [(item.kind, item.name, item.role, item.window, item.texts) for item in items] == [
        ("embeddings", "stand-in", "document", 256, 100),
        ("embeddings", "stand-in", "query", 256, 7),
        ("rankings", "stand-in", "", None, 0),
    ]
    others = [(item.name, item.texts, item.size) for item in upkeep.others(tmp_path)]
    assert others == [("file hashes", 1, 5), ("notes.txt", 1, 3)]
    assert sum(item.size for item in items) + 8 == sum(map(len, contents(tmp_path).values()))
    assert all(item.idle < 1 for item in items)


def test_nothing_kept(tmp_path):
    """A folder that does not exist holds nothing and is not made; a file is no folder."""
    assert upkeep.cache_items(tmp_path / "none") == []
    assert upkeep.others(tmp_path / "none") == []
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="is a file"):
        upkeep.cache_items(tmp_path / "file")


def test_a_space_without_its_note_is_listed(tmp_path):
    """A lost or damaged model.json is said, and the rest is still counted."""
    embedded(tmp_path)
    (note,) = tmp_path.rglob("model.json")
    for damage in (b"{", b"[]", None):
        note.unlink() if damage is None else note.write_bytes(damage)
        (item,) = upkeep.cache_items(tmp_path)
        assert item.name == f"{note.parent.name} (no model.json)"
        assert item.texts == 100


def test_old_things_go_and_newer_ones_stay(tmp_path):
    """Exactly what was idle for that many days is removed; the other bytes do not change."""
    for name, days in (("old", 30.5), ("young", 29.5)):
        embedded(tmp_path, name)
        ranked(tmp_path, name)
        for item in named(tmp_path, name):
            age(item.place, days)
    before = contents(tmp_path)
    stays = {file for item in named(tmp_path, "young") for file in contents(item.place)}

    gone = upkeep.prune(tmp_path, upkeep.cache_items(tmp_path), 30)

    assert [(item.kind, item.name) for item in gone] == [("embeddings", "old"), ("rankings", "old")]
    after = contents(tmp_path)
    assert {path.name for path in after} == {path.name for path in stays}
    assert after.items() <= before.items()


def test_zero_days_is_everything_that_can_be_computed_again(tmp_path):
    """Embeddings, rankings, token maps and the rests of a killed removal go; models and hashes stay."""
    embedded(tmp_path)
    ranked(tmp_path)
    for folder in ("tokens", "models", "file_hashes", "rankings/.1.removed"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.npz").write_bytes(b"x")

    upkeep.prune(tmp_path, upkeep.cache_items(tmp_path), 0)

    assert contents(tmp_path) == {Path("models/x.npz"): b"x", Path("file_hashes/x.npz"): b"x"}


def test_using_is_noticed(tmp_path):
    """Reading embeddings or a ranking makes them used today; asking what is cached does not."""
    model, retriever = embedded(tmp_path), ranked(tmp_path)
    for item in upkeep.cache_items(tmp_path):
        age(item.place, 40)
    model.missing(TEXTS, "document")
    assert all(item.idle > 39 for item in upkeep.cache_items(tmp_path))

    model.encode_documents(TEXTS[:1])
    retriever.search(["q"], 5)
    assert all(item.idle < 1 for item in upkeep.cache_items(tmp_path))


def test_what_was_used_since_it_was_listed_stays(tmp_path):
    """Between listing and removing a sweep may begin: the list is not trusted."""
    model = embedded(tmp_path)
    age(upkeep.cache_items(tmp_path)[0].place, 40)
    listed = upkeep.cache_items(tmp_path)
    model.encode_documents(TEXTS[:1])

    assert upkeep.prune(tmp_path, listed, 30) == []


def test_a_place_that_may_only_be_read_is_no_obstacle(tmp_path, monkeypatch, caplog):
    """Where marking is forbidden it is left out with a line for debugging; another failure of the disk is said."""

    def refuse(number):
        def utime(path):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "utime", utime)

    model = embedded(tmp_path)
    caplog.set_level(logging.DEBUG)
    for number in (errno.EROFS, errno.EACCES, errno.EPERM):
        caplog.clear()
        refuse(number)
        model.encode_documents(TEXTS[:1])
        assert "is not marked as used" in caplog.text
    refuse(errno.EIO)
    with pytest.raises(StoreError, match="Input/output error"):
        model.encode_documents(TEXTS[:1])
    monkeypatch.undo()
    mark_used(tmp_path / "gone")


def test_a_sweep_survives_that_all_is_removed_while_it_embeds(tmp_path):
    """The folder vanishes while the model is at work: the right vectors come back and are kept, with their note."""
    expected = StandIn().encode_documents(TEXTS)
    pruned = []

    def prune():
        pruned.extend(upkeep.prune(tmp_path, upkeep.cache_items(tmp_path), 0))

    model = CachedModel(StandIn(before=prune), EmbeddingStore(tmp_path / "embeddings"))
    assert np.array_equal(model.encode_documents(TEXTS).vectors, expected.vectors)
    assert len(pruned) == 1
    (item,) = upkeep.cache_items(tmp_path)
    assert (item.name, item.texts) == ("stand-in", 100)
    again = embedded(tmp_path)
    assert again.texts_embedded == 0


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Path, "mkdir"),
        (Path, "write_bytes"),
        (Path, "replace"),
        (Path, "open"),
        (Path, "is_file"),
        (os, "fsync"),
    ],
)
@pytest.mark.parametrize("after", [False, True])
def test_a_sweep_survives_that_all_is_removed_between_any_two_steps(
    tmp_path, monkeypatch, owner, name, number, after
):
    """Before or after each access to the disk somebody removes everything: right answers, no error, and later ones too."""
    expected = StandIn().encode_documents(TEXTS).vectors
    embedded(tmp_path, texts=TEXTS[:50])
    ranked(tmp_path)
    real, calls, gone = getattr(owner, name), [], []

    def prune():
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, real)
            gone.extend(upkeep.prune(tmp_path, upkeep.cache_items(tmp_path), 0))

    def step(*args, **kwargs):
        calls.append(args)
        if len(calls) == number and not after:
            prune()
        result = real(*args, **kwargs)
        if len(calls) == number and after:
            prune()
        return result

    monkeypatch.setattr(owner, name, step)
    for _ in range(2):
        assert np.array_equal(embedded(tmp_path).encode_documents(TEXTS).vectors, expected)
        assert ranked(tmp_path).search(["q"], 3).rows.tolist() == [[0, 1, 2]]
        assert ranked(tmp_path, corpus="other").search(["q"], 3).rows.tolist() == [[0, 1, 2]]
    assert gone or len(calls) < number


def test_what_cant_be_removed_is_said(tmp_path, monkeypatch):
    """A folder of somebody else's is one sentence with its path."""
    embedded(tmp_path)

    def refuse(self, target):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(StoreError, match=r"can't be removed \(Permission denied\)"):
        upkeep.prune(tmp_path, upkeep.cache_items(tmp_path), 0)


def test_a_sound_cache_is_sound(tmp_path):
    """Nothing is reported of what was just written, and checking changes nothing, not even when it was last used."""
    embedded(tmp_path)
    ranked(tmp_path)
    for item in upkeep.cache_items(tmp_path):
        age(item.place, 40)
    before = contents(tmp_path)
    items = upkeep.cache_items(tmp_path)

    assert list(upkeep.damaged(upkeep.checkable(items))) == []
    assert len(upkeep.checkable(items)) == 2  # one shard, one ranking
    assert contents(tmp_path) == before
    assert all(item.idle > 39 for item in upkeep.cache_items(tmp_path))


def test_each_damaged_file_is_named(tmp_path):
    """One wrong vector, a cut shard and a flipped ranking are three files; the sound shard is not among them."""
    model = embedded(tmp_path, texts=TEXTS[:10])
    for start in (10, 20):
        model.encode_documents(TEXTS[start : start + 10])
    flipped, cut, sound = sorted(tmp_path.rglob("*.safetensors"))
    content = bytearray(flipped.read_bytes())
    vectors = [StandIn().encode_documents([text]).vectors.tobytes() for text in TEXTS]
    content[next(content.index(vector) for vector in vectors if vector in content)] ^= 1
    flipped.write_bytes(content)
    cut.write_bytes(cut.read_bytes()[:-4])
    ranked(tmp_path)
    (ranking,) = tmp_path.rglob("*.npz")
    content = bytearray(ranking.read_bytes())
    content[content.index(np.ones(5, np.float32).tobytes())] ^= 1
    ranking.write_bytes(content)

    reasons = dict(upkeep.damaged(upkeep.checkable(upkeep.cache_items(tmp_path))))
    assert reasons.keys() == {flipped, cut, ranking}
    assert sound not in reasons
    assert reasons[flipped] == "wrong rows (checksum): 1 of 10"
    assert "can't be read" in reasons[cut]
    assert "CRC" in reasons[ranking]


def test_what_vanishes_while_it_is_checked_is_no_damage(tmp_path):
    """A shard that a sweep merged away meanwhile is passed over."""
    embedded(tmp_path)
    embedded(tmp_path, "another")
    found = upkeep.damaged(upkeep.checkable(upkeep.cache_items(tmp_path)))
    for shard in tmp_path.rglob("*.safetensors"):
        shard.unlink()

    assert list(found) == []


def test_no_flipped_bit_and_no_cut_of_an_archive_is_believed(tmp_path):
    """Two bits of every byte flipped, wherever it is cut: the arrays as written, or damage; never an array less or another error."""
    path = tmp_path / "a.npz"
    arrays = {"rows": np.arange(12, dtype=np.int32).reshape(3, 4), "scores": np.linspace(0, 1, 6)}
    write_archive(path, arrays)
    content = path.read_bytes()
    flips = [
        content[:i] + bytes([content[i] ^ (1 << bit)]) + content[i + 1 :]
        for i in range(len(content))
        for bit in (0, 3)
    ]
    noticed = 0
    for damaged in [*flips, *(content[:i] for i in range(len(content)))]:
        path.write_bytes(damaged)
        try:
            found = read_archive(path)
        except DamagedArchiveError:
            noticed += 1
        else:
            assert found.keys() == arrays.keys()
            assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
    # The rest are fields that mean nothing, such as dates and paddings.
    assert noticed > 0.7 * len(flips)
