"""Token maps that are made once: the same texts with the same tokenizer cost a later process one read."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from harness.errors import StoreError
from harness.files.archive import DamagedArchiveError, read_archive, write_archive
from harness.store.used import mark_used
from harness.text.tokens import Tokenizer, TokenMaps

logger = logging.getLogger(__name__)

_SCHEME = 1


def cached_maps(folder: Path, tokenizer: Tokenizer, corpus_digest: str, texts: Sequence[str]) -> TokenMaps:
    """The map of each text: read from ``folder`` when these texts were mapped before, else made and kept there.

    ``corpus_digest`` stands for the texts and their order. A damaged file is reported and made again. Raises ``StoreError`` when
    the disk refuses.
    """
    key = json.dumps([_SCHEME, version("tokenizers"), tokenizer.digest, corpus_digest, len(texts)])
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"
    try:
        kept = read_archive(path)
        mark_used(path)
        return TokenMaps(kept["starts"], kept["bounds"], kept["lengths"])
    except FileNotFoundError:
        pass
    except (OSError, DamagedArchiveError, KeyError) as error:
        logger.warning("The token map %s is damaged (%s); the texts are tokenised again.", path, error)
    maps = tokenizer.map(texts)
    try:
        write_archive(
            path,
            {"starts": np.asarray(maps.starts), "bounds": maps.bounds, "lengths": maps.lengths},
        )
    except OSError as error:
        raise StoreError(
            f"{path} can't be written ({error.strerror or error}). Free space there or choose another folder (cache=).",
            where=path,
        ) from error
    return maps
