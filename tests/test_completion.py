"""TAB completes every word that the program takes, and no other, in the shell that the line of the README was given to."""

from __future__ import annotations

import functools
import os
import pty
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from omegaconf import OmegaConf

import harness
from harness import command, completion
from harness.paths import conf_folder

TOP = Path(__file__).parents[1]
INSTALL = f"{shlex.quote(sys.executable)} -m harness -sc install=bash"
GROUPS = sorted({path.parent.name for path in conf_folder().glob("*/*.yaml")} - {"command", "prompt"})

# What bash gives to a completion function, and what it takes back.
ASK = r"""
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=($1) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
[[ $(complete -p "${COMP_WORDS[0]##*/}") =~ " -F "([^ ]+) ]]
${BASH_REMATCH[1]} "${COMP_WORDS[0]}" "$2" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]-}"
"""


def options(group):
    return {path.stem for path in (conf_folder() / group).glob("*.yaml")}


@functools.cache
def script(install):
    """What the line that installs the completion evaluates."""
    return subprocess.run(["bash", "-c", install], cwd=TOP, capture_output=True, text=True, check=True).stdout


def tab(line, cwd=TOP, install=INSTALL, first=""):
    """The words that bash would put in place of the last one of ``line``."""
    replaced = re.split(r"[\s=:]", line)[-1]  # readline's word begins behind a blank, = or :
    done = subprocess.run(
        [
            "bash",
            "--norc",
            "--noprofile",
            "-uc",
            f"{first}\n{script(install)}\n{ASK}",
            "bash",
            line,
            replaced,
        ],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    typed = line.split(" ")[-1].removesuffix(replaced)
    return {f"{typed}{choice}" for choice in done.stdout.splitlines() if choice}


@pytest.mark.parametrize(
    "program",
    [
        "python -m harness",
        "python3 -m harness -m",
        "/some/where/bin/python -X dev -m harness chunk=256,512",
        "harness",
        "bash scripts/sweep -m",
        "../scripts/sweep",
        "python -m harness.pick",
        "python -m harness.golden.generate",
    ],
)
def test_a_group_completes_to_its_options(program):
    """However the program is started, and whatever stands on the line before."""
    assert tab(f"{program} model=") == {f"model={option}" for option in options("model")}
    assert tab(f"{program} retriever=bm25 index=h") == {"index=hnsw"}


def test_behind_a_comma_stands_what_was_not_chosen_yet():
    """Options of a sweep go on, each once."""
    left = options("model") - {"minilm", "bge"}

    assert tab("python -m harness -m model=minilm,bge,") == {f"model=minilm,bge,{option}" for option in left}
    assert tab("harness -m chunk=128 model=minilm,word") == {"model=minilm,wordllama"}
    assert tab("harness -m context=title,") == {"context=title,none", "context=title,heading_path"}


def test_no_comma_where_one_value_is_allowed():
    """The whole sweep has one of some settings, and commands other than the sweep compare nothing."""
    assert tab("harness -m experiment=quick,") == set()
    assert tab("harness -m plan=true,") == set()
    assert tab("python -m harness.pick model=minilm,") == set()


def test_settings_are_named():
    """Groups, their settings, and plain settings; what is given already is not offered again."""
    found = tab("python -m harness chunk=512 ")

    plain = {str(key) for key in OmegaConf.load(conf_folder() / "config.yaml")} - {"defaults", "hydra"}
    assert found >= {f"{key}=" for key in {*plain, *GROUPS} - {"chunk"}}
    assert "chunk=" not in found
    assert not any(re.match("hydra|command|prompt", word) for word in found)
    assert tab("python -m harness retriever=hybrid retriever.f") == {"retriever.fusion="}
    assert tab("python -m harness -m retriever=dense,bm25,hybrid retriever.f") == {"retriever.fusion="}


def test_values_of_plain_settings():
    """The allowed values where they are few, both of a switch, else the value that would hold."""
    assert tab("harness context=") == {"context=none", "context=title", "context=heading_path"}
    assert tab("harness model.long_chunks=w") == {"model.long_chunks=window"}
    assert tab("harness -m precision=float32,b") == {"precision=float32,bfloat16"}
    assert tab("harness -m index=sqlite_vec index.element=float32,") == {
        "index.element=float32,int8",
        "index.element=float32,bit",
    }
    assert tab("harness retriever=hybrid retriever.fusion=") == {
        "retriever.fusion=rrf",
        "retriever.fusion=weighted",
    }
    assert tab("harness plan=") == {"plan=true", "plan=false"}
    assert tab("harness chunk=") == {"chunk=256"}
    assert tab("harness retriever=hybrid retriever.k0=") == {"retriever.k0=60"}
    assert tab("harness k=") == set()


def test_a_ready_sweep():
    """With and without Hydra's sign for what has no default."""
    assert tab("harness -m experiment=q") == {"experiment=quick"}
    assert tab("harness -m +exp") == {"+experiment="}
    assert tab("harness -m +experiment=q") == {"+experiment=quick"}


def test_commands_have_their_own_settings():
    """And are offered themselves behind ``python -m``."""
    assert tab("python -m harness.pick max.c") == {"max.context_tokens="}
    assert tab("python -m harness.golden.generate generator.bat") == {"generator.batch="}
    assert tab("python -m harness.golden.generate prompt=") == {"prompt=question"}
    assert tab("harness prompt=") == set()
    assert {"harness", "harness.pick", "harness.golden.check"} <= tab("python -m harness")


def test_flags():
    """A command that is no sweep takes no ``--multirun``."""
    assert tab("python -m harness --mu") == {"--multirun"}
    assert tab("python -m harness.pick --mu") == set()


def test_the_users_own_options(tmp_path):
    """A folder of one's own counts, as a relative path, with a blank in its name, from a folder with one."""
    here = tmp_path / "my work"
    (here / "my own" / "retriever").mkdir(parents=True)
    (here / "my own" / "retriever" / "mine.yaml").write_text("defaults: [http]\nurl: http://127.0.0.1:1\n")

    line = "python -m harness -m --config-dir 'my own' retriever="
    assert tab(f"{line}m", here) == {"retriever=mine"}
    assert tab(f"{line}mine,de", here) == {"retriever=mine,dense"}
    assert tab(f"{line}mine retriever.u", here) == {"retriever.url="}
    assert tab(f"{line.replace('dir ', 'dir=')}m", here) == {"retriever=mine"}


def test_files_are_completed_by_the_shell(tmp_path):
    """Where a path belongs, bash itself goes on; a command that takes a file has it among its settings."""
    (tmp_path / "production.yaml").touch()

    assert tab("python -m harness corpus.path=", tmp_path) == set()
    assert completion.suggestions("python -m harness corpus.path=") is None
    assert "production.yaml" in tab("python -m harness.gate pro", tmp_path)
    assert tab("python -m harness pro", tmp_path) == {"profile="}


@pytest.mark.parametrize(
    "line",
    [
        "python sweep.py model=",
        "python -m harness.nothing model=",
        "python -m harness model='mini",
        "python -m harness 'model=mini",
        "python -m harness --config-dir ",
        "python -m harness --config-dir /nowhere/at/all --config-name nothing model.",
        "python -m harness model.nothing.x=",
        "python -m harness ==",
        "python -m harness k=[1,",
        "python -m harness model=,,",
        "python -m harness ~",
        "python -m harness é\u0301=☃",
    ],
)
def test_a_line_that_makes_no_sense_is_left_alone(line):
    """No choice, no word into the prompt."""
    assert tab(line) == set()


def test_mistakes_elsewhere_on_the_line_take_nothing_away():
    """A wrong option or setting is the program's to refuse."""
    assert tab("harness model=nothing chunks=3 index=h") == {"index=hnsw"}


def test_what_is_offered_is_accepted():
    """Every group, and every setting down to the last dot, composes."""
    words = command.take_apart([])
    chosen = [(completion.suggestions(f"harness {group}=") or [])[-1] for group in GROUPS]
    composed = command.composed(words, chosen)
    assert [f"{group}={composed.choices[group]}" for group in GROUPS] == chosen

    found = completion.suggestions("harness retriever=hybrid ") or []
    while inner := [word for word in found if word.endswith(".")]:
        found = [word for word in found if word not in inner]
        found += [
            w for word in inner for w in completion.suggestions(f"harness retriever=hybrid {word}") or []
        ]
    settings = [word for word in found if word.removesuffix("=") not in GROUPS]
    assert len(settings) > 50
    command.composed(words, ["retriever=hybrid", *(f"{word}null" for word in settings)])


def test_what_completed_python_before_still_does():
    """Other lines are answered by the function that was there, also when the line stands twice in a profile."""
    first = f'_other() {{ COMPREPLY=("other:$2"); }}\ncomplete -F _other python\n{script(INSTALL)}'

    assert tab("python tool.py x", first=first) == {"other:x"}
    assert tab("python -m harness index=h", first=first) == {"index=hnsw"}


def test_an_interpreter_in_a_folder_with_a_blank(tmp_path):
    """The script names the interpreter that made it, whatever its path."""
    place = tmp_path / "it's my place"
    venv.create(place, symlinks=True)
    library = next(place.glob("lib/python*/site-packages"))
    (library / "these.pth").write_text(
        "\n".join([*(p for p in sys.path if p.endswith("-packages")), str(TOP)])
    )

    assert tab("python -m harness index=h", install=f'"{place}/bin/python" -m harness -sc install=bash') == {
        "index=hnsw"
    }


def test_a_real_tab():
    """Keys into an interactive bash: what stands before the last = or comma stays, and no blank is put behind."""
    keys = (
        f'eval "$({INSTALL})"; python() {{ printf "<%s>" "$@"; }}\n'
        "python -m harness -m model=minilm,wordl\t,mpn\t index=hn\t chun\t\n"
        "exit\n"
    )
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=TOP,
        env={**os.environ, "TERM": "dumb", "INPUTRC": "/dev/null"},
        start_new_session=True,
    )
    os.close(theirs)
    os.write(ours, keys.encode())
    shown = b""
    try:
        while read := os.read(ours, 1 << 16):
            shown += read
    except OSError:  # how Linux says that nobody holds the other end any more
        pass
    finally:
        os.close(ours)

    assert shell.wait() == 0
    assert b"<model=minilm,wordllama,mpnet><index=hnsw><chunk>" in shown


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_line(shell):
    """The script asks the interpreter that printed it, without a module to be found first."""
    done = subprocess.run(
        [sys.executable, "-m", "harness", "-sc", f"install={shell}"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0
    assert f"{shlex.quote(sys.executable)} -m harness -sc query={shell}" in done.stdout


@pytest.mark.parametrize("words", [["-sc"], ["-sc", "install=tcsh"], ["-sc", "uninstall=bash"]])
def test_a_shell_that_is_not_known(words):
    """One line, exit code 1."""
    done = subprocess.run(
        [sys.executable, "-m", "harness", *words], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stderr == "error: -sc takes install=SHELL, with bash, zsh, fish for SHELL.\n"


def test_an_answer_loads_nothing_heavy():
    """Somebody waits with a finger on TAB."""
    code = (
        "import sys; sys.argv = ['harness', '-sc', 'query=bash']; import harness.__main__ as m; m.main();"
        "print(sorted({'numpy', 'torch', 'mlflow', 'rich', 'harness.sweep', 'harness.view.terminal'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "COMP_LINE": "python -m harness model=min"},
        cwd=Path(harness.__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "model=minilm[]\n"


def test_the_line_of_the_readme():
    """What the README says is what a user types."""
    line = re.search(
        r'`eval "\$\((python -m harness -sc .*?)\)"`', (TOP / "README.md").read_text(encoding="utf-8")
    )

    assert line
    assert tab("harness index=h", install=line[1].replace("python", shlex.quote(sys.executable), 1)) == {
        "index=hnsw"
    }
