"""The ``parloop`` command: ``python -m parloop devices``."""

import sys

from . import _parloop


def _drop_ins() -> str:
    """The line of `parloop doctor` about the names that programs of peers import."""
    from . import compat

    names, replaced = ", ".join(sorted(compat.provided())), ", ".join(sorted(compat.installed()))
    return f"✓ {'drop-ins':<16} {names} with `python -m parloop.compat`; replaced in this process: {replaced or 'none'}"


def main() -> int:
    if sys.argv[1:2] == ["rerun"]:
        from .captured._rerun import command

        return command(sys.argv[2:])
    if sys.argv[1:] == ["doctor"]:
        print(_drop_ins(), flush=True)
    return _parloop.run_command(["parloop", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
