"""Options of kernels."""

from ...loops import Options as Options
