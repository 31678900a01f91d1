"""The code blocks of a page: how they are found, and how they are run.

    python docs/blocks.py --pictures docs/tutorials/*.md

runs the Python blocks of each page in the folder ``pictures`` next to it, where they save the pictures that the page shows. The tests run the
blocks of every page in the same way (``python/tests/test_docs.py``). A block that cannot run everywhere has a comment in front that says why::

    <!-- not run: needs a CUDA GPU -->
    ```python
    ...
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

_FENCE = re.compile(
    r"^(?P<indent> *)(?:<!-- not run: (?P<reason>[^\n]*?) -->\n+(?P=indent))?```(?P<language>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """One fenced block of a page."""

    #: The first line of its text in the page, counted from 1.
    line: int
    #: What stands after the backquotes; a directive of the site's, such as ``{toctree}``, has braces.
    language: str
    text: str
    #: Why it is not run, or nothing.
    reason: str


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    whole = page.read_text()
    found = []
    for match in _FENCE.finditer(whole):
        indent = len(match["indent"])
        text = "".join(line[indent:] for line in match["text"].splitlines(keepends=True))
        line = whole.count("\n", 0, match.start("text")) + 1
        found.append(Block(line, match["language"], text, match["reason"] or ""))
    return found


def run_python(page: Path) -> int:
    """Runs the Python blocks of a page in one namespace, in the current folder. Returns how many were run.

    Blocks with ``>>>`` are doctests. An exception names the page and the line.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for block in blocks(page):
        if block.language != "python" or block.reason:
            continue
        count += 1
        if re.search(r"^>>> ", block.text, re.MULTILINE):
            test = doctest.DocTestParser().get_doctest(block.text, namespace, page.name, str(page), block.line - 1)
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            lines: list[str] = []
            runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
            runner.run(test, out=lines.append, clear_globs=False)
            if runner.failures:
                raise AssertionError("".join(lines))
            namespace.update(test.globs)
        else:
            # The lines in front keep the numbers of a traceback those of the page.
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), namespace)
    return count


def show_loop(text: str, target: str = "c") -> str:
    """What ``parloop show`` prints for the text of a ``.loop`` file; an error is a ValueError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.loop")
        path.write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "parloop", "show", str(path), "--target", target], capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise ValueError(done.stderr)
    return done.stdout


def main() -> None:
    """Makes the pictures of the pages that are named."""
    import time

    os.environ.setdefault("MPLBACKEND", "agg")
    for page in [Path(name).resolve() for name in sys.argv[2:]]:
        folder = page.parent / "pictures"
        folder.mkdir(exist_ok=True)
        os.chdir(folder)
        start = time.perf_counter()
        count = run_python(page)
        print(f"{page.name}: {count} blocks in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--pictures":
        sys.exit(__doc__)
    main()
