"""By xobjects' name: see `parloop.objects`."""

from parloop.objects import Struct as Struct
from parloop.objects import Field as Field
from parloop.objects import ThisClass as ThisClass
