from __future__ import annotations

from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts/benchmarks"


@pytest.fixture
def homes(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import peer_homes

    monkeypatch.setattr(peer_homes, "HOMES", tmp_path)
    monkeypatch.setattr(peer_homes, "PEERS", {"other-tool": [["--no-index", "other-tool-of-no-index"]]})
    return peer_homes


def test_a_peer_that_cannot_be_installed_says_why(homes):
    """The comparison goes on without it, and its row holds pip's reason; what is half made is not taken for made."""
    with pytest.raises(
        homes.NotInstalledError, match=r"other-tool can't be installed here: .*other-tool-of-no-index"
    ):
        homes.home("other-tool")
    assert not (homes.HOMES / "other-tool/installed").exists()


def test_a_peer_is_installed_once(homes, monkeypatch):
    """Its environment is made when there is none, and anew when something else is to be in it; else it is taken as it is."""
    place, calls = homes.HOMES / "other-tool", []

    def stand_in(_peer, words):
        calls.append(words[1:3])
        place.mkdir(exist_ok=True)

    monkeypatch.setattr(homes, "_call", stand_in)
    made = [["-m", "venv"], ["-m", "pip"]]
    assert homes.home("other-tool") == homes.home("other-tool") == place
    assert calls == made

    homes.PEERS["other-tool"].append(["something more"])
    homes.home("other-tool")
    assert calls == [*made, *made, ["-m", "pip"]]
