"""Transformations of inames."""

from ....loops._transform import *  # noqa: F403
