"""Documents that labels name otherwise than the corpus does: by a path into it, in other case, and so on."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from harness.golden.question_json import Draft
from harness.records import Evidence

_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,7}$")  # but not what follows the dot in "v1.2"
_NUMBER = re.compile(r"0*(\d+)(\.0)?")  # what a spreadsheet makes of 007
_Key: TypeAlias = tuple[str, str]


def other_names(given: Iterable[str], doc_ids: Collection[str], *, loosely: bool) -> dict[str, str]:
    """The document that is meant by each of the ``given`` ids that is no document's, where only one fits.

    Found are, the best fit first: other letter case, backslashes and ``./``; a path that leads into the
    corpus, absolute or not; a path without its first folders; a number without leading zeros. ``loosely``:
    then also without the extension or with another one, and in another folder. An id in a folder of the
    corpus is not looked for elsewhere: the document was deleted.
    """
    unknown = {doc_id: _path(doc_id) for doc_id in given if doc_id and doc_id not in doc_ids}
    if not unknown:
        return {}
    folders = {path.partition("/")[0] for path in map(_path, doc_ids) if "/" in path}
    keys = {doc_id: list(_keys_of_label(path, folders, loosely)) for doc_id, path in unknown.items()}
    fitting: dict[_Key, set[str]] = defaultdict(set)
    wanted = {key for some in keys.values() for key in some}
    # One pass over the ids of the corpus, however many there are; only what is wanted is held.
    for doc_id in doc_ids:
        for key in wanted.intersection(_keys_of_document(_path(doc_id))):
            fitting[key].add(doc_id)
    best = {
        doc_id: next((fitting[key] for key in some if key in fitting), ()) for doc_id, some in keys.items()
    }
    return {doc_id: next(iter(found)) for doc_id, found in best.items() if len(found) == 1}


def with_documents(
    drafts: Sequence[Draft], doc_ids: Collection[str], *, loosely: bool
) -> tuple[Sequence[Draft], dict[str, str]]:
    """The drafts with the ids of the documents that their labels mean, and the ids that were replaced."""
    labels = [label for draft in drafts for label in (*draft.evidence, *draft.not_relevant)]
    given = dict.fromkeys(place.doc_id for label in labels for place in label.places)
    names = other_names(given, doc_ids, loosely=loosely)
    if not names:
        return drafts, names
    return [
        draft._replace(
            evidence=_renamed(draft.evidence, names), not_relevant=_renamed(draft.not_relevant, names)
        )
        for draft in drafts
    ], names


def _renamed(labels: Iterable[Evidence], names: Mapping[str, str]) -> tuple[Evidence, ...]:
    return tuple(
        replace(
            label,
            doc_id=names.get(label.doc_id, label.doc_id),
            alternatives=_renamed(label.alternatives, names),
        )
        for label in labels
    )


def _path(doc_id: str) -> str:
    """A normal form: ``/``, no ``.`` and ``..``, one case, composed letters."""
    path = unicodedata.normalize("NFC", doc_id.strip().removeprefix("file://")).replace("\\", "/")
    return posixpath.normpath(path).casefold().removeprefix("//")


def _keys_of_label(path: str, folders: Collection[str], loosely: bool) -> Iterator[_Key]:
    """What a document must be called to be the one that is meant, the best fit first."""
    is_inside = path.partition("/")[0] in folders
    paths = [path] if is_inside else [path, *_below(path)]
    yield from (("path", one) for one in paths)
    yield "below", path
    yield from _number(path)
    if loosely:
        yield from (("stem", stem(one)) for one in paths)
        yield "stem below", stem(path)
        if not is_inside:
            yield "stem below", stem(path.rpartition("/")[2])


def _keys_of_document(path: str) -> Iterator[_Key]:
    yield "path", path
    yield "stem", stem(path)
    yield from _number(path)
    for part in _below(path):
        yield "below", part
        yield "stem below", stem(part)


def _below(path: str) -> Iterator[str]:
    """The path without its first folder, without its first two, and so on."""
    while "/" in path:
        path = path.partition("/")[2]
        yield path


def _number(path: str) -> Iterator[_Key]:
    if match := _NUMBER.fullmatch(path):
        yield "number", match[1]


def stem(path: str) -> str:
    """The name without its extension."""
    return _EXTENSION.sub("", path)
