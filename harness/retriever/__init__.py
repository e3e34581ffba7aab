"""Questions into rankings of chunks.

Promises: the order is total (score, then the smaller row); when groups of rows are ranked (the chunks of a
document), a group scores as its best row, decided before the cut at ``depth``; labels are not visible to
retrievers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from harness.records import Chunks, Encoded, FloatArray, IntArray, Kind, Question, Ranking
from harness.text.tokens import TokenMap

# So many of a sweep's questions have their latency noted in passing.
LATENCY_QUESTIONS = 20
# Rows a question's latency is measured with: what a user's retriever usually asks for.
LATENCY_DEPTH = 10


class Encoder(Protocol):
    """What a retriever needs of a model."""

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Vectors of passages."""

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions."""


class VectorIndex(Protocol):
    """What a retriever needs of an index; see ``harness.index``."""

    def build(self, vectors: Any, vector_of_row: IntArray) -> None:
        """Takes the vectors."""

    def search(self, queries: Any, depth: int, groups: IntArray | None = None) -> Ranking:
        """The best rows."""

    def first_ranks(
        self, queries: Any, relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank of the first relevant row."""

    def megabytes(self) -> float:
        """Size of what a search reads, in MB."""


class Ranker(Protocol):
    """What every retriever can do once it is ready."""

    @property
    def uses_model(self) -> bool:
        """Whether a model reads the chunks and the questions; if not, none is loaded or timed."""

    def search(self, questions: Sequence[str], depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` best chunk rows of each question.

        With ``groups``, offsets of rows as ``Chunks.groups`` gives them: the best groups.
        """

    def first_ranks(
        self, questions: Sequence[str], relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank (from 1) of the best of ``relevant[i]`` over the whole ranking; 0 without one."""

    def encoded(self) -> Encoded | None:
        """What the model read of each chunk row (vectors left empty), or None when none read the chunks."""

    def measurements(self) -> Mapping[str, float]:
        """What was measured while building: ``embed_seconds``, ``index_seconds``, ``index_mb``, ..."""


class Retriever(Ranker, Protocol):
    """Anything that ranks chunks for questions.

    ``uses_model`` and ``uses_index`` are read off the class too: what it does not use makes no further cell.
    So is ``ignores``, where a class has it (a model's too): settings, as they are typed, that change nothing.
    ``later``, where a class has it, maps settings that were added to the values that change nothing: rankings
    that were cached before stay valid. A method ``problems(chunks, questions)`` may say which texts can't be
    searched: a figure's name to how many there are and an example.
    """

    @property
    def uses_index(self) -> bool:
        """Whether the index searches."""

    def build(self, chunks: Chunks, model: Encoder, index: VectorIndex) -> None:
        """Gets ready to search ``chunks``. A retriever that needs no model or index leaves them alone."""


class Depth(Protocol):
    """What the metrics say of how many rows they need."""

    def depth(self, ks: Sequence[int], rows: int) -> int:
        """Rows to ask for at first, at most ``rows``."""

    def is_deep_enough(self, chunks: Chunks, ranking: Ranking) -> bool:
        """Whether ``ranking`` fills every token budget, or holds all that came back."""


class Prepared(NamedTuple):
    """What a searcher ranks: ``chunks``, with the token maps of their documents.

    ``problems``: name of a figure to how often something was wrong with what an external retriever returned;
    ``examples``: the same names to the first case, in words.
    """

    chunks: Chunks
    tokens: Sequence[TokenMap]
    problems: Mapping[str, float] = {}
    examples: Mapping[str, str] = {}


class Searcher(Ranker, Protocol):
    """A retriever as the pipeline sees it: a built-in one, one behind a reranker, or an external one."""

    def prepare(
        self,
        chunks: Chunks,
        tokens: Sequence[TokenMap],
        questions: Mapping[Kind, Sequence[Question]],
        ks: Sequence[int],
        metrics: Depth,
    ) -> Prepared:
        """Gets ready to rank ``chunks``, whose documents ``tokens`` map.

        An external retriever is asked ``questions`` and gives its own chunks.
        """

    def search_ms(self, questions: Sequence[str]) -> FloatArray:
        """Milliseconds of searching for each question alone, without encoding; nan without an answer."""

    def answer(self, question: str, depth: int = LATENCY_DEPTH) -> list[str]:
        """The texts of the first ``depth`` rows, as production would ask for them, without the cache."""


class Row(NamedTuple):
    """One row of an answer, as far as it could be read.

    ``start`` and ``end`` are character offsets into the document, both or neither. ``score`` is None where
    none was given, nan where it is not a number. ``fault`` says what could not be read, in a few words, and
    ``given`` shows the row then. ``also``: further names that may be those of its document.
    """

    id: str | None = None
    text: str | None = None
    start: int | None = None
    end: int | None = None
    score: float | None = None
    fault: str = ""
    given: str = ""
    also: tuple[str, ...] = ()


class Answer(NamedTuple):
    """What came back for one question, best first.

    ``error`` says why nothing did. ``surplus``: rows beyond those asked for, cut off.
    """

    rows: tuple[Row, ...] = ()
    error: str = ""
    surplus: int = 0


class OwnRetriever(Protocol):
    """An external retriever: a system that runs already and returns its own chunks.

    It is asked, never built. Its rows become spans of the documents outside of this stage.
    """

    @property
    def uses_chunks(self) -> bool:
        """False: the sweep's chunker does not matter, nor do its model and index."""

    @property
    def name(self) -> str:
        """Who is asked: a function or an address."""

    @property
    def depth(self) -> int | None:
        """How many rows it is asked for, at most; None: as many as the metrics need."""

    def ask(self, questions: Sequence[str], top_k: int) -> list[Answer]:
        """One answer for each question, in order.

        A question that fails has an answer that says so; the others go on.
        """
