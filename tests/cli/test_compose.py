"""Which cells a sweep has: combinations that come to the same run once, ready sweeps, and what is refused."""

from __future__ import annotations

import json
import re

import pytest

from harness.cell.build import Shared
from harness.cli import compose
from harness.cli.command import Words, take_apart
from harness.errors import SettingError
from harness.paths import conf_folder
from harness.records import UNUSED
from harness.sweep.check import checked
from harness.sweep.grid import grid, unfolded
from harness.sweep.naming import cell_name, params

EXPERIMENTS = sorted(path.stem for path in (conf_folder() / "experiment").glob("*.yaml"))


def made(*typed):
    """The axes, the cells' names and the notes of a sweep with these words."""
    words = unfolded(take_apart(["-m", *typed]))
    axes, cells, notes = grid(words, compose.axes(words.overrides))
    names = [cell_name(params(c.config, c.choices, c.overrides, axes), axes) for c in cells]
    assert len(set(names)) == len(names)
    return axes, names, notes


def test_a_search_by_words_is_one_cell_for_all_models():
    """bm25 with two models is one cell, named by its retriever, where it first stood."""
    axes, names, notes = made("model=minilm,wordllama", "retriever=bm25,dense")

    assert names == ["bm25", "minilm · dense", "wordllama · dense"]
    assert axes == {"model": ["minilm", "wordllama", UNUSED], "retriever": ["bm25", "dense"]}
    assert notes == ["3 instead of 4: bm25 does not depend on model"]


@pytest.mark.parametrize("typed", ["range(1.2,1.7,0.1)", "1.2,1.3,1.4000000000000001,1.5,1.5999999999999999"])
def test_a_decimal_has_no_rounding_error(typed):
    """A range of decimals is what was meant, in names, axes, settings and the configuration."""
    axes, names, _ = made(f"retriever.k1={typed}", "retriever=bm25")
    words = take_apart(["-m", f"retriever.k1={typed}", "retriever=bm25"])

    assert axes["retriever.k1"] == ["1.2", "1.3", "1.4", "1.5", "1.6"]
    assert names == [f"bm25 · k1={k1}" for k1 in ("1.2", "1.3", "1.4", "1.5", "1.6")]
    assert grid(words, compose.axes(words.overrides)).cells[2].config.retriever.k1 == 1.4


def test_other_axes_still_make_cells():
    """What a retriever without a model does depend on is swept as ever."""
    _, names, notes = made("model=minilm,wordllama", "retriever=bm25,dense", "chunk=128,256")

    assert [name for name in names if "bm25" in name] == ["bm25 · 128", "bm25 · 256"]
    assert len(names) == 6
    assert notes == ["6 instead of 8: bm25 does not depend on model"]


def test_an_axis_that_matters_to_no_cell_is_none():
    """Five models for bm25 alone are one cell without an axis."""
    assert made("model=minilm,wordllama", "retriever=bm25") == (
        {},
        ["bm25 · 256"],
        ["1 instead of 2: bm25 does not depend on model"],
    )


def test_a_whole_document_has_no_size():
    """chunker=whole with several sizes is one cell."""
    axes, names, notes = made("chunker=whole,tokens", "chunk=64,128", "overlap=0,8")

    assert names == ["whole", *(f"tokens · {size} · overlap={n}" for size in (64, 128) for n in (0, 8))]
    assert axes["chunk"] == ["64", "128", UNUSED]
    assert notes == ["5 instead of 8: whole does not depend on chunk or overlap"]


def test_a_static_model_has_no_precision():
    """A model whose options do not mention the arithmetic runs once."""
    _, names, notes = made("model=wordllama,minilm", "precision=float32,bfloat16")

    assert names == ["wordllama", "minilm · precision=float32", "minilm · precision=bfloat16"]
    assert notes == ["3 instead of 4: wordllama does not depend on precision"]


def test_what_a_component_ignores_makes_no_cell():
    """A static model has no prompts and reads all of every text; a ranking by chance reads no headings."""
    _, names, notes = made("model=wordllama,minilm", "model.prompts=default,none")
    assert names == ["wordllama", "minilm · prompts=default", "minilm · prompts=none"]
    assert notes == ["3 instead of 4: wordllama does not depend on model.prompts"]

    _, names, _ = made("model=wordllama", "model.long_chunks=truncate,window")
    assert len(names) == 1

    _, names, notes = made("retriever=random,bm25", "context=none,title")
    assert names == ["random", "bm25 · context=none", "bm25 · context=title"]
    assert notes == ["3 instead of 4: random does not depend on context"]


def test_settings_of_one_option_leave_the_others_alone():
    """Weights are swept for the retriever that has them; dense and bm25 stand beside it, once each."""
    axes, names, notes = made("retriever=dense,bm25,hybrid", "retriever.weight=0.3,0.7")

    assert names == ["dense", "bm25", "hybrid · weight=0.3", "hybrid · weight=0.7"]
    assert axes["retriever.weight"] == ["0.3", "0.7", UNUSED]
    assert notes == ["4 instead of 6: dense and bm25 do not depend on retriever.weight"]


def test_a_setting_that_only_some_have_is_said():
    """The language reaches bm25 and hybrid; dense runs without it, and that is told."""
    _, names, notes = made("retriever=dense,bm25,hybrid", "retriever.language=german")

    assert names == ["dense", "bm25", "hybrid"]
    assert notes == ["dense has no retriever.language: run without it"]


def test_a_retriever_with_chunks_of_its_own_is_one_cell():
    """Neither chunker nor model reaches it."""
    _, names, notes = made(
        "retriever=dense,callable", "retriever.target=os:getcwd", "chunk=128,256", "model=minilm,wordllama"
    )

    assert [name for name in names if "callable" in name] == ["callable"]
    assert len(names) == 5
    assert notes[0] == "5 instead of 8: callable does not depend on chunk or model"


def test_nothing_is_said_where_all_is_run():
    """Ordinary sweeps have no notes."""
    assert made("model=minilm,wordllama", "chunk=128,256")[2] == []


@pytest.mark.parametrize(
    "words", [["retriever=dense,bm25", "retriever.weight=0.5"], ["retriever=dense", "retriever.weight=1,0"]]
)
def test_a_setting_that_none_has_is_refused(words):
    """Nobody sweeps over a setting that does nothing."""
    with pytest.raises(SettingError, match=r"unknown setting 'retriever.weight'"):
        made(*words)


@pytest.fixture
def other_index(tmp_path):
    """A folder with a second option of ``index``."""
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "blocks.yaml").write_text("_target_: harness.index.exact.ExactIndex\nblock_mb: 1\n")
    return f"--config-dir={tmp_path}"


@pytest.mark.parametrize(
    "typed", [("index=blocks",), ("index=exact,blocks",), ("index=blocks", "model=minilm,wordllama")]
)
def test_an_index_that_nothing_searches_is_refused(other_index, typed):
    """retriever=bm25 index=... is a mistake, said at once with the reason."""
    with pytest.raises(
        SettingError, match=r"retriever=bm25 uses no index, so index=blocks would change nothing"
    ):
        made(other_index, "retriever=bm25", *typed)


def test_an_index_matters_to_those_that_search_it(other_index):
    """In a sweep over both, bm25 is one cell and dense has one for each index; the default is never refused."""
    axes, names, _ = made(other_index, "retriever=bm25,dense", "index=exact,blocks")

    assert names == ["bm25", "dense · exact", "dense · blocks"]
    assert axes["index"] == ["exact", "blocks", UNUSED]
    assert made("retriever=bm25", "index=exact")[1] == ["bm25 · 256"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_ready_sweep_composes(name):
    """Each experiment has two cells or more, all different, and says in its first lines what it asks."""
    axes, names, _ = made(f"experiment={name}")
    lines = (conf_folder() / "experiment" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()

    assert len(names) > 1
    assert axes
    assert lines[0] == "# @package _global_"
    assert lines[1].startswith("# ")


def test_words_on_the_command_line_win_over_an_experiment():
    """A value that is typed takes the experiment's place, one or several; the order of the axes stays the file's."""
    words = take_apart(["-m", "experiment=chunking", "chunk=64,96", "model=wordllama"])
    typed = unfolded(words).overrides

    assert list(compose.axes(typed).items()) == [
        ("chunker", ["recursive", "sentence", "tokens", "markdown", "parent"]),
        ("chunk", ["64", "96"]),
    ]
    assert "model=wordllama" in typed
    assert list(
        compose.axes(unfolded(Words(("-m",), (), ("+experiment=chunking", "chunk=64"))).overrides)
    ) == ["chunker"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            "experiment=slow",
            "unknown option 'experiment=slow'.*chunking, full, hybrid, models, quick",
        ),
        ("experiment=quick,full", "experiment is the same for a whole sweep"),
    ],
)
def test_a_wrong_experiment_is_named(workplace, typed, said):
    """What there is to choose from, and that experiments are run one at a time."""
    done = workplace.sweep("-m", typed, "plan=true")

    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert re.search(said, done.stderr)


def test_values_that_do_not_go_together_are_skipped():
    """Where each of them is right elsewhere; what is wrong wherever it stands fails, and what all share is refused."""
    words = ["chunker=tokens", "model=wordllama", "tracker=none"]
    sweep = checked(take_apart(["-m", *words, "chunk=16,32,64", "overlap=0,16,32"]), Shared())
    assert sweep.names() == [
        *("16 · overlap=0", "32 · overlap=0", "32 · overlap=16"),
        *("64 · overlap=0", "64 · overlap=16", "64 · overlap=32"),
    ]
    assert len(sweep.notes) == 3
    assert all(
        note.startswith("1 skipped, as the values don't go together: overlap is ") for note in sweep.notes
    )

    sweep = checked(take_apart(["-m", *words, "retriever=bm25", "retriever.k1=1.2,-1"]), Shared())
    assert (len(sweep.cells), sweep.notes) == (2, [])

    with pytest.raises(SettingError, match="overlap is 16"):
        checked(take_apart(["-m", *words, "chunk=8,16", "overlap=16,32"]), Shared())


def test_the_sweep_runs_what_it_said(workplace):
    """Three cells of four combinations: files, numbers, exit code, colours and the order are those of the three."""
    done = workplace.sweep(
        "-m",
        "chunker=whole,tokens",
        "chunk=16,32",
        "retriever=bm25,hybrid",
        "retriever.weight=0.4",
        "index=exact",
        "tracker=none",
    )

    assert done.returncode == 0, done.stderr
    assert "cells      6 instead of 8: whole does not depend on chunk" in done.stdout
    assert "cells      bm25 has no retriever.weight: run without it" in done.stdout
    assert "[6/6] tokens · 32 · hybrid" in done.stdout
    assert "FAILED" not in done.stdout
    (file,) = workplace.root.glob("outputs/*/*/sweep.json")
    sweep = json.loads(file.read_text())
    names = [cell["name"] for cell in sweep["cells"]]
    assert names == [
        "whole · bm25",
        "whole · hybrid",
        *(f"tokens · {n} · {r}" for n in (16, 32) for r in ("bm25", "hybrid")),
    ]
    assert len({cell["color"] for cell in sweep["cells"]}) == 6
    assert sweep["notes"][0].startswith("6 instead of 8")
    folders = {f"{i}": name for i, name in enumerate(names)}
    assert {
        p.parent.name: json.loads(p.read_text())["name"] for p in file.parent.glob("*/result.json")
    } == folders
    of_bm25 = next(result for result in workplace.results() if result["name"] == "whole · bm25")
    assert (of_bm25["params"]["model"], of_bm25["params"]["chunk"], of_bm25["params"]["index"]) == (
        UNUSED,
        UNUSED,
        UNUSED,
    )
    assert (file.parent / "leaderboard.md").read_text().count("whole · bm25") >= 1


def test_an_experiment_runs_and_is_tracked(workplace):
    """The command is python -m harness -m experiment=quick, over documents of one's own; without -m it says what is missing."""
    done = workplace.sweep("-m", "experiment=quick", "chunk=64")
    alone = workplace.sweep("experiment=quick", "plan=true")

    assert done.returncode == 0, done.stderr
    assert sorted(result["name"] for result in workplace.results()) == ["bm25", "dense", "hybrid", "random"]
    assert {result["params"]["experiment"] for result in workplace.results()} == {"quick"}
    assert alone.returncode == 1
    assert "Add -m to compare them in a sweep." in alone.stderr


def test_one_cell_without_a_model_is_named_by_its_retriever(workplace):
    """A single run, without -m."""
    done = workplace.sweep("retriever=bm25", "tracker=none")

    assert done.returncode == 0, done.stderr
    assert [result["name"] for result in workplace.results()] == ["bm25 · 256"]


def test_a_picked_search_by_words_names_no_model(workplace):
    """The file to deploy holds what matters to the cell; the model that the sweep happened to name is not in it."""
    done = workplace.sweep("-m", "retriever=bm25", "chunk=16,32", "model=wordllama,minilm")
    picked = workplace.run("pick.measure=false", "pick.register=null", module="harness.pick")
    again = workplace.run("--config-dir=.", "--config-name=production", "tracker=none")

    assert [run.returncode for run in (done, picked, again)] == [0, 0, 0], picked.stderr + again.stderr
    written = (workplace.root / "production.yaml").read_text(encoding="utf-8")
    assert "override /retriever: bm25" in written
    assert "/model" not in written
    assert "/index" not in written
    assert [result["params"]["model"] for result in workplace.results()] == [UNUSED] * 3


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("harness retriever=hy", {"retriever=hybrid"}),
        ("harness retriever=hybrid retriever.", {"retriever.k0=", "retriever.fusion="}),
    ],
)
def test_hydras_completion_answers(workplace, line, expected):
    """The ``harness`` command completes with Hydra's own script: ``eval "$(harness -sc install=bash)"``."""
    done = workplace.run("-sc", "query=bash", COMP_LINE=line, COMP_POINT=str(len(line)))

    assert expected <= set(done.stdout.split()), done.stdout + done.stderr
