"""PyOP2's settings. Their types are checked as PyOP2 does; most of them change nothing here."""

from __future__ import annotations

from typing import Any

from ...loops import CTarget
from .exceptions import ConfigurationError

__all__ = ["Configuration", "configuration", "target"]


class Configuration(dict[str, Any]):
    """Settings by name. Values of known keys have the type that PyOP2 says."""

    DEFAULTS: dict[str, Any] = {
        "cc": "", "cxx": "", "ld": "", "cflags": "", "cxxflags": "", "ldflags": "", "simd_width": 4, "debug": False,
        "compute_kernel_flops": False, "type_check": True, "check_src_hashes": True, "log_level": "WARNING", "cache_dir": "",
        "node_local_compilation": True, "no_fork_available": False, "print_cache_info": False, "matnest": True, "block_sparsity": True,
        "spmd_strict": False,
    }  # fmt: skip

    def __init__(self) -> None:
        super().__init__(self.DEFAULTS)

    def reset(self) -> None:
        """Takes every setting back to its default."""
        self.update(self.DEFAULTS)

    def reconfigure(self, **settings: Any) -> None:
        """Changes settings."""
        for key, value in settings.items():
            self[key] = value

    def __setitem__(self, key: str, value: Any) -> None:
        if key in self.DEFAULTS:
            types: Any = (str, int) if key == "log_level" else type(self.DEFAULTS[key])
            if not isinstance(value, types):
                raise ConfigurationError(f"setting {key!r} takes {types}, not {value!r}")
        super().__setitem__(key, value)


configuration = Configuration()

#: The target of loop kernels whose code becomes a kernel.
target = CTarget()
