"""What code is written for."""

from __future__ import annotations

from typing import Any

__all__ = [
    "CFamilyTarget",
    "CTarget",
    "CWithGNULibcTarget",
    "CudaTarget",
    "ExecutableCTarget",
    "ExecutableCWithGNULibcTarget",
    "HIPTarget",
    "ISPCTarget",
    "OpenCLTarget",
    "PyOpenCLTarget",
    "TargetBase",
    "target_named",
]


class TargetBase:
    """What code is written for. What a class is told beyond its name has no effect on the code."""

    _name = ""

    def __init__(self, *args: Any, **said: Any) -> None:
        self._said = (args, tuple(sorted(said.items(), key=lambda item: item[0])))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class CFamilyTarget(TargetBase):
    """Languages that look like C."""


class CTarget(CFamilyTarget):
    """C."""

    _name = "c"


class CWithGNULibcTarget(CTarget):
    """C with the functions of GNU's library."""


class ExecutableCTarget(CTarget):
    """C that is compiled and called."""

    def __init__(self, compiler: Any = None, *args: Any, **said: Any) -> None:
        super().__init__(compiler, *args, **said)
        self.compiler = compiler


class ExecutableCWithGNULibcTarget(ExecutableCTarget):
    """C with the functions of GNU's library, compiled and called."""


class OpenCLTarget(CFamilyTarget):
    """OpenCL C."""

    _name = "opencl"


class PyOpenCLTarget(OpenCLTarget):
    """OpenCL C that is compiled and called."""


class CudaTarget(CFamilyTarget):
    """CUDA."""

    _name = "cuda"


class HIPTarget(CFamilyTarget):
    """HIP."""

    _name = "hip"


class ISPCTarget(CFamilyTarget):
    """ISPC."""

    _name = "ispc"


_BY_NAME: dict[str, type[TargetBase]] = {
    "c": ExecutableCTarget,
    "opencl": PyOpenCLTarget,
    "cuda": CudaTarget,
    "hip": HIPTarget,
    "ispc": ISPCTarget,
}


def target_named(name: str | None) -> TargetBase | None:
    """The target of that name."""
    return None if name is None else _BY_NAME[name]()
