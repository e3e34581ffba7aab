"""``python -m harness``: thin, because some launchers send this module to other processes by value."""

import sys


def main() -> int:
    """The sweep, or the answer to a shell that asks what may come next; either loads nothing of the other."""
    if {"-sc", "--shell-completion"} & set(sys.argv):
        from harness import completion

        return completion.main()
    from harness import sweep

    return sweep.main()


if __name__ == "__main__":
    sys.exit(main())
