"""Types that follow from others."""

from ...loops import infer_unknown_types as infer_unknown_types
