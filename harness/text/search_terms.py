"""The terms of a lexical search, before stop words and stems."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import regex  # type: ignore[import-untyped] # it ships no types

from harness.text.words import LETTERS, UNSPACED

# In a lexical search also the rarer scripts of that kind, and Hangul, whose blanks part phrases.
_PAIRED = (
    UNSPACED + r"\p{Block=Tai_Le}\p{Block=New_Tai_Lue}\p{Block=Tai_Tham}\p{Block=Tai_Viet}\u3006\u3007"
    r"\p{Block=Myanmar_Extended_A}\p{Block=Myanmar_Extended_B}\p{Block=Hangul_Jamo}"
    r"\p{Block=Hangul_Compatibility_Jamo}\p{Block=Hangul_Syllables}\p{Block=Hangul_Jamo_Extended_B}"
)
# Vowel signs of Arabic are written or left out at will; only its own stemmer knows how to take them off.
_SEARCHED_ARABIC = regex.compile(rf"(?V1)[{LETTERS}][[{LETTERS}\p{{M}}]--[\U000e0100-\U000e01ef]]*")
_SEARCHED = regex.compile(
    rf"(?V1)[{LETTERS}](?:[{LETTERS}]|[\p{{M}}--[\u0610-\u06ff\U000e0100-\U000e01ef]])*"
)
# Names that are more than a word: 2.1.0, C++, std::string, CVE-2024-1234, get_user, getUser.
_NAME = regex.compile(
    rf"[{LETTERS}]+(?:(?:\.|::?|-)[{LETTERS}]+)+|[{LETTERS}]+(?:\+\+|#)(?![{LETTERS}])|[{LETTERS}]+"
)
_WORD = regex.compile(rf"[{LETTERS}]+")
_NAME_PART = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|[\p{Lt}\p{Lm}\p{Lo}]+")
_SCRIPTS = {
    name: regex.compile(rf"\p{{Script={name}}}")
    for name in ["Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Devanagari", "Armenian", "Tamil"]
}
_RUN = regex.compile(f"([{_PAIRED}]+)|([^{_PAIRED}]+)")


def search_terms(text: str, shortest: int, *, with_arabic_signs: bool = False) -> Iterator[str]:
    """The terms of ``text`` for a lexical search, before stop words and stems.

    Words have at least ``shortest`` characters. A word begins with a letter, digit or underscore; marks may
    follow. Every two neighbouring characters of a script without blanks between words are a term.
    Compatibility forms are equal to what they stand for (NFKC).
    """
    plain = (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower()
    for word in (_SEARCHED_ARABIC if with_arabic_signs else _SEARCHED).findall(plain):
        for paired, other in [("", word)] if word.isascii() else _RUN.findall(word):
            if len(other) >= shortest:
                yield other
            if paired:
                yield from (paired[i : i + 2] for i in range(max(1, len(paired) - 1)))


def name_terms(text: str, shortest: int) -> tuple[list[str], list[str]]:
    """The names in ``text`` that ``search_terms`` would cut or lose, lower-cased, and the parts of names.

    ``get_user``, ``getUser`` and ``user2`` have parts (at least ``shortest`` characters each); names with a
    sign within or after them, such as ``2.1.0``, ``C++`` and ``CVE-2024-1234``, are given as they stand.
    ``by-product`` is no name but words.
    """
    whole, parts = [], []
    for name in _NAME.findall(text if text.isascii() else unicodedata.normalize("NFKC", text)):
        words_of_name = _WORD.findall(name)
        if words_of_name != [name] and not name.replace("-", "").isalpha():
            whole.append(name.lower())
        for pieces in map(_NAME_PART.findall, words_of_name):
            parts += [piece.lower() for piece in pieces if len(pieces) > 1 and len(piece) >= shortest]
    return whole, parts


def main_script(text: str) -> str:
    """The script of most letters of ``text``, such as Latin or Cyrillic, of those with blanks between words.

    Empty where it has no letters, or most are of scripts that every search handles alike.
    """
    if text.isascii():
        return "Latin" if any(map(str.isalpha, text)) else ""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS.items()}
    most = max(counts, key=lambda name: counts[name])
    return most if 2 * counts[most] > sum(map(str.isalpha, text)) else ""
