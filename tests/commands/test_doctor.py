"""The doctor says in one screen what works, and what must be mended."""

from __future__ import annotations

import pytest

from harness import doctor


def test_a_healthy_place(workplace):
    """Documents, store, cache and the bundled models are found, with their hashes; the exit code is 0."""
    done = workplace.run(
        "corpus=folder",
        f"corpus.path={workplace.documents}",
        f"golden.path={workplace.golden}",
        module="harness.doctor",
    )

    assert done.returncode == 0, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert "ok minilm package; weights sha256 53aa51172d14" in said
    assert "ok documents 4 in " in said
    assert "e5*, " in said
    assert "(*: never loaded by this project's tests)" in said
    assert "- hub can't be reached: HF_HUB_OFFLINE" in said
    assert len(done.stdout.splitlines()) <= 24


def test_what_is_wrong_is_named(workplace):
    """A folder without documents and a store that can't be used are failures with their reason; the rest is still told."""
    done = workplace.run(
        "corpus=folder", "corpus.path=/nowhere", "tracker.uri=file:./mlruns", module="harness.doctor"
    )

    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert "FAIL documents " in said
    assert "/nowhere" in said
    assert "FAIL tracking " in said
    assert "ok wordllama" in said


def test_a_misspelt_setting(workplace):
    """The doctor takes the same words as the sweep and answers mistakes the same way."""
    done = workplace.run("chunks=3", module="harness.doctor")

    assert done.returncode == 1
    assert done.stderr.startswith("error: unknown setting 'chunks'.")


@pytest.mark.parametrize("word", ["notes.md", "-m"])
def test_a_word_that_means_nothing(capsys, word):
    """Nothing is passed over in silence: neither a file nor the flag of a sweep."""
    assert doctor.main([word]) == 1
    assert capsys.readouterr().err.startswith(f"error: unexpected argument '{word}'.")
