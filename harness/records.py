"""The nouns that all stages share. Plain immutable values; no behaviour beyond what follows from the fields.

One invariant carries the project: a chunk is a span of a document and so is a label. Offsets are Python
string offsets (code points), half open, into ``Document.text``, which is exactly the file's characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Float32Array: TypeAlias = npt.NDArray[np.float32]

Kind: TypeAlias = Literal["span", "document"]
Source: TypeAlias = Literal["synthetic", "production", "import"]
UNUSED = "-"  # stands for the value of a setting that does not matter to a cell


@dataclass(frozen=True, slots=True)
class Document:
    """One document. ``text`` is exactly the file's characters, without newline translation or normalisation.

    ``embed_prefix`` is put before every chunk's text when it is embedded or indexed (a BEIR title and a
    blank); spans never see it. ``position`` counts the documents of its source from 0.
    """

    doc_id: str
    text: str
    title: str = ""
    embed_prefix: str = ""
    position: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A label: a span of a document, or a whole document when ``start`` and ``end`` are None.

    ``quote`` is the text there when it was written. ``alternatives`` are other spans that say the same: one
    unit, of which any one counts. ``grade`` is the judgement's gain (``int`` if whole), 1 where ungraded.
    """

    doc_id: str
    start: int | None = None
    end: int | None = None
    quote: str | None = None
    grade: float = 1
    alternatives: tuple[Evidence, ...] = ()

    @property
    def is_document(self) -> bool:
        """Whether the label is the whole document."""
        return self.start is None

    @property
    def places(self) -> tuple[Evidence, ...]:
        """The evidence itself and its alternatives: any one of these spans is enough."""
        return (self, *self.alternatives)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the evidence that answers it, and places judged ``not_relevant``, which no score sees."""

    question_id: str
    text: str
    evidence: tuple[Evidence, ...]
    source: Source = "import"
    provenance: Mapping[str, Any] = field(default_factory=dict)
    not_relevant: tuple[Evidence, ...] = ()

    @property
    def kind(self) -> Kind:
        """``document`` when all evidence is whole documents (scored on document rows), else ``span``."""
        places = [place for evidence in self.evidence for place in evidence.places]
        return "document" if all(place.is_document for place in places) else "span"


class Chunk(NamedTuple):
    """A span of a document; its text is ``document.text[start:end]``, always."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True)
class Chunks:
    """All chunks of a corpus as columns, in the one total order: by ``doc_id``, then ``start``, then ``end``.

    A *row* is a position in these columns; of equal scores the smaller row stands first.

    - ``documents``: sorted by ``doc_id``.
    - ``doc``: int64 (rows,), the position in ``documents``.
    - ``start``, ``end``: int64 (rows,), character offsets.
    - ``tokens``: int64 (rows,), tokens of the sweep's one tokenizer.
    - ``complete``: False for the chunks that an external retriever returned: what else it holds is not known.
      Documents made up for rows that are in no document then stand last, out of order.
    - ``context``: for each row what stands between ``embed_prefix`` and text when it is embedded or
      indexed (the headings above it); may be left out. Like the prefix it is in no span and no size.
    - ``parents``: what is returned where these chunks are only searched. Every chunk lies in one parent, and
      parents don't overlap.
    """

    documents: Sequence[Document]
    doc: IntArray
    start: IntArray
    end: IntArray
    tokens: IntArray
    complete: bool = True
    context: Sequence[str] = ()
    parents: Chunks | None = None

    def __len__(self) -> int:
        return len(self.doc)

    @cached_property
    def doc_rows(self) -> IntArray:
        """int64 (documents + 1,): document ``d`` has the rows ``doc_rows[d] : doc_rows[d + 1]``."""
        return np.searchsorted(self.doc, np.arange(len(self.documents) + 1)).astype(np.int64)

    @property
    def returned(self) -> Chunks:
        """The rows of a ranking of spans, which an LLM reads: the parents, or else the chunks themselves."""
        return self if self.parents is None else self.parents

    def groups(self, kind: Kind) -> IntArray | None:
        """Offsets, like ``doc_rows``, of the rows that are ranked as one (a document, a parent), or None."""
        if kind == "document" or self.parents is None:
            return self.doc_rows if kind == "document" else None
        stride = 1 + int(self.parents.end.max(initial=0))
        starts, parents = self.doc * stride + self.start, self.parents.doc * stride + self.parents.start
        return np.append(np.searchsorted(starts, parents), len(self)).astype(np.int64)

    @cached_property
    def doc_index(self) -> Mapping[str, int]:
        """The position in ``documents`` of each ``doc_id``."""
        return {document.doc_id: i for i, document in enumerate(self.documents)}

    def text(self, row: int) -> str:
        """The chunk's text: ``document.text[start:end]``."""
        return str(self.documents[self.doc[row]].text[self.start[row] : self.end[row]])

    def embed_text(self, row: int) -> str:
        """The text that is embedded or indexed: the document's prefix, the row's context, the chunk."""
        return next(self.embed_texts(np.array([row])))

    @cached_property
    def chars_before(self) -> IntArray:
        """int64 (rows,): characters of each embedded text that stand before the chunk's own."""
        prefixes = np.array([len(document.embed_prefix) for document in self.documents], np.int64)[self.doc]
        return prefixes + np.fromiter(map(len, self.context), np.int64) if self.context else prefixes

    def embed_texts(self, rows: IntArray) -> Iterator[str]:
        r"""The texts that are embedded or indexed, one by one, with ``\n`` for every kind of line end."""
        for some in np.array_split(rows, 1 + len(rows) // 4096):
            spans = (self.doc[some].tolist(), self.start[some].tolist(), self.end[some].tolist())
            contexts = map(self.context.__getitem__, some) if self.context else repeat("", len(some))
            for doc, start, end, context in zip(*spans, contexts, strict=True):
                document = self.documents[doc]
                text = f"{document.embed_prefix}{context}{document.text[start:end]}"
                yield text.replace("\r\n", "\n").replace("\r", "\n")


class Encoded(NamedTuple):
    """What a model made of a list of texts; row ``i`` belongs to text ``i``.

    ``vectors``: float32 (texts, dim), rows of unit length. ``tokens``: int64 (texts,), the text's tokens in
    the *model's* tokenizer, special tokens and prompt left out. ``seen_tokens``: int64 (texts,), how many of
    these the model read. ``seen_chars``: int64 (texts,), the offset up to which it read the text.
    """

    vectors: Float32Array
    tokens: IntArray
    seen_tokens: IntArray
    seen_chars: IntArray


class Ranking(NamedTuple):
    """For each question its rows, best first: score descending, equal scores by the smaller row.

    ``rows``: int64 (questions, depth), -1 where fewer came back. ``scores``: float32 (questions, depth), -inf
    there. Rows are those of ``Chunks.returned``; for whole documents, positions in ``Chunks.documents``.
    """

    rows: IntArray
    scores: Float32Array

    @property
    def depth(self) -> int:
        """How many rows were asked for."""
        return int(self.rows.shape[1])
