"""By xobjects' name: see `parloop.objects`."""

from parloop.objects import BypassLinked as BypassLinked
