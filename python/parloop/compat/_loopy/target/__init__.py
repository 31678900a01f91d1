"""What code is written for."""

from ....loops import TargetBase as TargetBase
