"""Options of one's own that don't hold: what is wrong, and where, in a sentence."""

from __future__ import annotations

import pytest

from harness.cell.settings import check_settings
from harness.cli import compose
from harness.cli.command import take_apart
from harness.errors import SettingError


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Writes files below a folder, from which Python imports, and gives what a retriever's option there comes to."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(**files: str):
        for name, text in files.items():
            folder = tmp_path / ("retriever" if name == "mine" else "")
            folder.mkdir(exist_ok=True)
            (folder / (f"{name}.yaml" if name == "mine" else f"{name}.py")).write_text(text, encoding="utf-8")
        words = take_apart([f"--config-dir={tmp_path}"])
        config = compose.composed(words, ["retriever=mine"]).config
        for error in check_settings({0: config}).values():
            raise error

    return write


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1, 2\n", r"^\S+mine\.yaml, line 2, is not valid YAML: expected ',' or ']'"),
        (
            "",
            r"^retriever\._target_ is missing\. The option's file must hold .*_target_: package.module.Class",
        ),
        ("seed: 3\n", r"^retriever\._target_ is missing"),
        ("- a\n- b\n", r"^retriever\._target_ is missing"),
        ("_target_: nowhere.Mine\n", r"^retriever\._target_ is nowhere\.Mine, which can't be loaded"),
        (
            "_target_: harness.retriever.random.RandomRetriever\nsede: 3\n",
            r"^harness\.retriever\.random\.RandomRetriever can't be made with these settings: .*'sede'\. Correct",
        ),
        (
            "defaults: [gone]\n",
            r"^unknown configuration 'retriever/gone'; the folders searched are \S+ and \S+",
        ),
    ],
)
def test_a_file_that_makes_no_part_is_a_sentence(own, text, said):
    """Neither a stack trace nor Hydra's own words."""
    with pytest.raises(SettingError, match=said) as raised:
        own(mine=text)

    assert "\n" not in str(raised.value)


def test_options_of_ones_own_are_among_those_offered(tmp_path):
    """Whoever mistypes an own option is told of it."""
    (tmp_path / "retriever").mkdir()
    (tmp_path / "retriever" / "shop.yaml").write_text("defaults: [http]\n")
    words = take_apart([f"--config-dir={tmp_path}"])

    with pytest.raises(SettingError, match=r"Did you mean shop\? Options of retriever: .*random, shop\.$"):
        compose.composed(words, ["retriever=shpo"])


def test_a_folder_that_is_not_there_is_named(tmp_path):
    """Before Hydra warns of it and goes on."""
    words = take_apart(["--config-dir", str(tmp_path / "gone")])

    with pytest.raises(
        SettingError, match=r"^--config-dir is \S+gone, but the folder \S+gone does not exist\."
    ):
        compose.composed(words, [])


def test_a_failure_names_the_class_of_ones_own(workplace):
    """Whose fault an unexpected error is can't be known where a class of the user's takes part."""
    (workplace.root / "chunker").mkdir()
    (workplace.root / "chunker" / "mine.yaml").write_text("_target_: raising.Raising\n")
    (workplace.root / "raising.py").write_text(
        "class Raising:\n    def split(self, document, tokens):\n        raise KeyError('oops')\n"
    )
    run = workplace.sweep("--config-dir=.", "chunker=mine", "tracker=none", PYTHONPATH=".")

    assert run.returncode == 1
    said = " ".join((run.stdout + run.stderr).split())
    assert "KeyError: 'oops'. This is a fault of raising.Raising or the program; see " in said
    assert "Traceback" not in said
