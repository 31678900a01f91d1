"""C."""

from .....loops import (
    CFamilyTarget as CFamilyTarget,
    CTarget as CTarget,
    CWithGNULibcTarget as CWithGNULibcTarget,
    ExecutableCTarget as ExecutableCTarget,
    ExecutableCWithGNULibcTarget as ExecutableCWithGNULibcTarget,
)
