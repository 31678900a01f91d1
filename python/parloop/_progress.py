"""How far something is, on standard error: with tqdm where it is installed, and as a plain line where it is not."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, TypeVar, overload

__all__ = ["Progress", "progress"]

T = TypeVar("T")

#: Seconds before anything is shown, and between two changes of a plain line.
DELAY, PAUSE = 1.0, 0.1


class Progress(Generic[T]):
    """Something that takes a while, and how far it is. See `progress`."""

    def __init__(self, iterable: Iterable[T] | None, total: int | None, desc: str, show: bool | None, delay: float) -> None:
        self._iterable = iterable
        self._start = self._last = time.monotonic()
        self._delay = delay
        self._bar: Any = None
        self._is_shown = False
        self._total, self._desc = total, desc
        self._show = sys.stderr is not None and (sys.stderr.isatty() if show is None else show)
        if self._show:
            self._bar = _tqdm(total, desc, delay)
        #: How many steps are done.
        self.done = 0
        #: What is shown behind the description, such as a residual.
        self.note = ""

    def update(self, steps: int = 1, note: str | None = None) -> None:
        """This many further steps are done; `note` is shown behind the description."""
        self.done += steps
        self.note = self.note if note is None else note
        if not self._show:
            return
        if self._bar is not None:
            self._bar.set_postfix_str(self.note, refresh=False)
            self._bar.update(steps)
            return
        now = time.monotonic()
        if now - self._start >= self._delay and (now - self._last >= PAUSE or not self._is_shown):
            self._last, self._is_shown = now, True
            _write(f"\r\033[K{self._line(now)}" if sys.stderr.isatty() else f"{self._line(now)}\n")

    def _line(self, now: float) -> str:
        spent = now - self._start
        parts = [self._desc] if self._desc else []
        if self._total:
            parts.append(f"{self.done}/{self._total} ({100 * self.done // self._total} %)")
            if 0 < self.done <= self._total:
                parts.append(f"{spent * (self._total - self.done) / self.done:.0f} s left")
        else:
            parts += [str(self.done), f"{spent:.0f} s"]
        return ", ".join([*parts, self.note] if self.note else parts)

    def close(self) -> None:
        """Nothing more is shown. A plain line on a terminal is taken away; a bar of tqdm's stays."""
        if self._bar is not None:
            self._bar.close()
        elif self._is_shown and sys.stderr.isatty():
            _write("\r\033[K")
        self._show, self._is_shown = False, False

    def __iter__(self) -> Iterator[T]:
        if self._iterable is None:
            raise TypeError("this progress has no iterable to go through; call update() for each step, or give progress() one")
        with self:
            for item in self._iterable:
                yield item
                self.update()

    def __len__(self) -> int:
        if self._total is None:
            raise TypeError("this progress does not know how many steps there are")
        return self._total

    def __enter__(self) -> Progress[T]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _write(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


def _tqdm(total: int | None, desc: str, delay: float) -> Any:
    """A bar of tqdm's; None where it is not installed."""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return None
    return tqdm(total=total, desc=desc or None, delay=delay, file=sys.stderr, leave=False)


@overload
def progress(iterable: Iterable[T], total: int | None = None, desc: str = "", *, show: bool | None = None, delay: float = DELAY) -> Progress[T]: ...
@overload
def progress(iterable: None = None, total: int | None = None, desc: str = "", *, show: bool | None = None, delay: float = DELAY) -> Progress[None]: ...
def progress(
    iterable: Iterable[Any] | None = None, total: int | None = None, desc: str = "", *, show: bool | None = None, delay: float = DELAY
) -> Progress[Any]:  # fmt: skip
    """Go through an iterable, or count steps, and show how far that is.

    It is a bar where tqdm is installed and a plain line on standard error where it is not, and comes only for what takes longer than a second.

    Parameters
    ----------
    iterable
        What to go through. Without one, `update` counts the steps.
    total
        How many steps there are; by default the length of the iterable, if it has one.
    desc
        What is done, in front of the numbers.
    show
        Whether anything is shown. By default it is where standard error is a terminal.
    delay
        Seconds before anything is shown.

    Returns
    -------
    Progress
        It gives the items of the iterable, and is a context manager that takes the line away at its end.

    Examples
    --------
    >>> import parloop as pl
    >>> sum(number**2 for number in pl.progress(range(4), desc="squares"))
    14
    >>> with pl.progress(total=2, desc="solve") as steps:
    ...     steps.update(note="residual 1e-3")
    ...     steps.update(note="residual 1e-9")
    >>> steps.done
    2
    """
    if total is None and iterable is not None:
        try:
            total = len(iterable)  # type: ignore[arg-type]
        except TypeError:
            total = None
    return Progress(iterable, total, desc, show, delay)
