"""The files below a folder, each once, in an order that is the same on every machine."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from harness.corpus.gather import Notes

# The golden set usually stands beside the documents, with its ledger, lock and sidecar.
GOLDEN_FILES = re.compile(r"\.?golden\.([a-z]+\.)?jsonl?(\.lock|\.torn)?").fullmatch


class CorpusFile(NamedTuple):
    """A file and its path from the top of the corpus, with ``/``."""

    doc_id: str
    path: Path


def files_below(top: Path, wanted: Callable[[str], object], notes: Notes) -> list[CorpusFile]:
    """All files below ``top``, sorted by ``doc_id``.

    ``wanted`` says of a ``doc_id`` whether the file will be read. Hidden files and folders are passed over
    and named. Symbolic links are followed only to files inside ``top`` that are not wanted under their own
    name; folders are never entered through a link. Pipes, sockets and devices are not opened.
    """
    root = Path(os.path.realpath(top))
    files: list[CorpusFile] = []
    links: list[CorpusFile] = []
    folders = [(root, "")]
    while folders:
        folder, prefix = folders.pop()
        for entry in _entries(folder, prefix, notes):
            doc_id = prefix + _readable(entry.name)
            if entry.name.startswith("."):
                if not GOLDEN_FILES(doc_id):
                    notes.add("hidden", doc_id)
            elif entry.is_symlink():
                links.append(CorpusFile(doc_id, Path(entry.path)))
            elif entry.is_dir():
                folders.append((Path(entry.path), doc_id + "/"))
            elif entry.is_file():
                files.append(CorpusFile(doc_id, Path(entry.path)))
            else:
                notes.add("unreadable", doc_id, "not a regular file")
    read = {file.path for file in files if wanted(file.doc_id)}
    files.extend(_through_links(sorted(links), read, root, notes))
    return sorted(files)


def _entries(folder: Path, prefix: str, notes: Notes) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        notes.add("unreadable", prefix or ".", (error.strerror or str(error)).lower())
        return []


def _through_links(links: list[CorpusFile], read: set[Path], root: Path, notes: Notes) -> list[CorpusFile]:
    followed = []
    for link in links:
        try:
            target = Path(os.path.realpath(link.path, strict=True))
            mode = target.stat().st_mode
        except OSError as error:
            notes.add("unreadable", link.doc_id, f"link: {(error.strerror or str(error)).lower()}")
            continue
        if root not in (target, *target.parents):
            notes.add("link out of the folder", link.doc_id)
        elif target in read or not stat.S_ISREG(mode):
            notes.add("link to what is read anyway", link.doc_id)
        else:
            read.add(target)
            followed.append(CorpusFile(link.doc_id, target))
    return followed


def _readable(name: str) -> str:
    r"""A file name whose bytes are no text becomes one that can be printed and stored: ``caf\xe9.md``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
