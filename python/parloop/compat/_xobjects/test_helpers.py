"""Decorators by which tests run on several contexts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

from .context import get_context_from_string, get_test_contexts


def for_all_test_contexts(test: Callable[..., Any] | None = None, *, excluding: str | Iterable[str] = ()) -> Any:
    """Runs a test once for each test context, given as `test_context`, but for those named in `excluding`."""
    if test is None:
        return lambda test: for_all_test_contexts(test, excluding=excluding)
    excluded = (excluding,) if isinstance(excluding, str) else tuple(excluding)
    names = [str(context) for context in get_test_contexts() if type(context).__name__ not in excluded]

    @wraps(test)
    def run(*args: Any, **named: Any) -> None:
        named["test_context"] = get_context_from_string(named["test_context"])
        test(*args, **named)

    if not names:
        return pytest.mark.skip(f"All available contexts have been excluded for this test: {excluded}.")(run)
    return pytest.mark.parametrize("test_context", names)(run)


def requires_context(name: str) -> Any:
    """Skips a test where the context is not there."""
    if name in {type(context).__name__ for context in get_test_contexts()}:
        return lambda test: test
    return pytest.mark.skip(f"{name} is unavailable on this platform.")


def fix_random_seed(seed: int) -> Any:
    """Runs a test with this seed of numpy's generator."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(test)
        def run(*args: Any, **named: Any) -> None:
            import numpy as np

            state = np.random.get_state()
            try:
                np.random.seed(seed)
                test(*args, **named)
            finally:
                np.random.set_state(state)

        return run

    return decorate


def skip_if_forbid_compile() -> None:
    """Skips a test where compiling is forbidden."""
    if os.environ.get("XOBJECTS_FORBID_COMPILE"):
        pytest.skip("Compilation is forbidden by the environment variable XOBJECTS_FORBID_COMPILE")
