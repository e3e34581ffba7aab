from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from harness.files.model_files import file_sha256


def old_file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_it_is_the_sha256(tmp_path: Path) -> None:
    """The hash is that of the bytes, with and without a folder to remember it in."""
    path = old_file(tmp_path / "a", b"abc" * 100_000)
    expected = hashlib.sha256(b"abc" * 100_000).hexdigest()

    assert file_sha256(path, tmp_path / "cache") == expected
    (tmp_path / "file").write_text("")
    assert file_sha256(path, tmp_path / "file" / "cache") == expected


def test_a_settled_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a file is older than two seconds its hash is remembered: the second time the file is not read."""
    path = old_file(tmp_path / "a", b"abc")
    monkeypatch.setattr("time.time_ns", lambda: path.stat().st_ctime_ns + 3_000_000_000)
    first = file_sha256(path, tmp_path / "cache")
    monkeypatch.setattr(hashlib, "file_digest", None)

    assert file_sha256(path, tmp_path / "cache") == first


def test_a_file_just_written_is_read_again(tmp_path: Path) -> None:
    """A file that may still change within the clock's resolution is not remembered."""
    path = old_file(tmp_path / "a", b"abc")
    file_sha256(path, tmp_path / "cache")

    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("damage", ["", "{}", "[]", "nonsense"])
def test_a_damaged_note_is_ignored(tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can't be read as a remembered hash is computed again and mended."""
    path = old_file(tmp_path / "a", b"abc")
    monkeypatch.setattr("time.time_ns", lambda: path.stat().st_ctime_ns + 3_000_000_000)
    first = file_sha256(path, tmp_path / "cache")
    (note,) = (tmp_path / "cache" / "file_hashes").iterdir()
    good = note.read_text()
    note.write_text(damage)

    assert file_sha256(path, tmp_path / "cache") == first
    assert note.read_text() == good


def test_another_content_of_the_same_size_and_date_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Setting the date back does not bring the old hash back."""
    path = old_file(tmp_path / "a", b"abc")
    monkeypatch.setattr("time.time_ns", lambda: path.stat().st_ctime_ns + 3_000_000_000)
    first, date = file_sha256(path, tmp_path / "cache"), path.stat().st_mtime_ns
    path.write_bytes(b"abd")
    os.utime(path, ns=(date, date))

    assert file_sha256(path, tmp_path / "cache") != first
