"""Bytes into exactly the characters that were written, with the encoding named whenever it is not UTF-8.

UTF-8 comes first, then UTF-16 and UTF-32 (with or without a byte order mark), then legacy code pages. What is
none of these is binary. Line ends stay as they were written, too: ``LineEnds`` tells how to read them alike.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Any, NamedTuple

import numpy as np

from harness.records import IntArray

_MARKS = (  # UTF-32 first: its little-endian mark begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Code pages that real files are in. Rarer ones would make short texts easier to mistake.
_LEGACY = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "iso8859_2"),
    *("koi8_r", "cp866", "cp850", "cp437", "cp874", "mac_roman"),
    *("gb18030", "big5", "cp932", "euc_jp", "cp949", "iso2022_jp"),
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # not in text: tab to carriage return and escape are
_SAMPLE_CHARACTERS = 20_000
_SAMPLE_BYTES = 400_000
_DAMAGED_AT_MOST = 0.1  # broken characters per sound one beyond ASCII
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Encoding(NamedTuple):
    """How bytes are to be read.

    ``codec`` and ``errors`` are arguments of ``bytes.decode``; ``mark`` is the length of the byte order mark
    in bytes. ``detail`` is what a reader must be told, for instance ``cp1252``; empty for sound UTF-8.
    """

    codec: str
    errors: str = "strict"
    mark: int = 0
    detail: str = ""


def detect(data: bytes) -> Encoding | None:
    """The encoding of ``data``, or None when it is binary."""
    return _marked(data) or _utf8(data) or _wide(data) or _damaged_utf8(data) or _legacy(data)


def decode(data: bytes, encoding: Encoding) -> str:
    """The characters of ``data``, without its byte order mark; newlines as they stand."""
    return data[encoding.mark :].decode(encoding.codec, encoding.errors)


def encodable(text: str) -> str:
    """``text`` with U+FFFD for each lone surrogate: the same length, and valid UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text)
    return text


def _decodes(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _marked(data: bytes) -> Encoding | None:
    for mark, codec in _MARKS:
        if data.startswith(mark) and _decodes(data[len(mark) :], codec):
            return Encoding(codec, mark=len(mark), detail="" if codec == "utf-8" else codec)
    return None


def _utf8(data: bytes) -> Encoding | None:
    """UTF-8, unless NUL bytes show that it is UTF-16 or UTF-32 of plain letters, or no text at all."""
    if not _decodes(data, "utf-8"):
        return None
    if b"\0" not in data:
        return Encoding("utf-8")
    is_text = len(_CONTROL.findall(data)) * 20 <= len(data)
    return Encoding("utf-8", detail="UTF-8 with NUL characters") if is_text else None


def _wide(data: bytes) -> Encoding | None:
    """UTF-16 or UTF-32 without a mark.

    Of the two byte orders it is the one whose characters lie in fewer blocks of 256. Only bytes with control
    characters are tried: legacy text has none, while UTF-16 has them in every blank, digit and newline and in
    every character of most alphabets.
    """
    if not _CONTROL.search(data):
        return None
    for codecs_of_width in (("utf-32-le", "utf-32-be"), ("utf-16-le", "utf-16-be")):
        fits = [(blocks, codec) for codec in codecs_of_width if (blocks := _blocks(data, codec)) is not None]
        if fits:
            codec = min(fits)[1]
            return Encoding(codec, detail=f"{codec} without a byte order mark")
    return None


def _blocks(data: bytes, codec: str) -> tuple[int, int] | None:
    """How many blocks of 256 characters the text touches when read as ``codec``, and the first of them.

    None when ``codec`` gives no text.
    """
    if not data or not _decodes(data, codec):
        return None
    sample = data[: 4 * _SAMPLE_CHARACTERS].decode(codec, "ignore")
    odd = sum(unicodedata.category(c) in {"Cn", "Co", "Cc"} and c not in "\t\n\v\f\r" for c in sample)
    blocks = {ord(c) >> 8 for c in sample}
    return (len(blocks), min(blocks)) if blocks and odd * 50 <= len(sample) else None


def _damaged_utf8(data: bytes) -> Encoding | None:
    """UTF-8 with a few broken bytes: better one replaced character than two for every accent."""
    if _CONTROL.search(data):
        return None
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    sound = sum(1 for c in text if c > "\x7f") - broken if broken * 20 < len(text) else 0
    if broken > _DAMAGED_AT_MOST * sound:
        return None
    mark = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    return Encoding("utf-8", "replace", mark, f"damaged UTF-8, {broken} broken characters replaced by U+FFFD")


def _legacy(data: bytes) -> Encoding | None:
    if _CONTROL.search(data):
        return None
    from charset_normalizer import from_bytes

    for sample in (data[:_SAMPLE_BYTES], data):
        matches = from_bytes(sample, cp_isolation=list(_LEGACY), enable_fallback=False)
        best = matches.best()
        if best is None:
            continue
        western = next((match for match in matches if match.encoding == "cp1252"), None)
        codec = best.encoding
        # Western and Central European pages agree on most letters; the far more common one wins a draw.
        if codec == "cp1250" and (_same(data, "cp1252", codec) or _is_draw(western, best)):
            codec = "cp1252"
        if _decodes(data, codec):
            return Encoding(codec, detail=codec)
    return None


def _same(data: bytes, codec: str, other: str) -> bool:
    return data.decode(codec, "replace") == data.decode(other, "replace")


def _is_draw(match: Any, best: Any) -> bool:
    return bool(match and match.chaos - best.chaos <= 0.01 and best.coherence - match.coherence <= 0.05)


def unified(text: str) -> str:
    r"""``text`` with ``\n`` for every kind of line end; itself where it has no other."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class LineEnds:
    r"""A text, the same with every line end as ``\n`` (``unified``), and offsets of the one in the other.

    An offset that lies within a ``\r\n`` has no counterpart: it is taken as the one before the pair.
    """

    def __init__(self, text: str) -> None:
        self.unified = unified(text)
        pairs = [match.start() for match in re.finditer("\r\n", text)]
        self._pairs = np.array(pairs, np.int64)
        self._lines = self._pairs - np.arange(len(pairs))  # where they stand in the unified text

    def original(self, offsets: IntArray) -> IntArray:
        """Offsets into the text of ``offsets`` into the unified one, int64 of the same shape."""
        return offsets + np.searchsorted(self._lines, offsets)

    def in_unified(self, offsets: IntArray) -> IntArray:
        """Offsets into the unified text of ``offsets`` into the text, int64 of the same shape."""
        return offsets - np.searchsorted(self._pairs, offsets)
