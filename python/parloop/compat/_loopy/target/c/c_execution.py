"""The compiler of C, which the runtime chooses."""

from __future__ import annotations

import shutil
import types
from typing import Any


class CCompiler:
    """Says nothing here: the runtime finds a compiler by itself."""

    def __init__(self, toolchain: Any = None, cc: str | None = None, cflags: Any = (), **said: Any) -> None:
        found = cc or next((name for name in ("gcc", "cc", "clang") if shutil.which(name)), "")
        self.toolchain = toolchain or types.SimpleNamespace(cc=found, cflags=list(cflags))
