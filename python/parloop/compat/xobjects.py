"""What programs written for xobjects import: typed objects, contexts and kernels."""

PROVIDES = {"xobjects": "parloop.compat._xobjects"}
