"""Source of programs, as loopy gives it."""

from __future__ import annotations

import re
from typing import Any

from ... import loops
from ...loops import Kernel, Program

__all__ = ["generate_code", "generate_code_v2", "generate_header"]


class DeviceProgram:
    """One function that the host launches."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self._text = name, text

    @property
    def ast(self) -> str:
        """The source that it stands in."""
        return self._text

    def __str__(self) -> str:
        return self._text


class GeneratedCode(loops.GeneratedCode):
    """What `generate_code_v2` gives."""

    def __init__(self, program: Program, target: Any = None) -> None:
        super().__init__(program, target)
        #: The functions that the host launches.
        self.device_programs = [DeviceProgram(name, self.device_code()) for entry in program._entrypoints for name in program._launches(None, entry)]

    def __str__(self) -> str:
        return self.all_code()


def generate_code_v2(program: Program | Kernel, **unused: Any) -> GeneratedCode:
    """The source of a program, and its launches."""
    return GeneratedCode(program.program.with_entrypoints([program.name]) if isinstance(program, Kernel) else program)


def generate_code(program: Program | Kernel, device: Any = None) -> tuple[str, list[Any]]:
    """The source for the device, and the arguments."""
    entry = program if isinstance(program, Kernel) else program.default_entrypoint
    return generate_code_v2(program).device_code(), loops.infer_unknown_types(entry).args


def generate_header(program: Program | Kernel) -> list[str]:
    """The declaration of each function that the host launches."""
    code = generate_code_v2(program)
    lines = code.device_code().split("\n")
    declared = []
    for launch in code.device_programs:
        fits = re.compile(rf"\b{re.escape(launch.name)}\(.*\)$")
        declared += [f"{line};" for line in lines if fits.search(line) and not line.startswith((" ", "\t"))][:1]
    return declared
