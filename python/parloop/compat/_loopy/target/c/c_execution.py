"""The compiler of C, which the runtime chooses."""

from __future__ import annotations

from typing import Any


class CCompiler:
    """Says nothing here: the runtime finds a compiler by itself."""

    def __init__(self, *args: Any, **said: Any) -> None:
        self.toolchain = said.get("toolchain")
