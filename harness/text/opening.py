"""Files opened for reading, packed with gzip or not, and what a file is that holds no text."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from pathlib import Path
from typing import BinaryIO

from harness.errors import InputError
from harness.text.encodings import Encoding, detect

_BLOCK_BYTES = 1 << 20
# Text shrinks to a third or a tenth, tables of one value maybe to a fiftieth.
_TIMES_PACKED = 100
_ALWAYS_BYTES = 64 << 20
_GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"
_CONVERT = "Save it as CSV (UTF-8) or as JSON lines."
_UNPACK = "Unpack it first."
_KINDS = {
    b"PK\x03\x04": f"a zip archive (as Word's files are, too). {_UNPACK}",
    PARQUET: f"a Parquet file. {_CONVERT}",
    b"ARROW1": "an Arrow file. Save it as Parquet or as JSON lines.",
    b"\xff\xff\xff\xff": "an Arrow stream. Save it as Parquet or as JSON lines (datasets: to_json).",
    b"%PDF": f"a PDF. {_CONVERT}",
    b"SQLite format 3": f"an SQLite database. Export its table: {_CONVERT[0].lower()}{_CONVERT[1:]}",
    b"\xd0\xcf\x11\xe0": f"an old Excel or Word file. {_CONVERT}",
    **{b"\x80" + bytes([n]): f"a Python pickle, which could run code. {_CONVERT}" for n in range(2, 6)},
    b"BZh91AY&SY": f"packed with bzip2. {_UNPACK}",
    b"\xfd7zXZ": f"packed with xz. {_UNPACK}",
    b"\x28\xb5\x2f\xfd": f"packed with zstd. {_UNPACK}",
    b"7z\xbc\xaf": f"a 7z archive. {_UNPACK}",
    b"Rar!": f"a RAR archive. {_UNPACK}",
}


class _Unpacked(io.RawIOBase):
    """What is packed in a gzip file; ``InputError`` where it is damaged, or grows beyond all measure."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = gzip.open(path)  # noqa: SIM115 - closed below
        self._left = max(_ALWAYS_BYTES, _TIMES_PACKED * path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            data = self._file.read(len(buffer))
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(
                f"{self._path} is a gzip file that is cut off or damaged ({error}). Download it again.",
                path=self._path,
            ) from None
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                f"{self._path} unpacks to more than {_TIMES_PACKED} times its size, as no text does. "
                "Unpack it and give the unpacked file if that is right.",
                path=self._path,
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def opened(path: Path) -> BinaryIO:
    """The bytes of ``path``, unpacked if it is a gzip file, whatever its name."""
    file = path.open("rb")
    if file.peek(2)[:2] != _GZIP:
        return file
    file.close()
    return io.BufferedReader(_Unpacked(path), _BLOCK_BYTES)


def unpacked_bytes(path: Path) -> bytes:
    """All bytes of ``path``, unpacked. Raises ``InputError`` for a file that is known to hold no text."""
    with opened(path) as file:
        data = file.read()
    kind = _kind(data)
    if kind:
        raise InputError(f"{path} is {kind}", path=path)
    return data


def text_encoding(path: Path) -> Encoding | None:
    """The encoding of a text, None for a binary file.

    UTF-8 is checked block by block; only another file is held in memory. Raises ``InputError`` for a file
    that is known to hold no text.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with opened(path) as file:
            while block := file.read(_BLOCK_BYTES):
                decoder.decode(block)
                if b"\0" in block:  # JSON escapes it: this is UTF-16 or UTF-32 of plain letters
                    break
            else:
                decoder.decode(b"", final=True)
                return Encoding("utf-8")
    except UnicodeDecodeError:
        pass
    return detect(unpacked_bytes(path))


def plain_name(path: Path) -> Path:
    """The path without ``.gz``."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def first_file(*places: Path) -> Path | None:
    """The first of ``places`` that is a file, as it is named or packed (``.gz``)."""
    both = [either for place in places for either in (place, place.with_name(f"{place.name}.gz"))]
    return next((place for place in both if place.is_file()), None)


def _kind(data: bytes) -> str | None:
    if data[257:262] == b"ustar":
        return f"a tar archive. {_UNPACK}"
    if data.startswith(b"PK\x03\x04") and b"xl/workbook.xml" in data:
        return f"an Excel workbook. {_CONVERT}"
    return next((kind for magic, kind in _KINDS.items() if data.startswith(magic)), None)
