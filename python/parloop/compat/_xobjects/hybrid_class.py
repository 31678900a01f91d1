"""By xobjects' name: see `parloop.objects`."""

from parloop.objects import HybridClass as HybridClass
from parloop.objects import JEncoder as JEncoder
from parloop.objects import MetaHybridClass as MetaHybridClass
