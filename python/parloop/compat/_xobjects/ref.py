"""By xobjects' name: see `parloop.objects`."""

from typing import Any

from parloop.objects import Ref as Ref
from parloop.objects import UnionRef as UnionRef
from parloop.objects._ref import MetaUnionRef as MetaUnionRef


def is_ref(atype: Any) -> bool:
    return isinstance(atype, Ref)


def is_unionref(atype: Any) -> bool:
    return isinstance(atype, MetaUnionRef)
