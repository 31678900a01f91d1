"""Firedrake on Parloop: unchanged programs, whose loops Parloop runs.

``python -m parloop.firedrake script.py`` runs a program of Firedrake's so. In a program of one's own:

    import parloop.firedrake
    parloop.firedrake.use("cpu")

From then on PyOP2 hands its loops to Parloop, which shares sets, maps and data with it. What Parloop cannot take, PyOP2 runs as ever.
"""

from __future__ import annotations

import atexit
import importlib
import os

from .. import Context, compat
from ..captured import Writer
from ._hook import Hook
from ._report import Report as Report

__all__ = ["Report", "capture", "report", "stop", "use"]

_hook: Hook | None = None


def use(device: str | Context = "cpu") -> None:
    """Hands the loops of PyOP2 to Parloop, to run on a device.

    Parameters
    ----------
    device : str or Context
        Where loops run: ``"cpu"``, ``"cpu:4"`` for four threads, ``"cuda:0"``.
    """
    global _hook
    context = device if isinstance(device, Context) else Context(device)
    if replaced := {"pyop2", "loopy"} & set(compat.installed()):
        raise RuntimeError(f"{', '.join(sorted(replaced))} in this process is Parloop's own; run the program without `parloop.compat`")
    try:
        importlib.import_module("firedrake")
    except ImportError as error:
        raise ImportError(f"Firedrake is not installed or cannot be imported: {error}") from error
    stop()
    _hook = Hook(context)
    _hook.install()


def capture(path: str | os.PathLike[str]) -> Writer:
    """Writes the loops that Parloop runs from now on into a file, each once, with its numbers before and after.

    ``parloop rerun`` runs them again on any machine. The file is complete when what is returned is closed, at `stop`, or at the end of the
    program; ``with capture("assembly.plz"): ...`` closes it at the end of the block. Of several processes each needs a file of its own.
    """
    if _hook is None:
        raise RuntimeError("call parloop.firedrake.use first: loops are captured as Parloop runs them")
    if _hook.writer is not None:
        _hook.writer.close()
    _hook.writer = writer = Writer(path)
    atexit.register(writer.close)
    return writer


def stop() -> None:
    """Gives the loops back to PyOP2, and closes a capture."""
    global _hook
    if _hook is not None:
        if _hook.writer is not None:
            _hook.writer.close()
        _hook.remove()
        _hook = None


def report() -> Report:
    """Which loops Parloop ran since `use`, and which it left to PyOP2. Print it, or look at its fields."""
    return _hook.report if _hook is not None else Report()
