"""A folder of text files, read recursively."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.corpus import Loaded
from harness.corpus.gather import Notes, gather, wrong_path
from harness.corpus.walk import GOLDEN_FILES, OWN, CorpusFile, Exclusion, files_below
from harness.errors import SettingError, switch
from harness.progress import bar
from harness.records import Document
from harness.text.encodings import decode, detect, unified
from harness.text.headings import title_of

# How the files begin that this program writes wherever it is told to, and golden sets. The report and the
# leaderboard of a sweep may have been copied.
_OWN = re.compile(
    r"<!doctype html>.{0,2000}? · retrieval report</title>"
    r"|(?:# Leaderboard\n|\*\*).{0,4000}?\n\| cell \|[^\n]*(?:@|mrr|truncated)[^\n]*\n\|---\|---:\|"
    r"|### Retrieval (?:gate|parity): "
    r"|[^\n]+: [\d,]+ questions?, [\d,]+ documents?; (?:nothing found|\d+ (?:serious|note))[^\n]*\n\n"
    r"|# One retrieval configuration, written by `python -m harness"
    r'|question_id,cluster,[^\n]+\n|\{\n "sweep": "[^\n]*\n "run_id": '
    r'|\{"request": "|\{(?=[^\n]*"(?:question|query)": ?")[^\n]*"(?:evidence|gold_id|relevant_doc_ids)": ?',
    re.DOTALL,
).match
_BEGINNING = 8_000  # characters


class FolderCorpus:
    """Every file below ``path`` whose name matches ``pattern``.

    A document's id is its path from there, with ``/``. ``pattern`` is a glob or a list of globs; ``*.md`` is
    looked for in all folders, ``guides/**/*.md`` from the top. Case does not matter. Hidden files and folders
    are passed over, as are ``exclude`` and what ``.gitignore`` files name (``gitignore``; see
    ``harness.corpus.walk.Exclusion``), and results of this program. The order is that of the ids.
    """

    def __init__(
        self,
        path: str,
        pattern: str | Sequence[str],
        name: str | None = None,
        exclude: str | Sequence[str] = (),
        gitignore: bool = True,
    ) -> None:
        self.exclusion = Exclusion(
            [exclude] if isinstance(exclude, str) else list(exclude or ()),
            gitignore=switch(gitignore, "corpus.gitignore"),
        )
        self.path = Path(path).expanduser()
        self.patterns = (pattern,) if isinstance(pattern, str) else tuple(pattern or ())
        if not self.patterns or not all(isinstance(glob, str) and glob.strip() for glob in self.patterns):
            raise SettingError(
                f"corpus.pattern is {pattern!r}; it must be a glob such as '*.md' or a list of globs.",
                key="corpus.pattern",
            )
        self.name = name or self.path.resolve().name

    def load(self) -> Loaded:
        """All documents; see ``harness.corpus``."""
        if not self.path.is_dir():
            raise wrong_path(self.path, "folder")
        notes = Notes()
        files = self._matching(notes)
        looked_for = f"files named {', '.join(self.patterns)}, in all folders"
        return gather(_documents(files, notes), notes, source=self.path, looked_for=looked_for)

    def _matching(self, notes: Notes) -> list[CorpusFile]:
        wanted = re.compile("|".join(_regex(glob) for glob in self.patterns), re.IGNORECASE).fullmatch
        passed_over: Counter[str] = Counter()
        matching = []
        for file in files_below(self.path, wanted, notes, self.exclusion):
            if wanted(file.doc_id):
                matching.append(file)
            elif not GOLDEN_FILES(file.doc_id):
                passed_over[Path(file.doc_id).suffix.lower() or "no extension"] += 1
        for suffix, count in sorted(passed_over.items()):
            notes.add("other formats", suffix, f"{count:,} {'file' if count == 1 else 'files'}")
        return matching


def _documents(files: Sequence[CorpusFile], notes: Notes) -> Iterator[Document]:
    with bar("Reading", len(files), "files") as progress:
        for position, file in enumerate(files):
            progress.update(1)
            text = _text(file, notes)
            if text is not None and _OWN(unified(text[:_BEGINNING])):
                notes.add(OWN, file.doc_id)
            elif text is not None:
                yield Document(file.doc_id, text, title=title_of(file.doc_id, text), position=position)


def _text(file: CorpusFile, notes: Notes) -> str | None:
    try:
        data = file.path.read_bytes()
    except OSError as error:
        notes.add("unreadable", file.doc_id, (error.strerror or str(error)).lower())
        return None
    encoding = detect(data)
    if encoding is None:
        notes.add("binary", file.doc_id)
        return None
    if encoding.detail:
        notes.add("not UTF-8", file.doc_id, encoding.detail)
    return decode(data, encoding)


def _regex(glob: str) -> str:
    """A regular expression for paths; a glob without a ``/`` is about the file's name only."""
    parts = glob.removeprefix("./").split("/")
    if len(parts) == 1 and parts != ["**"]:
        parts.insert(0, "**")
    pieces = ["(?:[^/]+/)*" if part == "**" else _segment(part) + "/" for part in parts[:-1]]
    return "".join(pieces) + ("(?:[^/]+/)*[^/]+" if parts[-1] == "**" else _segment(parts[-1]))


def _segment(glob: str) -> str:
    """One path segment of a glob; ``fnmatch`` would let its ``*`` run over a ``/``."""
    pieces = []
    for part in re.split(r"(\*|\?|\[!?[^\]/]+\])", glob):
        if part.startswith("[") and len(part) > 1:
            pieces.append("[" + part[1:].replace("\\", r"\\").replace("!", "^", part[1] == "!"))
        else:
            pieces.append({"*": "[^/]*", "?": "[^/]"}.get(part) or re.escape(part))
    return "".join(pieces)
