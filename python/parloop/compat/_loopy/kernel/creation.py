"""Making kernels."""

from ..translation_unit import make_function as make_function
from ..translation_unit import make_kernel as make_kernel
