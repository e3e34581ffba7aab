"""Texts as sequences of lower-cased words, the same for every script."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import chain, groupby, pairwise

# Written without blanks: Thai, Lao, Myanmar, Khmer; kana, Han and their compatibility forms. Korean has blanks.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_PLAIN = re.compile(r"\w+")


def units(text: str) -> list[str]:
    r"""The words of ``text`` in order, lower-cased: runs of ``\w`` and combining marks.

    Scripts that are written without blanks come character by character.
    """
    text = (text if text.isascii() else unicodedata.normalize("NFC", text)).lower()
    is_plain = text.isascii() or not _special().search(text)  # the general pattern takes five times as long
    return (_PLAIN if is_plain else _units()).findall(text)


def words(text: str) -> list[str]:
    """As ``units``, but scripts without blanks come as pairs of neighbouring characters (a single one stays alone).

    One character of Chinese is too common to tell two texts apart.
    """
    found = units(text)
    if text.isascii():
        return found
    result: list[str] = []
    for is_paired, run in groupby(found, key=is_unspaced):
        some = list(run)
        pairs = [one + other for one, other in pairwise(some)]
        result += (pairs or some) if is_paired else some
    return result


def is_unspaced(unit: str) -> bool:
    """Whether ``unit`` is a character of a script without blanks (its marks aside)."""
    return _UNSPACED.match(unit) is not None


def size(text: str) -> int:
    """Characters, those of scripts without blanks counted twice: about as much is said by texts of one size."""
    return len(text) if text.isascii() else len(text) + len(_UNSPACED.findall(text))


@cache
def _units() -> re.Pattern[str]:
    return re.compile(rf"[{UNSPACED}][{_marks()}]*|(?:(?![{UNSPACED}])[\w{_marks()}])+")


@cache
def _special() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}{_marks()}]")


@cache
def _marks() -> str:
    """Combining marks as ranges of a regular expression's set."""
    ranges: list[list[int]] = []
    # Unicode has none between these planes, and a look at every one of a million code points takes a third of a second.
    for code in chain(range(0x20000), range(0xE0000, 0xE1000)):
        if unicodedata.category(chr(code)) not in {"Mn", "Mc"}:
            continue
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)
