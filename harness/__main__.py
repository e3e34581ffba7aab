"""``python -m harness``: thin, because some launchers send this module to other processes by value."""

import sys

from harness.sweep import main

if __name__ == "__main__":
    sys.exit(main())
