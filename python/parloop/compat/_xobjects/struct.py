"""By xobjects' name: see `parloop.objects`."""

from typing import Any

from parloop.objects import Field as Field
from parloop.objects import Struct as Struct
from parloop.objects import ThisClass as ThisClass
from parloop.objects._struct import MetaStruct as MetaStruct


def is_struct(atype: Any) -> bool:
    return isinstance(atype, MetaStruct)


def is_field(atype: Any) -> bool:
    return isinstance(atype, Field)
