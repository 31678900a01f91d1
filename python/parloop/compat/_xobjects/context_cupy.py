"""By xobjects' name: see `context`."""

from .context import ContextCupy as ContextCupy
