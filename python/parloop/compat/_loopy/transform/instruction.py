"""Transformations; all are in one place."""

from ....loops._transform import *  # noqa: F403
