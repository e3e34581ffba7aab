"""Search inside SQLite, by the extension sqlite-vec."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from harness.errors import SettingError, switch, whole
from harness.index.candidates import CandidateIndex
from harness.records import Float32Array, IntArray

if TYPE_CHECKING:
    import apsw

_MOST = 4096  # sqlite-vec refuses to find more
_CHUNK = 1024  # vectors that it stores and compares together
_LARGEST = 127


# How a column of such numbers is declared, and how the bytes of a vector are read.
ELEMENTS = {
    "float32": ("float[{dim}] distance_metric=cosine", "?"),
    "int8": ("int8[{dim}] distance_metric=cosine", "vec_int8(?)"),
    "bit": ("bit[{dim}]", "vec_bit(?)"),
}


class SqliteVecIndex(CandidateIndex):
    """A table of vectors in a temporary file; SQLite compares all of them with the query.

    ``element``: how a number is stored. ``float32``: as it is, compared by cosine. ``int8``: a whole number
    from -127 to 127, in steps of the vector's own largest absolute value / 127, which changes no cosine;
    queries too. ``bit``: whether it is above 0, and compared by the number of bits that agree.
    ``candidates``: the best vectors by these, at most 4,096; no more ever come back. ``rescore``: they are
    put in the order of the full vectors. A vector of zeros has no cosine: as a row it is never found, as a
    query it finds nothing. Needs apsw, since Python's own SQLite loads no extensions everywhere, and
    sqlite-vec (extra ``sqlite``). Raises ``SettingError`` for a value that is not allowed, or without them.
    """

    def __init__(self, element: str = "float32", candidates: int = 200, *, rescore: bool = True) -> None:
        if element not in ELEMENTS:
            raise SettingError(
                f"index.element is {element}; it must be {', '.join(list(ELEMENTS)[:-1])} or bit.",
                key="index.element",
            )
        whole(candidates, "index.candidates", 1, _MOST, of="vectors")
        switch(rescore, "index.rescore")
        if find_spec("apsw") is None or find_spec("sqlite_vec") is None:
            raise SettingError(
                "index=sqlite_vec needs apsw and sqlite-vec, which are not installed: pip install "
                "'retrieval-harness[sqlite]' (or apsw sqlite-vec), or choose index=exact, int8 or binary.",
                key="index",
            )
        super().__init__(candidates, exact_scores=rescore)
        self._element = element

    def megabytes(self) -> float:
        """Size of the table's file, in MB (10^6 bytes); the vectors that rescoring reads lie outside."""
        size = self._table.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return float(size.get) / 1e6

    def _prepare(self, vectors: Float32Array) -> None:
        dim = int(vectors.shape[1])
        self._dim = -(-dim // 8) * 8 if self._element == "bit" else dim  # bits come in whole bytes
        self._table = _connection()
        column = ELEMENTS[self._element][0].format(dim=self._dim)
        self._table.execute(f"CREATE VIRTUAL TABLE vectors USING vec0(vector {column}, chunk_size={_CHUNK})")
        insert = f"INSERT INTO vectors (rowid, vector) VALUES (?, {ELEMENTS[self._element][1]})"  # noqa: S608
        starts = range(0, len(vectors), _CHUNK)
        nonzero = [first + np.flatnonzero(vectors[first : first + _CHUNK].any(axis=1)) for first in starts]
        places = np.concatenate([np.zeros(0, np.int64), *nonzero])
        with self._table:  # one transaction
            for first in range(0, len(places), _CHUNK):
                # Of equally near vectors sqlite-vec prefers those of the chunk before, but the last of a
                # chunk.
                some = places[first : first + _CHUNK][::-1]
                codes = self._codes(np.asarray(vectors[some], np.float32))
                self._table.executemany(insert, zip(some.tolist(), codes, strict=True))

    def _candidates(self, queries: Float32Array, count: int) -> tuple[IntArray, Float32Array]:
        vectors = np.full((len(queries), count), -1, np.int64)
        scores = np.full((len(queries), count), -np.inf, np.float32)
        read = ELEMENTS[self._element][1]
        select = f"SELECT rowid, distance FROM vectors WHERE vector MATCH {read} AND k = ?"  # noqa: S608
        asked = np.flatnonzero(queries.any(axis=1))
        for query, code in zip(asked.tolist(), self._codes(queries[asked]), strict=True):
            found = self._table.execute(select, (code, count)).fetchall()
            rows, distances = np.array(found, np.float64).reshape(-1, 2).T
            vectors[query, : len(rows)] = rows
            # A cosine's distance is 1 less the cosine; of signs, 1 less twice the share that differs is the
            # cosine.
            scores[query, : len(rows)] = 1 - distances * (2 / self._dim if self._element == "bit" else 1)
        return vectors, scores

    def _codes(self, vectors: Float32Array) -> list[bytes]:
        """The bytes of each vector as its column takes them."""
        codes: npt.NDArray[np.generic] = np.asarray(vectors, np.float32)
        if self._element == "bit":
            codes = np.packbits(vectors > 0, axis=1)
        elif self._element == "int8":
            codes = np.rint(vectors * (_LARGEST / np.abs(vectors).max(axis=1, keepdims=True))).astype(np.int8)
        return [code.tobytes() for code in codes]


def _connection() -> apsw.Connection:
    """A new database in a file that SQLite deletes by itself."""
    import apsw
    import sqlite_vec

    connection = apsw.Connection("")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    return connection
