"""``python -m harness``: thin, because some launchers send this module to other processes by value."""

import sys


def main() -> int:
    """Runs the sweep that the command line describes; gives the exit code."""
    from harness.sweep import main as sweep

    return sweep.main()


if __name__ == "__main__":
    sys.exit(main())
