"""The border where PyOP2 runs a loop over a part of a set: Parloop runs it there, or leaves it to PyOP2."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import re
import time
import warnings
from typing import Any

from .._parloop import Context, MeshError, ParloopError
from ..captured import Writer
from ._left import LeftToPyOP2
from ._loops import LoopArguments, Prepared, matrix_of, prepare
from ._report import Report
from ._weak import ByIdentity

#: Names and numbers in messages, which would make a reason of its own of each loop.
_PARTICULAR = re.compile(r"`[^`]*`|\b\d+\b")


@dataclasses.dataclass(frozen=True)
class _Ready:
    """What is known about a part of a loop with its arguments: a loop of ours, or why there is none; None for a part without elements."""

    arguments: LoopArguments
    found: Prepared | str | None

    def is_valid(self, loop: Any) -> bool:
        return self.arguments.is_same(loop) and (not isinstance(self.found, Prepared) or self.found.is_valid())


class Hook:
    """Runs the loops of PyOP2 on a context."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.report = Report()
        #: By part: whether it is the core, its first element and how many it has.
        self._ready: ByIdentity[dict[tuple[bool, int, int], _Ready]] = ByIdentity()
        #: By matrix: loops that assemble into it. Firedrake makes a new loop for each assembly of a matrix that is not a solver's.
        self._of_matrices: ByIdentity[dict[tuple[int, bool, int, int], _Ready]] = ByIdentity()
        #: Kernels that could not be compiled.
        self._refused: ByIdentity[str] = ByIdentity()
        self._original: Any = None
        #: Where loops are written down as they run.
        self.writer: Writer | None = None

    def install(self) -> None:
        """Takes the place of the method that runs a part."""
        loops = importlib.import_module("pyop2.parloop").Parloop
        self._original = original = loops._compute
        hook = self

        @functools.wraps(original)
        def compute(loop: Any, part: Any) -> None:
            hook.compute(loop, part)

        loops._compute = compute

    def remove(self) -> None:
        """Gives the method back to PyOP2."""
        importlib.import_module("pyop2.parloop").Parloop._compute = self._original

    def compute(self, loop: Any, part: Any) -> None:
        """Runs a loop over a part of its set."""
        name, begin = str(loop.local_kernel.name), time.perf_counter()
        found = self._found(loop, part)
        if isinstance(found, str):
            self._original(loop, part)
            if part.size:
                self.report.left(name, found, time.perf_counter() - begin)
        elif found is not None:
            with loop._compute_event():
                importlib.import_module("petsc4py.PETSc").Log.logFlops(part.size * loop.num_flops)
                found(self.writer.around if self.writer is not None else None)
            self.report.ran(name, time.perf_counter() - begin)

    def _found(self, loop: Any, part: Any) -> Prepared | str | None:
        parts = self._ready.setdefault(loop, dict)
        # Parts without elements begin where others do, and all processes must know the same parts.
        key = part is loop.iterset.core_part, int(part.offset), int(part.size)
        ready = parts.get(key)
        if ready is None or not ready.is_valid(loop):
            ready = parts[key] = self._known(loop, part, key)
        return ready.found

    def _known(self, loop: Any, part: Any, key: tuple[bool, int, int]) -> _Ready:
        """What is known of another loop with the same arguments, or is made."""
        mat = next((mat for mat in map(matrix_of, loop.arguments) if mat is not None), None)
        if mat is None or loop.comm.size > 1:
            return _Ready(LoopArguments(loop), self._agreed(loop, self._made(loop, part)))
        loops, number = self._of_matrices.setdefault(mat, dict), (id(loop.global_kernel), *key)
        if (known := loops.get(number)) is not None and known.is_valid(loop):
            return known
        made = self._made(loop, part)
        if not isinstance(made, Prepared) or not made.is_in_place():
            return _Ready(LoopArguments(loop), made)
        loops[number] = _Ready(LoopArguments(loop, lambda: loops.pop(number, None)), made)
        return loops[number]

    @staticmethod
    def _agreed(loop: Any, made: Prepared | str | None) -> Prepared | str | None:
        """What all processes do: PyOP2 compiles on all of them together, so that it gets a loop from all or from none."""
        if loop.comm.size == 1:
            return made
        reasons = loop.comm.allgather(made if isinstance(made, str) else None)
        return next((reason for reason in reasons if reason is not None), made)

    def _made(self, loop: Any, part: Any) -> Prepared | str | None:
        kernel = loop.local_kernel
        if not part.size:
            return None
        if (refused := self._refused.get(kernel)) is not None:
            return refused
        try:
            made = prepare(loop, part, self.context)
            # Compiles it, so that nothing has run where that fails.
            made.run.code(self.context)
            return made
        except LeftToPyOP2 as left:
            return str(left)
        except MeshError as error:
            return f"{type(error).__name__}: {_PARTICULAR.sub('…', str(error)).splitlines()[0]}"
        except ParloopError as error:
            warnings.warn(f"Parloop could not compile kernel `{kernel.name}`, so PyOP2 runs it: {error}", stacklevel=5)
            return self._refused.set(kernel, f"{type(error).__name__} when it was compiled")
