"""Systems of equations with matrices on meshes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from .._parloop import DataTypeError, DataValueError, _Dat, _Global, _Mat, _overlaps, _solve, _Solution
from .._progress import DELAY
from .._progress import progress as show_progress
from ._mixed_dat import MixedDat
from ._mixed_mat import MixedMat, on_set, vectors


def solve(
    mat: _Mat | MixedMat, x: _Dat | MixedDat, b: _Dat | MixedDat, method: Literal["cg", "gmres"] = "cg", preconditioner: Literal["jacobi", "none"] | None = "jacobi", *,
    rtol: float | None = None, atol: float = 0.0, maxiter: int = 10_000, restart: int = 30, progress: bool | None = None,
) -> _Solution:  # fmt: skip
    """Solve ``mat @ x = b`` on the current context.

    Parameters
    ----------
    mat, x, b
        The matrix, where to begin and to put the solution, and the right-hand side. A MixedMat takes data of as many parts.
    method
        ``"cg"`` for symmetric positive definite matrices, ``"gmres"`` for any.
    preconditioner
        ``"jacobi"``, one by the diagonal, or ``None``.
    rtol, atol
        The system is solved where the norm of ``b - mat @ x`` is at most `atol`, or at most `rtol` times the norm of `b`. By default `rtol`
        is 1e-8, and 1e-4 in single precision.
    maxiter
        At most this many iterations. The solver also stops where nothing is gained any more.
    restart
        Directions that GMRES keeps before it begins again.
    progress
        Whether `parloop.progress` shows the iteration and the residual on standard error. By default it does where that is a terminal and solving takes
        longer than a second.

    Returns
    -------
    Solution
        ``converged``, ``iterations`` and ``residuals``, the norm before the first iteration and after each. The first and the last are
        those of ``b - mat @ x``; the method estimates the others.

    Raises
    ------
    DataValueError
        What is given does not fit together. Conjugate gradients met a direction in which the matrix is not positive, or did not converge and saw
        that it is not symmetric: use ``"gmres"``. `x` has the numbers of the last iteration then.

    Notes
    -----
    On sets with ghosts the owned rows are solved, and the numbers of `x` on ghosts stay as they are. Where `b` is zero the solver begins at
    zero.

    Examples
    --------
    >>> import numpy as np, parloop.mesh as op2
    >>> springs, nodes = op2.Set(2, "springs"), op2.Set(3, "nodes")
    >>> ends = op2.Map(springs, nodes, 2, [[0, 1], [1, 2]], "ends")
    >>> mat = op2.Mat(op2.Sparsity(nodes ** 1, ends))
    >>> spring = op2.Kernel("void spring(double k[2][2]) { k[0][0] += 2; k[0][1] -= 1; k[1][0] -= 1; k[1][1] += 2; }", "spring")
    >>> op2.par_loop(spring, springs, mat(op2.INC, (ends, ends)))
    >>> x, b = op2.Dat(nodes), op2.Dat(nodes, [1.0, 2.0, 1.0])
    >>> op2.solve(mat, x, b).converged
    True
    >>> bool(np.allclose(mat.values @ x.data_ro, b.data_ro))
    True
    """
    if not isinstance(mat, (_Mat, MixedMat)):
        raise DataTypeError(f"solve takes a Mat or a MixedMat, not {type(mat).__name__}")
    blocks: Sequence[Sequence[_Mat]] = [[mat]] if isinstance(mat, _Mat) else mat.blocks
    # What a plain matrix cannot take is told where it is solved with.
    sides = ((x, len(blocks[0])), (b, len(blocks)))
    xs, bs = (cast("list[_Dat]", [given]) if isinstance(mat, _Mat) else vectors(given, parts) for given, parts in sides)
    for number, part in enumerate(xs):
        # Those of a Global are copied, and would not be recognized below.
        if isinstance(part, _Global) and any(_overlaps(part, other) for other in (*bs, *xs[:number], *xs[number + 1 :])):
            raise DataValueError(f"a system with matrix `{mat.name}` cannot be solved: `{part.name}` shares memory with other data; copy it")
    # The numbers of a Global are those of a set of one element, and go back afterwards.
    parts = [on_set(part) for part in xs]
    steps = show_progress(desc=f"{method}: iteration", show=progress, delay=0.0 if progress else DELAY)

    def watch(iteration: int, residual: float) -> None:
        steps.update(iteration - steps.done, note=f"residual {residual:.3e}")

    try:
        return _solve(mat.name, blocks, parts, [on_set(part) for part in bs], method, preconditioner, rtol, atol, maxiter, restart, watch)
    finally:
        for part, solved in zip(xs, parts):
            if isinstance(part, _Global):
                part.data = solved.data_ro
        steps.close()
