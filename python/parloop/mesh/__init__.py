"""Parallel loops over unstructured meshes: sets, maps between them, data on them, and kernels that are run for each element.

>>> import numpy as np, parloop.mesh as op2
>>> cells, nodes = op2.Set(2, "cells"), op2.Set(4, "nodes")
>>> corners = op2.Map(cells, nodes, 3, [[0, 1, 2], [1, 3, 2]], "corners")
>>> x = op2.Dat(nodes ** 2, [[0, 0], [1, 0], [0, 1], [1, 1]], dtype=float, name="x")
>>> corners.values[1]
array([1, 3, 2], dtype=int32)
"""

from .._parloop import MeshError as MeshError
from .._parloop import _Access as Access
from .._parloop import _Arg as Arg
from .._parloop import _Constant as Constant
from .._parloop import _Dat as Dat
from .._parloop import _DataSet as DataSet
from .._parloop import _DatView as DatView
from .._parloop import _Global as Global
from .._parloop import _Map as Map
from .._parloop import _Set as Set
from .._parloop import _Subset as Subset

READ, WRITE, RW = Access.READ, Access.WRITE, Access.RW
INC, MIN, MAX = Access.INC, Access.MIN, Access.MAX

__all__ = [
    "Access", "Arg", "Constant", "Dat", "DatView", "DataSet", "Global", "INC", "MAX", "MIN", "Map", "MeshError", "READ", "RW", "Set",
    "Subset", "WRITE",
]  # fmt: skip
