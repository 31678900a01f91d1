"""The ``parloop`` command: ``python -m parloop devices``."""

import sys

from . import _parloop


def main() -> int:
    return _parloop.run_command(["parloop", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
