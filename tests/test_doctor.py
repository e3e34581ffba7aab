"""The doctor says in one screen what works, and what must be mended."""

from __future__ import annotations


def test_a_healthy_place(workplace):
    """Documents, store, cache and the bundled models are found, with their hashes; the exit code is 0."""
    done = workplace.run(
        "corpus=folder",
        f"corpus.path={workplace.documents}",
        f"golden.path={workplace.golden}",
        module="harness.doctor",
    )

    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("ok   minilm     package; weights sha256 53aa51172d14") for line in lines)
    assert any(line.startswith("ok   documents  4 in ") for line in lines)
    assert any(line.startswith("-    hub        can't be reached: HF_HUB_OFFLINE") for line in lines)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80 + len(str(workplace.root))


def test_what_is_wrong_is_named(workplace):
    """A folder without documents and a store that can't be used are failures with their reason; the rest is still told."""
    done = workplace.run(
        "corpus=folder", "corpus.path=/nowhere", "tracker.uri=file:./mlruns", module="harness.doctor"
    )

    assert done.returncode == 1
    assert "FAIL documents  " in done.stdout
    assert "/nowhere" in done.stdout
    assert "FAIL tracking   " in done.stdout
    assert "ok   wordllama" in done.stdout


def test_a_misspelt_setting(workplace):
    """The doctor takes the same words as the sweep and answers mistakes the same way."""
    done = workplace.run("chunks=3", module="harness.doctor")

    assert done.returncode == 1
    assert done.stderr.startswith("error: chunks is no setting.")
