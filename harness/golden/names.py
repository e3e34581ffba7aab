"""Ids of documents in messages, and which document a wrong id may have meant."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cached_property

from rapidfuzz import fuzz, process

_DOCUMENTS = 20_000  # in a larger corpus, ids are not compared letter by letter
_ALIKE = 75  # percent of the whole id: one wrong letter in four
_STEM_ALIKE = 60  # percent of the id without its extension, which a.md and b.md share


class Names:
    """The ids of a corpus. ``reasons`` says for ids of no document why there is none, where that is known."""

    def __init__(self, doc_ids: Collection[str], reasons: Mapping[str, str] | None = None) -> None:
        self._ids = doc_ids
        self._reasons = dict(reasons or {})
        self._explained = set(self._reasons)

    def __contains__(self, doc_id: str) -> bool:
        return doc_id in self._ids

    def no_document(self, doc_id: str) -> str:
        """A message that there is no document ``doc_id``, with a similar id when there is one."""
        if doc_id not in self._reasons:
            near = self._near(doc_id)
            hint = f". Did you mean {shown_id(near)}?" if near else ""
            self._reasons[doc_id] = f"there is no document {shown_id(doc_id)}{hint}"
            self._explained |= {doc_id} if near else set()
        return self._reasons[doc_id]

    def is_explained(self, doc_id: str) -> bool:
        """Whether ``no_document`` says more than that there is none."""
        self.no_document(doc_id)
        return doc_id in self._explained

    def _near(self, doc_id: str) -> str | None:
        same_name = self._by_last_part.get(_last_part(doc_id), [])
        if len(same_name) == 1:
            return same_name[0]
        if len(self._ids) > _DOCUMENTS:
            return None
        # Ids that differ in a number (refunds-2025 and refunds-2026) are two documents and no slip.
        alike = self._by_digits.get(_digits(doc_id), [])
        near = process.extract(doc_id, alike, scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=3)
        return next((other for other, _, _ in near if _stems_alike(doc_id, other)), None)

    @cached_property
    def _by_last_part(self) -> Mapping[str, list[str]]:
        by_last_part: dict[str, list[str]] = defaultdict(list)
        for doc_id in self._ids:
            by_last_part[_last_part(doc_id)].append(doc_id)
        return by_last_part

    @cached_property
    def _by_digits(self) -> Mapping[str, list[str]]:
        by_digits: dict[str, list[str]] = defaultdict(list)
        for doc_id in self._ids:
            by_digits[_digits(doc_id)].append(doc_id)
        return by_digits


def shown_id(doc_id: str) -> str:
    """An id for a message, in quotation marks if it has blanks or unprintable characters."""
    is_plain = doc_id.isprintable() and " " not in doc_id
    return doc_id if is_plain else json.dumps(doc_id, ensure_ascii=not doc_id.isprintable())


def _last_part(doc_id: str) -> str:
    return doc_id.replace("\\", "/").rsplit("/", 1)[-1].strip().casefold()


def _digits(doc_id: str) -> str:
    return "".join(filter(str.isdigit, doc_id))


def _stems_alike(one: str, other: str) -> bool:
    stems = [doc_id.rpartition(".")[0] or doc_id for doc_id in (one, other)]
    return fuzz.ratio(*stems) >= _STEM_ALIKE
