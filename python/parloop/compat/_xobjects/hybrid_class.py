"""By xobjects' name: see `parloop.objects`."""

import parloop.objects as objects
from parloop.objects import JEncoder as JEncoder
from parloop.objects import MetaHybridClass as MetaHybridClass
from parloop.objects._hybrid import fields_of as _build_xofields_dict  # noqa: F401

from .struct import Struct


class HybridClass(objects.HybridClass):
    """A hybrid class that takes any attribute, as xobjects' own does."""

    _struct_base = Struct
    __setattr__ = object.__setattr__  # type: ignore[assignment]
