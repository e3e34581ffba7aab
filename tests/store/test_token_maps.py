from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from harness.errors import StoreError
from harness.store.arrays import cached_maps
from harness.text.tokens import TokenMaps


@dataclass
class Letters:
    """A token at every character; counts the texts that it maps."""

    name: str = "letters"
    digest: str = "a"
    mapped: list[str] = field(default_factory=list)

    def map(self, texts):
        self.mapped += texts
        lengths = np.array([len(text) for text in texts], np.int64)
        starts = [np.arange(n, dtype=np.uint32) for n in lengths]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        return TokenMaps(np.concatenate([*starts, np.zeros(0, np.uint32)]), bounds, lengths)


TEXTS = ["abc", "", "日本", "x" * 500]


def shown(maps):
    return [(one.starts.tolist(), one.length) for one in maps]


def test_texts_are_tokenised_once(tmp_path: Path) -> None:
    """A second process gets the same maps from the file and tokenises nothing."""
    first, second = Letters(), Letters()
    made = cached_maps(tmp_path, first, "corpus", TEXTS)
    read = cached_maps(tmp_path, second, "corpus", TEXTS)

    assert shown(made) == shown(read) == [(list(range(len(text))), len(text)) for text in TEXTS]
    assert (first.mapped, second.mapped) == (TEXTS, [])
    assert read[0].starts.dtype == np.int64


def test_other_texts_and_other_tokenizers_are_other_maps(tmp_path: Path) -> None:
    """The key is the tokenizer's file and the corpus."""
    cached_maps(tmp_path, Letters(), "corpus", TEXTS)
    for tokenizer, corpus in ((Letters(digest="b"), "corpus"), (Letters(), "other")):
        cached_maps(tmp_path, tokenizer, corpus, TEXTS)
        assert tokenizer.mapped == TEXTS
    assert len(list(tmp_path.iterdir())) == 3


def test_a_damaged_file_is_reported_and_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whichever part of the file is damaged, the maps that come back are right."""
    cached_maps(tmp_path, Letters(), "corpus", TEXTS)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    expected = shown(Letters().map(TEXTS))
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        caplog.clear()
        tokenizer = Letters()
        assert shown(cached_maps(tmp_path, tokenizer, "corpus", TEXTS)) == expected, place
        assert not tokenizer.mapped or "computed again" in caplog.text
    path.write_bytes(content[:50])
    assert shown(cached_maps(tmp_path, Letters(), "corpus", TEXTS)) == expected
    assert path.read_bytes() == content


def test_a_folder_that_cant_be_written(tmp_path: Path) -> None:
    """One sentence with what to do."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"can't be written .* choose another folder \(cache=\)"):
        cached_maps(tmp_path / "file" / "tokens", Letters(), "corpus", TEXTS)


def test_maps_are_a_sequence() -> None:
    """Places from the end, slices and a place too far do what they do in a list."""
    maps = Letters().map(TEXTS)
    assert [len(one) for one in maps[1:]] == [0, 2, 500]
    assert maps[-1].length == 500
    with pytest.raises(IndexError):
        maps[4]
