"""By xobjects' name: see `parloop.objects`."""

from typing import Any

from parloop.objects import String as String
from parloop.objects._string import MetaString as MetaString


def is_string(atype: Any) -> bool:
    return isinstance(atype, MetaString)
