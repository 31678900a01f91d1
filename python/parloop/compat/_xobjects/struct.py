"""By xobjects' name: see `parloop.objects`."""

from typing import Any

import parloop.objects as objects

from parloop.objects import Field as Field
from parloop.objects import ThisClass as ThisClass
from parloop.objects._struct import MetaStruct as MetaStruct


class Struct(objects.Struct):
    """A struct that takes any attribute, as xobjects' own does."""

    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__


def is_struct(atype: Any) -> bool:
    return isinstance(atype, MetaStruct)


def is_field(atype: Any) -> bool:
    return isinstance(atype, Field)
