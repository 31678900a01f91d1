"""By xobjects' name: see `parloop.objects`."""

from parloop.objects import BypassLinked as BypassLinked
from parloop.objects import LinkedArray as BaseLinkedArray

__all__ = ["BaseLinkedArray", "BypassLinked"]
