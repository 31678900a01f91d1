"""What programs written for loopy import: loop kernels, their transformations, targets and calls."""

PROVIDES = {"loopy": "parloop.compat._loopy"}
