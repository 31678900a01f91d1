"""By xobjects' name: see `parloop.objects`."""

from parloop.objects import HybridClass as HybridClass
from parloop.objects import JEncoder as JEncoder
from parloop.objects import MetaHybridClass as MetaHybridClass
from parloop.objects._hybrid import fields_of as _build_xofields_dict  # noqa: F401
