"""By xobjects' name: see `parloop.objects`."""

from parloop.objects import Ref as Ref
from parloop.objects import UnionRef as UnionRef
