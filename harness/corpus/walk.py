"""The files below a folder that are documents, each once, in an order that is the same on every machine."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pathspec import GitIgnoreSpec

from harness.corpus.gather import Notes
from harness.errors import SettingError

# The golden set usually stands beside the documents, with its ledger, lock and sidecar.
GOLDEN_FILES = re.compile(r"\.?golden\.([a-z]+\.)?jsonl?(\.lock|\.torn)?").fullmatch
# What a package manager installs or writes.
EXCLUDED = (
    "node_modules/",
    "__pycache__/",
    "venv/",
    "site-packages/",
    "*.lock",
    "*-lock.json",
    "*-lock.yaml",
    "npm-shrinkwrap.json",
    "go.sum",
)
# What this program and MLflow write is no document either.
OWN = "written by this program"
_RESULT = re.compile(rb'\{\s*"schema": *\d').match
_STORES = ("mlruns", "mlartifacts")
_Ignored: TypeAlias = tuple[tuple[str, GitIgnoreSpec], ...]
"""The patterns of ``.gitignore`` files with the path of their folders, the innermost first."""


class CorpusFile(NamedTuple):
    """A file and its path from the top of the corpus, with ``/``."""

    doc_id: str
    path: Path


class _Folder(NamedTuple):
    """A folder to look into; ``reason``: why it is passed over, or empty."""

    path: Path
    prefix: str
    reason: str
    ignored: _Ignored


class Exclusion:
    """What of a folder is not wanted as documents.

    ``exclude``: patterns as in a ``.gitignore`` file, relative to the top, after those of ``EXCLUDED``; ``!``
    takes one back. ``gitignore``: whether the ``.gitignore`` files of the folder are obeyed. Raises
    ``SettingError`` for a pattern that Git would not understand.
    """

    def __init__(self, exclude: Sequence[str] = (), *, gitignore: bool = True) -> None:
        self.gitignore = gitignore
        try:
            self._patterns = GitIgnoreSpec.from_lines([*EXCLUDED, *map(str.lstrip, exclude)])
        except (ValueError, TypeError):
            raise SettingError(
                f"corpus.exclude is {exclude!r}; it must be a list of patterns as in a .gitignore file, "
                "such as [drafts/,CHANGELOG.md].",
                key="corpus.exclude",
            ) from None

    def below(self, folder: Path, prefix: str, above: _Ignored) -> _Ignored:
        """``above`` with the patterns of the ``.gitignore`` file in ``folder``, if any."""
        try:
            text = (
                (folder / ".gitignore").read_text(encoding="utf-8", errors="replace")
                if self.gitignore
                else ""
            )
        except OSError:
            return above
        return ((prefix, _readable_patterns(text.splitlines())), *above) if text else above

    def reason(self, doc_id: str, ignored: _Ignored) -> str:
        """Why the file, or folder with a ``/`` at its end, is passed over; empty where it is not."""
        if self._patterns.match_file(doc_id):
            return "excluded"
        found = (spec.check_file(doc_id.removeprefix(prefix)).include for prefix, spec in ignored)
        return "ignored by .gitignore" if next((one for one in found if one is not None), False) else ""


def files_below(
    top: Path, wanted: Callable[[str], object], notes: Notes, exclusion: Exclusion
) -> list[CorpusFile]:
    """All files below ``top`` that are not passed over, sorted by ``doc_id``.

    ``wanted`` says of a ``doc_id`` whether the file will be read: only such files are named when they are
    passed over, by ``exclusion`` or as a result of this program or of MLflow. Hidden files and folders are
    passed over and named. Symbolic links are followed only to files inside ``top`` that are not wanted under
    their own name; folders are never entered through a link. Pipes, sockets and devices are not opened.
    """
    root = Path(os.path.realpath(top))
    files: list[CorpusFile] = []
    links: list[CorpusFile] = []
    folders: list[_Folder] = [_Folder(root, "", "", ())]
    while folders:
        folder, prefix, given, above = folders.pop()
        entries = _entries(folder, prefix, notes)
        given = given or (OWN if prefix and _is_own(folder, entries) else "")
        ignored = exclusion.below(folder, prefix, above)
        for entry in entries:
            doc_id, is_folder = prefix + _readable(entry.name), entry.is_dir(follow_symlinks=False)
            is_hidden = entry.name.startswith(".")
            reason = given or (not is_hidden and exclusion.reason(doc_id + "/" * is_folder, ignored)) or ""
            if is_folder and not is_hidden:
                folders.append(_Folder(Path(entry.path), doc_id + "/", reason, ignored))
            elif reason or is_hidden:
                _pass_over(doc_id, reason, notes, is_wanted=bool(wanted(doc_id)))
            elif entry.is_symlink():
                links.append(CorpusFile(doc_id, Path(entry.path)))
            elif entry.is_file():
                files.append(CorpusFile(doc_id, Path(entry.path)))
            else:
                notes.add("unreadable", doc_id, "not a regular file")
    read = {file.path for file in files if wanted(file.doc_id)}
    files.extend(_through_links(sorted(links), read, root, notes))
    return sorted(files)


def _pass_over(doc_id: str, reason: str, notes: Notes, *, is_wanted: bool) -> None:
    if reason and is_wanted:
        notes.add(reason, doc_id)
    elif not reason and not GOLDEN_FILES(doc_id):
        notes.add("hidden", doc_id)


def _is_own(folder: Path, entries: Sequence[os.DirEntry[str]]) -> bool:
    """Whether a folder is a sweep, one of its cells, a cached ranking, MLflow's store or a model in it."""
    names = {entry.name for entry in entries}
    for name in {"sweep.json", "result.json"} & names:
        try:
            with (folder / name).open("rb") as file:
                if _RESULT(file.read(40)):
                    return True
        except OSError:
            continue
    is_store = folder.name in _STORES and any(name.isdigit() or name == "artifacts" for name in names)
    return is_store or bool(names & {"MLmodel", "ranking.json"}) or names >= {"mlflow.db", "artifacts"}


def _readable_patterns(lines: Iterable[str]) -> GitIgnoreSpec:
    """Those patterns that Git understands; it overlooks the others."""
    good = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        good.append(line)
    return GitIgnoreSpec.from_lines(good)


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
