"""ISPC."""

from ....loops import ISPCTarget as ISPCTarget
