"""Words of the command line into configurations, and mistakes into sentences."""

from __future__ import annotations

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cli import compose
from harness.cli.command import quote, take_apart
from harness.errors import SettingError


def one(words):
    """The configuration of a command line without a sweep."""
    taken = take_apart(words)
    return compose.composed(taken, *compose.combinations(taken.overrides)).config


def test_the_main_command_gives_its_four_cells():
    """model=minilm,bge chunk=256,512 is four combinations, the last axis running fastest."""
    words = take_apart(["-m", "model=minilm,bge", "chunk=256,512"])

    assert words.is_sweep
    assert compose.axes(words.overrides) == {"model": ["minilm", "bge"], "chunk": ["256", "512"]}
    assert compose.combinations(words.overrides) == [
        ["model=minilm", "chunk=256"],
        ["model=minilm", "chunk=512"],
        ["model=bge", "chunk=256"],
        ["model=bge", "chunk=512"],
    ]


def test_the_sweep_flag_may_stand_anywhere():
    """-m after the overrides means the same as before them."""
    assert take_apart(["model=minilm,bge", "-m"]).is_sweep


def test_several_k_are_one_cell():
    """Every k is read off one ranking, so k=3,5 is one cell with a list, with and without -m."""
    for flags in ([], ["-m"]):
        words = take_apart([*flags, "k=3,5"])

        assert compose.axes(words.overrides) == {}
        assert compose.combinations(words.overrides) == [["k=[3,5]"]]


@given(st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"]), min_size=1))
@settings(derandomize=True, max_examples=500, deadline=None)
def test_any_path_survives_the_command_line(path):
    """Blanks, brackets, commas, quotes, backslashes and '=' in a path reach the program as they were typed."""
    word = "corpus.path=" + quote(path)
    parsed = OverridesParser.create().parse_override(word)

    assert parsed.value() == path


@pytest.mark.parametrize(
    "path", ["/tmp/a b", "/tmp/a[1]", "/tmp/a,b", "/tmp/k=v", "/tmp/it's", "123e4567", "/tmp/(x)", "/tmp/{y}"]
)
def test_odd_paths_need_no_quotes_from_the_user(path):
    """A path-like key is text whatever signs its value holds."""
    config = one(["corpus=folder", f"corpus.path={path}"])

    assert config.corpus.path == path


def test_a_sweep_over_paths_is_a_sweep():
    """Under -m a comma separates two paths, each of which is text."""
    words = take_apart(["-m", "corpus=folder", "corpus.path=/a b,/c=d"])

    assert compose.axes(words.overrides) == {"corpus.path": ["/a b", "/c=d"]}


def test_existing_files_are_positional(tmp_path):
    """A word that is an existing file is no override, even when its name holds '='."""
    file = tmp_path / "a=b.yaml"
    file.write_text("")

    assert take_apart([str(file), "chunk=3"]).files == (str(file),)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["chunks=256"], r"^unknown setting 'chunks'\. Did you mean chunk"),
        (["model.nam=x"], r"^unknown setting 'model\.nam'\. Did you mean model\.name"),
        (
            ["model=minlm"],
            r"^unknown option 'model=minlm'\. Did you mean minilm\? Options of model: arctic",
        ),
        (["zzzz=1"], r"^unknown setting 'zzzz'\. Settings: backend, cache, cache_dtype, chunk"),
        (["chunk={"], r"^'chunk=\{' can't be read as key=value"),
        (["model=3"], r"'model=3': a group takes the name of an option"),
    ],
)
def test_mistakes_are_answered_by_a_sentence(words, message):
    """What was given, what is allowed, in one line."""
    with pytest.raises(SettingError, match=message) as raised:
        one(words)

    assert "\n" not in str(raised.value)
