"""Runs the command again and again, each time in a process of its own, which its caller may kill.

A process is a fork of this one, which has imported everything: a second of start-up per kill would hide the interesting moments.
"""

from __future__ import annotations

import json
import os
import sys

# Imported before the first fork, so that a killed process is young.
import anthropic.resources.messages  # noqa: F401

from harness.golden import generate


def main() -> None:
    """For each line read, a JSON list of words, one process: a line with its id, then one with its exit code (-9 when killed)."""
    for line in sys.stdin:
        process = os.fork()
        if not process:
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - for the life of the process
            os._exit(generate.main(json.loads(line)))
        sys.stdout.write(f"{process}\n")
        sys.stdout.flush()
        _, status = os.waitpid(process, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
