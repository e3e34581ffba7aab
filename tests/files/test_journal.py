"""The file that only grows: nothing that was acknowledged is ever lost, nothing torn ever stays."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.errors import InputError, StoreError
from harness.files.journal import Journal


def child(code: str, *words: str) -> subprocess.Popen[str]:
    """A process that has Journal and the words of its command line."""
    head = "import sys\nfrom pathlib import Path\nfrom harness.files.journal import Journal\njournal = Journal(Path(sys.argv[1]))\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def test_what_is_appended_comes_back(tmp_path):
    """Any text survives, one object a line: U+2028 and half characters included, in folders made on the way."""
    journal = Journal(tmp_path / "new/folder/set.jsonl")
    items = [{"a": "ä\u2028\n"}, {"b": ["\ud800", None]}, {}]

    with journal.locked():
        journal.append(items[0])
        journal.extend(items[1:])

    assert journal.items()[0] == items[0]
    assert len(journal.path.read_bytes().split(b"\n")) == 4
    assert len(journal.items()) == 3


def test_no_file_is_no_lines(tmp_path):
    """A set that does not exist yet is empty."""
    assert Journal(tmp_path / "none.jsonl").items() == []


def test_a_torn_last_line_is_cut_off_and_kept_beside(tmp_path):
    """After a kill in the middle of a line the file ends with the last whole one; the pieces are not thrown away."""
    journal = Journal(tmp_path / "set.jsonl")
    journal.path.write_text('{"a": 1}\n{"b": "hal')

    assert journal.items() == [{"a": 1}]
    with journal.locked():
        journal.append({"c": 3})

    assert journal.items() == [{"a": 1}, {"c": 3}]
    assert (tmp_path / "set.jsonl.torn").read_text() == '{"b": "hal\n'


def test_a_last_line_without_its_line_break_stays(tmp_path):
    """An editor that leaves out the last line break costs no question."""
    journal = Journal(tmp_path / "set.jsonl")
    journal.path.write_text('{"a": 1}\n{"b": 2}')

    with journal.locked():
        journal.append({"c": 3})

    assert journal.items() == [{"a": 1}, {"b": 2}, {"c": 3}]
    assert not (tmp_path / "set.jsonl.torn").exists()


@pytest.mark.parametrize("line", ["{", "[1]", "nonsense", "7"])
def test_a_damaged_line_in_the_middle_is_named(tmp_path, line):
    """What is no object and no torn end is the user's to mend; nothing is guessed."""
    journal = Journal(tmp_path / "set.jsonl")
    journal.path.write_text(f'{{"a": 1}}\n{line}\n{{"b": 2}}\n')

    with pytest.raises(InputError, match=r"set\.jsonl:2: .*no JSON object") as caught:
        journal.items()

    assert caught.value.line == 2


def test_a_full_disk_loses_nothing(tmp_path):
    """When the disk takes no more, a sentence says so, the lines before stay whole, and later lines follow them."""
    code = (
        "import resource\nfrom harness.errors import StoreError\nresource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))\n"
        "with journal.locked():\n    try:\n        [journal.append({'line': i}) for i in range(100)]\n"
        "    except StoreError as error:\n        print(error)\n"
    )
    said, errors = child(code, str(tmp_path / "set.jsonl")).communicate()
    journal = Journal(tmp_path / "set.jsonl")

    assert "set.jsonl can't be written: File too large. Free space" in said, errors
    # {"line": 0} and its line break are 12 bytes, from 10 on 13: ten of the one and six of the other fit into 200.
    assert journal.items() == [{"line": i} for i in range(16)]
    assert journal.path.read_bytes().endswith(b"}\n")
    with journal.locked():
        journal.append({"line": 16})
    assert len(journal.items()) == 17


def test_a_rewriting_that_fails_leaves_everything_as_it_was(tmp_path):
    """Other lines take the place of all in one step, or not at all."""
    journal = Journal(tmp_path / "set.jsonl")
    with journal.locked():
        journal.append({"a": 1})

    def broken():
        yield {"b": 2}
        raise OSError(28, "No space left on device")

    with pytest.raises(StoreError, match="No space left"):
        journal.rewrite(broken())

    assert journal.items() == [{"a": 1}]
    assert [p.name for p in tmp_path.iterdir() if not p.name.endswith(".lock")] == ["set.jsonl"]
    journal.rewrite([{"b": 2}])
    assert journal.items() == [{"b": 2}]


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    """Neither a file in the place of a folder nor a file system that takes no files ends in a traceback."""
    (tmp_path / "file").write_text("")

    for folder in (tmp_path / "file", Path("/proc/self")):
        with pytest.raises(StoreError, match="can't be written"), Journal(folder / "set.jsonl").locked():
            pass


def test_a_second_process_is_told_and_gets_its_turn_after_a_kill(tmp_path):
    """Two writers never mix; the lock of a process that was killed is free."""
    path = tmp_path / "set.jsonl"
    holder = child("with journal.locked():\n    print('held', flush=True)\n    sys.stdin.read()\n", str(path))
    assert holder.stdout.readline() == "held\n"

    with pytest.raises(StoreError, match="being written by another process"), Journal(path, 0.05).locked():
        pass
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    with Journal(path, 0.05).locked():
        Journal(path).append({"mine": 1})

    assert Journal(path).items() == [{"mine": 1}]


def test_a_second_process_waits_for_the_first(tmp_path):
    """A writer that ends soon costs the other one nothing but the time."""
    path = tmp_path / "set.jsonl"
    holder = child(
        "with journal.locked():\n    print('held', flush=True)\n    sys.stdin.readline()\n    journal.append({'first': 1})\n",
        str(path),
    )
    assert holder.stdout.readline() == "held\n"
    waiter = child(
        "print('waits', flush=True)\nwith journal.locked():\n    journal.append({'second': 2})\n", str(path)
    )
    assert waiter.stdout.readline() == "waits\n"
    holder.communicate("go\n")
    waiter.communicate()

    assert Journal(path).items() == [{"first": 1}, {"second": 2}]


def test_random_kills_lose_no_acknowledged_line(tmp_path):
    """After each of many SIGKILLs the file holds whole lines only, and every line whose writing was acknowledged."""
    chance = random.Random(7)
    journal, acknowledged = Journal(tmp_path / "set.jsonl"), 0
    for _ in range(25):
        reading, writing = os.pipe()
        process = os.fork()
        if not process:  # the child: nothing of pytest may run in it
            with journal.locked():
                number = len(journal.items())
                while True:
                    journal.append({"line": number, "text": "x" * chance.randrange(5000)})
                    os.write(writing, number.to_bytes(4))
                    number += 1
        os.close(writing)
        first = os.read(reading, 4)
        time.sleep(chance.random() * 0.01)  # the moment of the kill, not a wait for anything
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        with os.fdopen(reading, "rb") as pipe:
            rest = pipe.read()
        acknowledged = int.from_bytes((first + rest)[-4:]) + 1
        with journal.locked():
            lines = journal.path.read_bytes().split(b"\n")

        assert lines[-1] == b""
        assert [json.loads(line)["line"] for line in lines[:-1]] == list(range(len(lines) - 1))
        assert len(lines) - 1 >= acknowledged
