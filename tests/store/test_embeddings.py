from __future__ import annotations

import hashlib
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import SettingError, StoreError
from harness.records import Encoded
from harness.store import embeddings
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel

DIM = 8
STAND_IN = """
import hashlib
import numpy as np
from harness.records import Encoded
class StandIn:
    name = "stand-in"
    def __init__(self, version=1, query_prompt="q: "):
        self.calls, self.version, self.query_prompt = [], version, query_prompt
    def identity(self):
        return {"name": self.name, "version": self.version, "query_prompt": self.query_prompt, "document_prompt": "", "dim": 8}
    def whole(self):
        return self
    def cut(self, encoded):
        return encoded
    def check(self, encoded, texts):
        pass
    def encode_documents(self, texts):
        return self.encode(texts, f"d{self.version}")
    def encode_queries(self, texts):
        return self.encode(texts, f"q{self.version}{self.query_prompt}")
    def encode(self, texts, salt):
        self.calls.append(list(texts))
        rows = [np.frombuffer(hashlib.sha256((salt + t).encode("utf-8", "surrogatepass")).digest(), "u1")[:8] + 1.0 for t in texts]
        vectors = np.array(rows, dtype=np.float64).reshape(-1, 8)
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        n = np.array([len(t) for t in texts], dtype=np.int64)
        return Encoded(vectors, n + 2, n + 1, n)
"""
namespace: dict[str, Any] = {}
exec(STAND_IN, namespace)
StandIn = namespace["StandIn"]


def same(left: Encoded, right: Encoded) -> bool:
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(left, right, strict=True))


def shards(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.safetensors"))


def wrapped(folder: Path, **settings_: Any) -> CachedModel:
    return CachedModel(StandIn(**settings_), EmbeddingStore(folder))


TEXTS = [f"text {i} " + "x" * (i * 7 % 40) for i in range(1000)]


def test_what_comes_back_is_what_the_model_gave(tmp_path: Path) -> None:
    """First time, second time and in a new process's eyes: bit for bit the model's rows and counts."""
    expected = StandIn().encode_documents(TEXTS)

    model = wrapped(tmp_path)
    assert same(model.encode_documents(TEXTS), expected)
    assert same(model.encode_documents(TEXTS), expected)
    again = wrapped(tmp_path)
    assert same(again.encode_documents(TEXTS[::-1]), StandIn().encode_documents(TEXTS[::-1]))
    assert again._model.calls == []  # type: ignore[attr-defined]


def test_counters(tmp_path: Path) -> None:
    """Embedded and cached texts add up to all texts; a repeated text costs once; tokens are those the model saw."""
    model = wrapped(tmp_path)
    model.encode_documents(["a", "bb", "a"])
    assert (model.texts_embedded, model.texts_cached, model.embed_tokens) == (2, 1, 2 + 3)
    model.encode_queries(["a"])
    model.encode_documents(["a", "ccc"])
    assert (model.texts_embedded, model.texts_cached, model.embed_tokens) == (4, 2, 2 + 3 + 2 + 4)
    assert model.embed_seconds > 0


class Whole:
    """What a model has whose vectors are cached as they are."""

    def whole(self) -> Any:
        return self

    def cut(self, encoded: Encoded) -> Encoded:
        return encoded

    def check(self, encoded: Encoded, texts: Sequence[str]) -> None:
        pass


class ReadsTen(Whole):
    """A model that reads ten characters of a passage; it notes what it was given."""

    name = "reads ten"

    def __init__(self) -> None:
        self.given: list[str] = []

    def identity(self) -> Mapping[str, Any]:
        return {"name": self.name, "query_prompt": "", "document_prompt": "", "dim": DIM}

    def place(self) -> None:
        return None

    def agreement(self) -> None:
        return None

    def readings(self, texts: Sequence[str]) -> tuple[Sequence[bytes], Encoded]:
        keys = [hashlib.sha256(b"read" + t[:10].encode()).digest() if len(t) > 10 else b"" for t in texts]
        return keys, self._seen(texts)

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        self.given += texts
        return self._seen(texts)._replace(vectors=StandIn().encode([t[:10] for t in texts], "").vectors)

    encode_queries = encode_documents

    def _seen(self, texts: Sequence[str]) -> Encoded:
        n = np.array([len(t) for t in texts], dtype=np.int64)
        return Encoded(np.zeros((len(texts), DIM), np.float32), n, np.minimum(n, 10), np.minimum(n, 10))


@settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    calls=st.lists(
        st.lists(
            st.text("ab", min_size=8, max_size=13).map(lambda t: "12345678"[: 16 - len(t)] + t), max_size=8
        ),
        max_size=4,
    )
)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_passages_that_agree_as_far_as_they_are_read_are_computed_once(
    tmp_path_factory: pytest.TempPathFactory, dtype: str, calls: list[list[str]]
) -> None:
    """Whatever was asked before, in whatever process: what comes back is the model's own, and nothing is read twice."""
    folder, given = tmp_path_factory.mktemp("store"), []
    for texts in calls:
        store = EmbeddingStore(folder, dtype)
        model = CachedModel(ReadsTen(), store)
        assert same(model.encode_documents(texts), store.rounded(ReadsTen().encode_documents(texts)))
        computed = model._model.given  # type: ignore[attr-defined]
        assert (model.texts_embedded, model.texts_cached) == (len(computed), len(texts) - len(computed))
        given += computed
    beginnings = [text[:10] for text in given if len(text) > 10]
    assert len(beginnings) == len(set(beginnings))
    assert len(given) == len(set(given))


def test_questions_are_never_taken_for_passages_that_begin_alike(tmp_path: Path) -> None:
    """A question is computed whole, whatever passages are kept."""
    model = CachedModel(ReadsTen(), EmbeddingStore(tmp_path))
    model.encode_documents(["0123456789 and more"])
    model.encode_queries(["0123456789 and other"])
    assert model.texts_embedded == 2


def test_roles_and_models_never_mix(tmp_path: Path) -> None:
    """Questions and passages of one text differ, and so do two versions of a model."""
    for version in (1, 2):
        model = wrapped(tmp_path, version=version)
        assert same(model.encode_documents(["a"]), StandIn(version=version).encode_documents(["a"]))
        assert same(model.encode_queries(["a"]), StandIn(version=version).encode_queries(["a"]))


def test_another_question_prompt_does_not_cost_the_passages(tmp_path: Path) -> None:
    """Passages are kept when only the question prompt changes; questions are computed anew."""
    wrapped(tmp_path).encode_documents(["a"])
    wrapped(tmp_path).encode_queries(["a"])
    other = wrapped(tmp_path, query_prompt="other: ")
    other.encode_documents(["a"])
    assert other.texts_embedded == 0
    assert same(other.encode_queries(["a"]), StandIn(query_prompt="other: ").encode_queries(["a"]))


def test_missing_texts_are_named_without_computing(tmp_path: Path) -> None:
    """Each text that would have to be computed once, by role; asking creates no folder."""
    model = wrapped(tmp_path / "store")
    assert sorted(model.missing(["a", "b"], "document")) == ["a", "b"]
    assert not (tmp_path / "store").exists()
    model.encode_documents(["a"])
    assert model.missing(["a", "b", "a", "b"], "document") == ["b"]
    assert model.missing(["a"], "query") == ["a"]
    assert model.missing([], "query") == []


def test_no_text(tmp_path: Path) -> None:
    """No text gives no row, of the model's width, and creates nothing."""
    encoded = wrapped(tmp_path / "store").encode_documents([])

    assert encoded.vectors.shape == (0, DIM)
    assert not (tmp_path / "store").exists()


def test_hashes_with_zero_bytes_at_their_end_are_kept_apart(tmp_path: Path) -> None:
    """Text hashes that end in zero bytes (one in 256 does) are found like all others."""
    texts = [f"n{i}" for i in range(3000)]
    assert any(hashlib.sha256(text.encode()).digest().endswith(b"\0") for text in texts)

    wrapped(tmp_path).encode_documents(texts)
    again = wrapped(tmp_path)
    assert same(again.encode_documents(texts), StandIn().encode_documents(texts))
    assert again.texts_embedded == 0


def test_longest_texts_go_first_in_slices(tmp_path: Path) -> None:
    """The model gets the longest texts first, at most 256 in the first slice, each text once."""
    model = wrapped(tmp_path)
    model.encode_documents(TEXTS)
    calls = model._model.calls  # type: ignore[attr-defined]

    assert len(calls[0]) == 256
    flat = [text for call in calls for text in call]
    assert sorted(flat) == sorted(TEXTS)
    assert [len(text) for text in flat] == sorted((len(text) for text in TEXTS), reverse=True)


@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    batches=st.lists(
        st.tuples(
            st.integers(0, 2),
            st.booleans(),
            st.lists(
                st.sampled_from([f"t{i}" for i in range(40)] + ["", "\ud800", "日本", "\0"]), max_size=30
            ),
        ),
        max_size=40,
    )
)
def test_any_interleaving_gives_back_what_the_model_gave(
    tmp_path: Path, batches: list[tuple[int, bool, list[str]]]
) -> None:
    """Three stores on one folder, in any order, with repeated texts, both roles, and shards being merged."""
    folder = tmp_path / hashlib.sha256(repr(batches).encode("utf-8", "surrogatepass")).hexdigest()
    models = [wrapped(folder) for _ in range(3)]
    for which, document, texts in batches:
        encode = "encode_documents" if document else "encode_queries"
        assert same(getattr(models[which], encode)(texts), getattr(StandIn(), encode)(texts))
    total = sum(model.texts_embedded for model in models)
    assert total == sum(
        len({text for _, document, texts in batches if document == role for text in texts})
        for role in (True, False)
    )


def test_many_small_shards_become_few(tmp_path: Path) -> None:
    """Hundreds of small additions leave a few dozen files at most, and every row is still there."""
    for text in TEXTS[:300]:
        wrapped(tmp_path).encode_documents([text])

    assert len(shards(tmp_path)) < 40
    again = wrapped(tmp_path)
    assert same(again.encode_documents(TEXTS[:300]), StandIn().encode_documents(TEXTS[:300]))
    assert again.texts_embedded == 0


def test_a_reader_survives_that_shards_are_merged_under_it(tmp_path: Path) -> None:
    """A store that listed its shards before another process merged them finds all rows and computes nothing."""
    reader = wrapped(tmp_path)
    for text in TEXTS[:15]:
        reader.encode_documents([text])
    space = reader._space("document")
    listed = space._refresh

    def merge_after_listing() -> None:
        listed()
        space._refresh = listed  # type: ignore[method-assign]
        wrapped(tmp_path).encode_documents([TEXTS[15]])

    space._refresh = merge_after_listing  # type: ignore[method-assign]
    before = reader.texts_embedded
    assert same(reader.encode_documents(TEXTS[:15]), StandIn().encode_documents(TEXTS[:15]))
    assert reader.texts_embedded == before
    assert len(shards(tmp_path)) == 1


def test_every_flipped_byte_is_noticed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whichever byte of a shard is flipped, no wrong row comes back; what is lost is reported and computed again."""
    texts = ["a", "bb", "ccc"]
    wrapped(tmp_path).encode_documents(texts)
    (path,) = shards(tmp_path)
    content, expected = path.read_bytes(), StandIn().encode_documents(texts)

    recomputed = 0
    for i in range(len(content)):
        for old in shards(tmp_path):
            old.unlink()
        path.write_bytes(content[:i] + bytes([content[i] ^ 0x10]) + content[i + 1 :])
        caplog.clear()
        model = wrapped(tmp_path)
        assert same(model.encode_documents(texts), expected), i
        # Blanks that pad the header and names of the format mean nothing and may change.
        assert model.texts_embedded == 0 or "computed again" in caplog.text
        recomputed += model.texts_embedded > 0
        assert same(wrapped(tmp_path).encode_documents(texts), expected)
    assert recomputed > 0.6 * len(content)


def test_damage_costs_single_rows_and_is_healed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One damaged vector is computed again, the others are kept; the next process finds a sound store."""
    wrapped(tmp_path).encode_documents(TEXTS[:100])
    (path,) = shards(tmp_path)
    content = bytearray(path.read_bytes())
    vector = StandIn().encode_documents([TEXTS[42]]).vectors.tobytes()
    content[content.index(vector) + 5] ^= 1
    path.write_bytes(content)

    model = wrapped(tmp_path)
    assert same(model.encode_documents(TEXTS[:100]), StandIn().encode_documents(TEXTS[:100]))
    assert model.texts_embedded == 1
    assert "1 of 100 rows" in caplog.text
    caplog.clear()
    healed = wrapped(tmp_path)
    healed.encode_documents(TEXTS[:100])
    assert healed.texts_embedded == 0
    assert caplog.text == ""


@pytest.mark.parametrize("keep", [0, 5, 100, 0.5, -1])
def test_a_torn_shard_is_computed_again(
    tmp_path: Path, keep: float, caplog: pytest.LogCaptureFixture
) -> None:
    """A shard cut anywhere is reported with its path and never trusted."""
    caplog.set_level(logging.WARNING)
    wrapped(tmp_path).encode_documents(TEXTS)
    path = shards(tmp_path)[0]
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep) if isinstance(keep, float) else keep])

    assert same(wrapped(tmp_path).encode_documents(TEXTS), StandIn().encode_documents(TEXTS))
    assert str(path) in caplog.text
    assert "computed again" in caplog.text
    again = wrapped(tmp_path)
    again.encode_documents(TEXTS)
    assert again.texts_embedded == 0


def test_a_shard_that_shrinks_after_it_was_opened(tmp_path: Path) -> None:
    """A file that is cut while a process has it open gives no wrong row and no crash."""
    model = wrapped(tmp_path)
    model.encode_documents(TEXTS[:50])
    (path,) = shards(tmp_path)
    path.write_bytes(path.read_bytes()[:-40])

    assert same(model.encode_documents(TEXTS[:50]), StandIn().encode_documents(TEXTS[:50]))


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    """A file that no store wrote is neither read nor removed."""
    model = wrapped(tmp_path)
    model.encode_documents(["a"])
    foreign = shards(tmp_path)[0].with_name("notes.safetensors")
    foreign.write_bytes(b"mine")
    wrapped(tmp_path).encode_documents(["a", "b"])

    assert foreign.read_bytes() == b"mine"


def test_a_store_that_cant_be_written_is_known_before_anything_is_computed(tmp_path: Path) -> None:
    """A path that can't be a folder is one sentence with what to do, before the model is asked."""
    (tmp_path / "file").write_text("")
    model = wrapped(tmp_path / "file" / "store")

    with pytest.raises(StoreError, match="can't be written") as caught:
        model.encode_documents(["a"])
    assert model._model.calls == []  # type: ignore[attr-defined]
    assert caught.value.where == str(tmp_path / "file" / "store")
    assert "cache=" in str(caught.value)


def test_a_disk_that_fills_up_keeps_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says how many are kept; the same call later computes only the rest."""
    model, written = wrapped(tmp_path), []
    real = os.fsync

    def full(descriptor: int) -> None:
        if written:
            raise OSError(28, "No space left on device")
        written.append(1)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"No space left on device\); 256 embeddings"):
        model.encode_documents(TEXTS)
    monkeypatch.setattr(os, "fsync", real)
    assert list(tmp_path.rglob("*.part")) == []
    later = wrapped(tmp_path)
    assert same(later.encode_documents(TEXTS), StandIn().encode_documents(TEXTS))
    assert later.texts_embedded == len(TEXTS) - 256


CHILD = (
    STAND_IN
    + """
import os, signal, sys
from pathlib import Path
from harness.store import embeddings, space
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel
embeddings.LARGEST_SLICE = embeddings.SLICE_TEXTS = 16
space.FAN_IN = 4
def die_at(module, name, number, after):
    real, count = getattr(module, name), [0]
    def call(*args, **kwargs):
        count[0] += 1
        if count[0] == number and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*args, **kwargs)
        if count[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(module, name, call)
point, number, after, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "after", sys.argv[4]
die_at({"fsync": os, "replace": Path, "unlink": Path, "encode": StandIn}[point], point, number, after)
texts = [f"text {i} " + "x" * (i * 7 % 40) for i in range(1000)][:200]
CachedModel(StandIn(), EmbeddingStore(folder)).encode_documents(texts)
"""
)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize(
    ("point", "number"),
    [("fsync", 1), ("fsync", 6), ("replace", 2), ("replace", 7), ("unlink", 1), ("unlink", 3), ("encode", 5)],
)
def test_kill_9_loses_at_most_the_slice_in_flight(
    tmp_path: Path, point: str, number: int, moment: str
) -> None:
    """Killed at any point of writing or merging: all rows come back right, and only what was in flight is computed again."""
    dead = subprocess.run(
        [sys.executable, "-c", CHILD, point, str(number), moment, str(tmp_path)],
        capture_output=True,
        check=False,
    )
    assert dead.returncode == -signal.SIGKILL, dead.stderr.decode()

    model = wrapped(tmp_path)
    assert same(model.encode_documents(TEXTS[:200]), StandIn().encode_documents(TEXTS[:200]))
    # Slices of 16. fsync n and replace n + 1 (the first replace writes model.json) belong to slice n; merges of four
    # come after the last slice, so at unlink nothing is in flight.
    slices = {
        "fsync": number - 1,
        "replace": number - 2 + (moment == "after"),
        "unlink": 13,
        "encode": number - 1,
    }[point]
    assert model.texts_embedded == max(200 - 16 * slices, 0)
    again = wrapped(tmp_path)
    again.encode_documents(TEXTS[:200])
    assert again.texts_embedded == 0


def test_several_processes_fill_one_store(tmp_path: Path) -> None:
    """Four processes embed overlapping texts at once, merging all the time: each gets right rows, and nothing is lost."""
    code = (
        STAND_IN
        + f"""
import sys
from harness.store import embeddings, space
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel
embeddings.LARGEST_SLICE = embeddings.SLICE_TEXTS = 4
space.FAN_IN = 2
start = int(sys.stdin.readline())
texts = [f"text {{i}}" for i in range(400)][start:] + [f"text {{i}}" for i in range(400)][:start]
model, plain = CachedModel(StandIn(), EmbeddingStore({str(tmp_path)!r})), StandIn()
for i in range(0, 400, 20):
    part = texts[i : i + 50]
    got, expected = model.encode_documents(part), plain.encode_documents(part)
    assert all((a == b).all() for a, b in zip(got, expected)), i
"""
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for i, process in enumerate(running):
        assert process.stdin is not None
        process.stdin.write(f"{i * 100}\n")
        process.stdin.flush()
    for process in running:
        errors = process.communicate()[1]
        assert (process.returncode, errors) == (0, "")
    texts = [f"text {i}" for i in range(400)]
    model = wrapped(tmp_path)
    assert same(model.encode_documents(texts), StandIn().encode_documents(texts))
    assert model.texts_embedded == 0
    assert len(shards(tmp_path)) < 20


def test_a_note_says_what_a_folder_holds(tmp_path: Path) -> None:
    """Beside the shards stands the model's identity and the role, for people and for the command that tidies up."""
    wrapped(tmp_path).encode_queries(["a"])
    (note,) = tmp_path.rglob("model.json")

    assert json.loads(note.read_text()) == {"role": "query", **StandIn().identity()}


def test_left_over_parts_are_removed_when_old(tmp_path: Path) -> None:
    """What a killed writer left is removed after a day, and not before: another process may be writing it."""
    wrapped(tmp_path).encode_documents(["a"])
    folder = shards(tmp_path)[0].parent
    old, new = folder / ".old.part", folder / ".new.part"
    for part in (old, new):
        part.write_text("")
    os.utime(old, (1, 1))
    wrapped(tmp_path).encode_documents(["b"])

    assert not old.exists()
    assert new.exists()


def test_slices_grow_while_they_are_quick_and_never_beyond_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fast model gets bigger slices, so that writing costs little; a slow one keeps slices of 256."""
    monkeypatch.setattr(embeddings, "LARGEST_SLICE", 512)
    texts = [f"{i}" for i in range(2000)]
    quick, slow = wrapped(tmp_path / "quick"), wrapped(tmp_path / "slow")
    quick.encode_documents(texts)
    assert [len(call) for call in quick._model.calls] == [256, 512, 512, 512, 208]  # type: ignore[attr-defined]
    monkeypatch.setattr(embeddings, "_SLICE_SECONDS", 0.0)
    slow.encode_documents(texts)
    assert {len(call) for call in slow._model.calls} == {256, 208}  # type: ignore[attr-defined]


class Broken(Whole):
    """A model that fails at its third call."""

    name = "stand-in"

    def __init__(self) -> None:
        self.inner = StandIn()

    def identity(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.inner.identity()
        return found

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        if len(self.inner.calls) == 2:
            raise RuntimeError("boom")
        encoded: Encoded = self.inner.encode_documents(texts)
        return encoded

    encode_queries = encode_documents


def test_a_model_that_fails_midway_keeps_what_it_did(tmp_path: Path) -> None:
    """The slices before the failure stay."""
    with pytest.raises(RuntimeError, match="boom"):
        CachedModel(Broken(), EmbeddingStore(tmp_path)).encode_documents(TEXTS)

    assert len(wrapped(tmp_path).missing(TEXTS, "document")) == len(TEXTS) - 256 - 512


@pytest.mark.models
def test_a_filled_store_needs_no_torch(tmp_path: Path) -> None:
    """When everything is there, neither torch nor sentence-transformers is imported, for any bundled model."""
    code = f"""
import sys
from pathlib import Path
from hydra.utils import instantiate
from omegaconf import OmegaConf
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel
config = OmegaConf.load({str(Path(__file__).parents[2] / "conf/model/minilm.yaml")!r})
config.update(cache_dir={str(tmp_path)!r}, backend="auto", precision="float32")
model = CachedModel(instantiate(config), EmbeddingStore({str(tmp_path / "embeddings")!r}))
model.encode_documents(["a", "b"]), model.encode_queries(["c"])
print(model.texts_embedded, any(m in sys.modules for m in ("torch", "sentence_transformers", "transformers")))
"""
    first, second = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )

    assert first == "3 True\n"
    assert second == "0 False\n"


def test_half_precision_takes_half_the_disk_and_gives_the_same_every_time(tmp_path: Path) -> None:
    """float16 is a store of its own; what it gives at first, later and after merging is the rounded vector, as float32."""
    exact = StandIn().encode_documents(TEXTS)
    expected = exact._replace(vectors=exact.vectors.astype(np.float16).astype(np.float32))
    wrapped(tmp_path).encode_documents(TEXTS)
    before = len(shards(tmp_path))
    model = CachedModel(StandIn(), EmbeddingStore(tmp_path, "float16"))
    assert same(model.encode_documents(TEXTS), expected)
    again = CachedModel(StandIn(), EmbeddingStore(tmp_path, "float16"))
    assert same(again.encode_documents(TEXTS), expected)
    assert (model.texts_embedded, again.texts_embedded) == (len(TEXTS), 0)
    assert len(shards(tmp_path)) > before
    half = sum(shard.stat().st_size for shard in shards(again.folder("document")))
    full = sum(shard.stat().st_size for shard in shards(wrapped(tmp_path).folder("document")))
    # 8 numbers a vector, of two bytes less each; the header is as long.
    assert abs(full - half - len(TEXTS) * 8 * 2) < 100


def test_another_precision_of_the_store_is_refused(tmp_path: Path) -> None:
    """Only what the store can hold."""
    with pytest.raises(SettingError, match="cache_dtype is int8; it must be float32 or float16"):
        EmbeddingStore(tmp_path, "int8")
