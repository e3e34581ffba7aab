"""The version and the git commit that stand with every result."""

from __future__ import annotations

import subprocess

from harness import __version__
from harness.sweep.environment import provenance


def git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_commit_and_whether_tracked_files_differ_from_it(tmp_path):
    """``git_dirty`` follows tracked files only: results in an ignored folder change nothing."""
    git(tmp_path, "init", "-q")
    (tmp_path / "conf.yaml").write_text("a: 1\n")
    assert provenance(tmp_path) == {"version": __version__}  # no commit yet

    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    clean = {"version": __version__, "git_commit": git(tmp_path, "rev-parse", "HEAD"), "git_dirty": "false"}
    assert provenance(tmp_path) == clean

    (tmp_path / "new.txt").write_text("untracked")
    assert provenance(tmp_path) == clean
    (tmp_path / "conf.yaml").write_text("a: 2\n")
    assert provenance(tmp_path) == clean | {"git_dirty": "true"}


def test_outside_of_a_checkout_only_the_version_is_known(tmp_path, monkeypatch):
    """Also where git is not installed."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert provenance(tmp_path) == {"version": __version__}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance(tmp_path) == {"version": __version__}
