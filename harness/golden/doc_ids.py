"""The ids of a corpus, and messages about ids and quotes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping

from rapidfuzz import fuzz, process

from harness.golden.other_names import stem

_DOCUMENTS = 20_000  # in a larger corpus, ids are not compared letter by letter
_ALIKE = 75  # percent of the whole id: one wrong letter in four
_STEM_ALIKE = 60  # percent of the id without its extension, which a.md and b.md share


class Names:
    """The ids of a corpus. ``reasons``: messages about unknown ids, where more is known than that."""

    def __init__(self, doc_ids: Collection[str], reasons: Mapping[str, str] | None = None) -> None:
        self._ids = doc_ids
        self._reasons = dict(reasons or {})
        self._groups: dict[Callable[[str], str], dict[str, list[str]]] = {}

    def __contains__(self, doc_id: str) -> bool:
        return doc_id in self._ids

    def no_document(self, doc_id: str) -> str:
        """A message that there is no document ``doc_id``, with a similar id when there is one."""
        if doc_id not in self._reasons:
            near = self.near(doc_id)
            hint = f". Did you mean {shown_id(near)}?" if near else ""
            self._reasons[doc_id] = f"there is no document {shown_id(doc_id)}{hint}"
        return self._reasons[doc_id]

    def near(self, doc_id: str) -> str | None:
        """The id that ``doc_id`` may have been meant for."""
        for same_name in (self._like(doc_id, key) for key in (_last_part, _last_stem)):
            if len(same_name) == 1:
                return same_name[0]
        if len(self._ids) > _DOCUMENTS:
            return None
        # Ids that differ in a number (refunds-2025 and refunds-2026) are two documents and no slip.
        alike = self._like(doc_id, _digits)
        near = process.extract(doc_id, alike, scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=3)
        return next((other for other, _, _ in near if _stems_alike(doc_id, other)), None)

    def _like(self, doc_id: str, key: Callable[[str], str]) -> list[str]:
        """The ids of the corpus with the same ``key``, which are grouped once."""
        if key not in self._groups:
            groups = self._groups.setdefault(key, defaultdict(list))
            for other in self._ids:
                groups[key(other)].append(other)
        return self._groups[key].get(key(doc_id), [])


def shown_id(doc_id: str) -> str:
    """An id for a message, in quotation marks if it has blanks or unprintable characters."""
    is_plain = doc_id.isprintable() and " " not in doc_id
    return doc_id if is_plain else json.dumps(doc_id, ensure_ascii=not doc_id.isprintable())


def quoted(text: str, characters: int) -> str:
    """A text for a message: in quotation marks, on one line, cut where it is longer."""
    words = " ".join(text.split())
    return f"“{words}”" if len(words) <= characters else f"“{words[: characters - 1]}…”"


def _last_part(doc_id: str) -> str:
    return doc_id.replace("\\", "/").rsplit("/", 1)[-1].strip().casefold()


def _last_stem(doc_id: str) -> str:
    return stem(_last_part(doc_id))


def _digits(doc_id: str) -> str:
    return "".join(filter(str.isdigit, doc_id))


def _stems_alike(one: str, other: str) -> bool:
    stems = [doc_id.rpartition(".")[0] or doc_id for doc_id in (one, other)]
    return fuzz.ratio(*stems) >= _STEM_ALIKE
