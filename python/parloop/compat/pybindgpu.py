"""PyGPU, whose package is called PybindGPU."""

PROVIDES = {"PybindGPU": "parloop.gpu"}
