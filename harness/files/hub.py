"""The Hugging Face hub: its cache on this machine, whether it answers, and downloads.

Whether any server answers is found out here within seconds: clients by themselves retry for minutes.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import Any

from harness.errors import ModelError

PROBE_SECONDS = 5.0
SAFE = ("*.safetensors",)
_PICKLED = ("pytorch_model*.bin", "*/pytorch_model.bin")
# A proxy says one of these for a server behind it that is down.
_PROXY_ERRORS = {502, 503, 504}
# More than the request itself may take.
_GRACE_SECONDS = 1.0

# Everything but the weights that takes part in making a vector; read-me files and training logs do not.
SETUP_FILES = (
    "modules.json",
    "config.json",
    "config_sentence_transformers.json",
    "sentence_bert_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "spiece.model",
    "tokenizer.model",
)


def cache_folder() -> Path:
    """Where the hub's client keeps what it has downloaded (``HF_HOME``, ``HF_HUB_CACHE``)."""
    return Path(_client().constants.HF_HUB_CACHE)


def address() -> str:
    """The hub's address (``HF_ENDPOINT``)."""
    return str(_client().constants.ENDPOINT)


def cached(name: str, revision: str, files: Sequence[str]) -> Path | None:
    """The folder of a repository that was downloaded before with its weights, or None. Asks nobody.

    ``files`` are the patterns that ``download`` was given: the client compares the folder with the hub's list
    of files.
    """
    hub = _client()
    try:
        folder = Path(
            hub.snapshot_download(
                name, revision=revision, local_files_only=True, allow_patterns=[*files, *SAFE]
            )
        )
    except (hub.errors.LocalEntryNotFoundError, OSError, ValueError):
        return None
    kinds = ("*.safetensors", "*/model.safetensors", "pytorch_model*.bin")
    return folder if any(any(folder.glob(kind)) for kind in kinds) else None


def unreachable() -> str:
    """Why the hub can't be reached; empty when it answers.

    One request without retries; whatever blocks (a name server, a proxy) is given up after ``PROBE_SECONDS``.
    """
    if _client().constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set"
    return why_unreachable(address(), PROBE_SECONDS)


def download(name: str, revision: str, files: Sequence[str]) -> Path:
    """Downloads a model's weights (safetensors if it has them) and ``files``, patterns; gives its folder."""
    hub = _client()
    try:
        info = hub.HfApi().model_info(name, revision=revision)
        listed = [str(entry.rfilename) for entry in info.siblings or []]
        safe = any(file.endswith(".safetensors") and "/" not in file for file in listed)
        wanted = [*files, *(SAFE if safe else _PICKLED)]
        return Path(hub.snapshot_download(name, revision=revision, allow_patterns=wanted))
    except (hub.errors.HfHubHTTPError, hub.errors.LocalEntryNotFoundError, OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"The model {name!r} at revision {revision!r} could not be downloaded from {address()}: "
            f"{reason}. Check the name, the revision and, for a gated model, that you are logged in (hf "
            "auth login).",
            model=name,
        ) from error


def why_unreachable(address: str, seconds: float) -> str:
    """The reason why nothing answers at ``address`` within ``seconds``; empty when something does.

    ``address`` is ``http://...``, ``https://...``, or ``tcp://host:port`` for a server that speaks another
    protocol. Any HTTP status is an answer, apart from those that a proxy sends for a server that is down.
    """
    ask = _connect if address.startswith("tcp:") else _request
    outcome: list[str] = []
    # In a thread, because looking up a host name has no time limit.
    asking = Thread(target=lambda: outcome.append(ask(address, seconds)), daemon=True)
    asking.start()
    asking.join(seconds + _GRACE_SECONDS)
    return outcome[0] if outcome else f"no answer within {seconds:g} s"


def _connect(address: str, seconds: float) -> str:
    try:
        host, _, port = address.removeprefix("tcp://").rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()
    except (OSError, ValueError) as error:
        return str(getattr(error, "strerror", None) or error)
    return ""


def _request(address: str, seconds: float) -> str:
    import httpx2

    try:
        # Nothing is sent that a certificate would have to protect; the client that follows checks it.
        status = httpx2.head(address, timeout=seconds, verify=False).status_code
    except Exception as error:  # noqa: BLE001 - whatever keeps the request from an answer is the reason
        return str(error) or type(error).__name__
    return f"its proxy answers with status {status}" if status in _PROXY_ERRORS else ""


def _client() -> Any:
    """The hub's own client, told to send no telemetry before it reads its settings."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import huggingface_hub
    import huggingface_hub.constants
    import huggingface_hub.errors
    import huggingface_hub.utils

    return huggingface_hub
