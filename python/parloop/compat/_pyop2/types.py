"""PyOP2's sets, maps, data and matrices, where its programs import them from."""

from ...mesh import INC as INC, MAX as MAX, MIN as MIN, READ as READ, RW as RW, WRITE as WRITE, Access as Access
from .data import Constant as Constant, Dat as Dat, DatView as DatView, Global as Global
from .maps import ComposedMap as ComposedMap, Map as Map, PermutedMap as PermutedMap
from .matrices import Mat as Mat, Sparsity as Sparsity
from .mixed import MixedDat as MixedDat, MixedDataSet as MixedDataSet, MixedMap as MixedMap, MixedSet as MixedSet
from .sets import DataSet as DataSet, ExtrudedSet as ExtrudedSet, GlobalDataSet as GlobalDataSet, Set as Set, Subset as Subset
