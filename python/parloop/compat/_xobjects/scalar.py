"""By xobjects' name: see `parloop.objects`."""

from parloop.objects._scalar import *  # noqa: F403
from parloop.objects._scalar import Scalar as NumpyScalar  # noqa: F401
