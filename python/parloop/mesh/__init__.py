"""Parallel loops over unstructured meshes: sets, maps between them, data on them, and kernels that are run for each element.

>>> import numpy as np, parloop.mesh as op2
>>> cells, nodes = op2.Set(2, "cells"), op2.Set(4, "nodes")
>>> corners = op2.Map(cells, nodes, 3, [[0, 1, 2], [1, 3, 2]], "corners")
>>> x = op2.Dat(nodes ** 2, [[0, 0], [1, 0], [0, 1], [1, 1]], dtype=float, name="x")
>>> middle = op2.Dat(cells ** 2, name="middle")
>>> kernel = op2.Kernel('''
... void midpoint(double p[2], double *x[2]) {
...     for (int d = 0; d < 2; d++)
...         p[d] = (x[0][d] + x[1][d] + x[2][d]) / 3;
... }''', "midpoint")
>>> op2.par_loop(kernel, cells, middle(op2.WRITE), x(op2.READ, corners))
>>> middle.data_ro.round(3).tolist()
[[0.333, 0.333], [0.667, 0.667]]
"""

from .._parloop import MeshError as MeshError
from .._parloop import _Access as Access
from .._parloop import _Arg as Arg
from .._parloop import _Comm as Comm
from .._parloop import _ComposedMap as ComposedMap
from .._parloop import _Constant as Constant
from .._parloop import _Dat as Dat
from .._parloop import _DataSet as DataSet
from .._parloop import _DatView as DatView
from .._parloop import _ExtrudedSet as ExtrudedSet
from .._parloop import _Global as Global
from .._parloop import _Kernel as Kernel
from .._parloop import _Map as Map
from .._parloop import _Mat as Mat
from .._parloop import _par_loop as par_loop
from .._parloop import _ParLoop as ParLoop
from .._parloop import _PermutedMap as PermutedMap
from .._parloop import _Region as Region
from .._parloop import _Set as Set
from .._parloop import _Solution as Solution
from .._parloop import _Sparsity as Sparsity
from .._parloop import _Subset as Subset
from .._parloop import _write_vtk as write_vtk
from ._box import box_mesh as box_mesh
from ._checkpoint import load as load
from ._checkpoint import save as save
from ._mesh import Mesh as Mesh
from ._mixed import GlobalDataSet as GlobalDataSet
from ._mixed import MixedDataSet as MixedDataSet
from ._mixed import MixedMap as MixedMap
from ._mixed import MixedSet as MixedSet
from ._mixed_dat import MixedDat as MixedDat
from ._mixed_mat import MixedMat as MixedMat
from ._mixed_mat import MixedSparsity as MixedSparsity
from ._processes import Distribution as Distribution
from ._processes import distribute as distribute
from ._read import read_mesh as read_mesh
from ._report import LoopReport as LoopReport
from ._report import PlanReport as PlanReport
from ._series import TimeSeries as TimeSeries
from ._slices import MeshPart as MeshPart
from ._slices import distribute_slices as distribute_slices
from ._solve import solve as solve
from ._space import Space as Space

READ, WRITE, RW = Access.READ, Access.WRITE, Access.RW
INC, MIN, MAX = Access.INC, Access.MIN, Access.MAX
ALL, ON_BOTTOM = Region.ALL, Region.ON_BOTTOM
ON_TOP, ON_INTERIOR_FACETS = Region.ON_TOP, Region.ON_INTERIOR_FACETS

__all__ = [
    "ALL", "Access", "Arg", "Comm", "ComposedMap", "Constant", "Dat", "DatView", "DataSet", "Distribution", "ExtrudedSet", "Global", "GlobalDataSet", "INC", "Kernel", "LoopReport", "MAX",
    "MIN", "Map", "Mat", "Mesh", "MeshError", "MeshPart", "MixedDat", "MixedDataSet", "MixedMap", "MixedMat", "MixedSet", "MixedSparsity", "ON_BOTTOM",
    "ON_INTERIOR_FACETS", "ON_TOP", "ParLoop", "PermutedMap", "PlanReport", "READ", "RW", "Region", "Set", "Solution", "Space", "Sparsity", "Subset", "TimeSeries",
    "WRITE", "box_mesh", "distribute", "distribute_slices", "load", "par_loop", "read_mesh", "save", "solve", "write_vtk",
]  # fmt: skip
