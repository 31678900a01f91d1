"""By xobjects' name: see `parloop.objects`."""

from parloop.objects import String as String
