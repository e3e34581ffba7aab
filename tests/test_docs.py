"""What the documentation says is true: its commands run, its output is what comes out, its tables are complete."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from claude_stand_in import KEY, ClaudeStandIn
from omegaconf import OmegaConf
from workplace import Workplace, write_corpus, write_golden

TOP = Path(__file__).parents[1]
README = (TOP / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*TOP.glob("*.md"), *TOP.glob("docs/*.md")])
# conf/command/ holds defaults of commands, no options.
OPTIONS = sorted(set((TOP / "conf").glob("*/*.yaml")) - set((TOP / "conf").glob("command/*")))
BLOCKS = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^\$ (python -m harness .*)$", README, re.MULTILINE)
COMMANDS += [line for block in BLOCKS for line in block.splitlines() if line.startswith("python -m harness")]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One folder for all commands, so that what one embeds is there for the next."""
    root = tmp_path_factory.mktemp("readme")
    write_corpus(root / "DIR")
    write_golden(root / "FILE")
    return Workplace(root, root / "DIR", root / "FILE")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_runs(place, command):
    """Every command of the README ends well; the output that the README shows is what comes out."""
    module, *words = shlex.split(command, comments=True)[2:]
    with ClaudeStandIn() as api:
        # The README shows a terminal of 80 columns.
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.address, "COLUMNS": "80"}
        done = place.run(*words, module=module, **env)

    # 3: what was picked just now is what runs, so that there is nothing to change.
    assert done.returncode == 3 * ("baseline=" in command), done.stdout + done.stderr
    shown = re.search(rf"^\$ {re.escape(command)}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    if shown:
        assert_same_table(shown[1], done.stdout)


def assert_same_table(shown, printed):
    """The same cells with the same numbers; processors differ by a few thousandths."""
    expected, actual = table(shown), table(printed)

    assert expected
    assert expected.keys() == actual.keys()
    for cell, numbers in expected.items():
        assert actual[cell] == pytest.approx(numbers, rel=0.02, abs=0.006), cell


def table(text):
    """Cell to its numbers: the lines between the rule and the next empty line."""
    rows = re.search(r"^-{20,}\n(.*?)\n\n", text + "\n\n", re.DOTALL | re.MULTILINE)
    found = {}
    for line in rows[1].splitlines():
        name, numbers = re.split(r" {2,}", line.strip(), maxsplit=1)
        found[name] = [float(number) for number in re.findall(r"\d*\.?\d+", numbers)]
    return found


def test_the_readme_begins_with_what_it_is():
    """Name, one sentence, the command and its real output stand within the first 30 lines."""
    head = "\n".join(README.splitlines()[:30])

    assert head.startswith("# ")
    assert "python -m harness -m model=" in head
    assert re.search(r"^-{20,}$", head, re.MULTILINE)
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("option", OPTIONS, ids=lambda p: f"{p.parent.name}={p.stem}")
def test_every_option_is_in_the_readme(option):
    """The table of options names every file of conf/."""
    row = next(line for line in README.splitlines() if line.startswith(f"| `{option.parent.name}` |"))

    assert f"`{option.stem}`" in row


def test_every_setting_is_in_the_readme():
    """The table of settings names every plain setting of conf/config.yaml."""
    settings = {str(key) for key in OmegaConf.load(TOP / "conf/config.yaml")} - {"defaults", "hydra"}
    rows = [line.split("|")[1] for line in README.splitlines() if line.startswith("| `")]

    assert settings <= set(re.findall(r"`(\w+)`", " ".join(rows)))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    """No link within the repository is broken."""
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
