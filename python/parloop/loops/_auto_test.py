"""Compares a transformed kernel with the one it was made of, on random arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._generate import add_dtypes, infer_unknown_types, set_options
from ._program import Program

__all__ = ["auto_test_vs_ref"]


def auto_test_vs_ref(
    ref_prog: Program,
    context: Any = None,
    test_prog: Program | None = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    check_result: Callable[[Any, Any], tuple[bool, str]] | None = None,
    ref_entrypoint: str | None = None,
    test_entrypoint: str | None = None,
    seed: int = 17,
) -> None:
    """Runs two programs with the same random arrays, and fails if they do not give the same numbers.

    A transformation never changes the numbers; what its caller promises (`assume`, `nosync`, dependencies) may be wrong, and shows here.

    Parameters
    ----------
    ref_prog : Program
        The reference kernel, whose results are taken as correct.
    context : Context, optional
        Where both run; the default one when not given.
    test_prog : Program, optional
        The kernel to test, by default the same.
    parameters : dict
        The sizes and other integers. Arrays and numbers that are here too are used as they are; others are random.
    check_result : callable, optional
        Compares a result with that of the reference: whether it is fine, and a message.
    ref_entrypoint, test_entrypoint : str, optional
        Which kernel of each program, where it has several.
    seed : int
        Of the random numbers.

    Raises
    ------
    AssertionError
        Which result differs, where first, and both numbers there. Integers must be equal; floats may differ, by the order in which
        they are added up, by the square root of their precision.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", [lp.GlobalArg("a,out", np.float64), ...])
    >>> fast = lp.split_iname(knl, "i", 16, outer_tag="g.0", inner_tag="l.0")
    >>> lp.auto_test_vs_ref(knl, None, fast, parameters={"n": 100})
    """
    test_prog = ref_prog if test_prog is None else test_prog
    given = _arguments(ref_prog, ref_entrypoint, dict(parameters or {}), np.random.default_rng(seed))
    reference, found = (
        _results(program, entry, context, given) for program, entry in ((ref_prog, ref_entrypoint), (test_prog, test_entrypoint))
    )
    if reference.keys() != found.keys():
        raise AssertionError(f"the reference gives {', '.join(reference)}, but the program gives {', '.join(found)}")
    for name, expected in reference.items():
        if check_result is not None:
            fine, message = check_result(found[name], expected)
            if not fine:
                raise AssertionError(message)
        else:
            _compare(name, found[name], expected)


def _results(program: Program, entry: str | None, context: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a call with copies of the arguments, laid out as the program asks for, gives by name."""
    laid = _layouts(program, entry, given)
    arrays = {name: _as_asked(value, laid.get(name)) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    named = {} if entry is None else {"entrypoint": entry}
    where = () if context is None else (context,)
    _, found = set_options(program, return_dict=True)(*where, out_host=True, **arrays, **named)
    # Axes may be split: the numbers are those of the reference.
    return {name: _first(value, np.shape(given[name])) if name in laid else value for name, value in found.items()}


def _as_asked(value: Any, layout: tuple[tuple[int, ...], list[int | None]] | None) -> Any:
    """A copy with the shape and strides that a program asks for. A first axis that was split has further, unused entries at its end."""
    if layout is None:
        return np.copy(value, order="K")
    shape, strides = layout
    if shape != value.shape:
        wider = np.zeros(shape, value.dtype)
        wider.reshape(-1)[: value.size] = value.reshape(-1)
        value = wider
    return _laid_out(np.copy(value, order="K"), strides)


def _first(value: Any, shape: tuple[int, ...]) -> Any:
    """The first numbers of an array, in that shape."""
    return value if np.shape(value) == shape else np.asarray(value).reshape(-1)[: int(np.prod(shape, dtype=np.int64))].reshape(shape)


def _compare(name: str, found: Any, expected: Any) -> None:
    if expected.shape != found.shape:
        raise AssertionError(f"{name} has shape {found.shape}, but {expected.shape} is expected")
    if expected.dtype.names is not None:
        for field in expected.dtype.names:
            if not field.startswith("padding"):
                _compare(f"{name}.{field}", found[field], expected[field])
        return
    if not expected.size:
        return
    if expected.dtype.kind in "iub":
        wrong = found != expected
    else:
        precision = float(np.sqrt(np.finfo(expected.dtype).eps))
        known = np.abs(expected[np.isfinite(expected)])
        wrong = ~np.isclose(found, expected, rtol=precision, atol=precision * float(known.max(initial=0.0)), equal_nan=True)
    if np.any(wrong):
        at = tuple(int(index) for index in np.argwhere(wrong)[0])
        place = f"[{', '.join(map(str, at))}]" if at else ""
        count = f"{int(np.sum(wrong))} of {expected.size} numbers"
        raise AssertionError(f"{name}{place} is {found[at]}, but {expected[at]} is expected; {count} differ")


def _arguments(program: Program, entry: str | None, given: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Random arrays and numbers for all that is not given."""
    arrays, numbers, objects = _described(program, entry, given)
    for name in objects:
        raise TypeError(f"argument {name!r} is an object; only kernels over arrays and numbers can be compared")
    for name, dtype in numbers:
        if name not in given:
            given[name] = _random(rng, (), dtype)[()]
    for name, dtype, shape, strides in arrays:
        if name not in given:
            given[name] = _laid_out(_random(rng, tuple(shape), dtype), strides)
    return given


def _described(program: Program, entry: str | None, given: Mapping[str, Any]) -> Any:
    """Arrays with their shapes and strides, numbers, and objects among the arguments."""
    typed = infer_unknown_types(program)
    kernel = typed[entry] if entry else typed.default_entrypoint
    # What nothing says is a double.
    typed = add_dtypes(typed, {arg.name: np.float64 for arg in kernel.args if arg.dtype is None})
    own = {arg.name for arg in kernel.args}
    numbers = {name: value for name, value in given.items() if np.ndim(value) == 0 and not isinstance(value, np.void) and name in own}
    plain = {name: value for name, value in numbers.items() if getattr(getattr(value, "dtype", None), "names", None) is None}
    sizes = {name: int(value) for name, value in plain.items() if hasattr(value, "__index__")}
    return typed._layouts(kernel.name, sizes)


def _layouts(program: Program, entry: str | None, given: Mapping[str, Any]) -> dict[str, tuple[tuple[int, ...], list[int | None]]]:
    """The shapes and strides that a program asks for, of each array of that shape or whose first axis was split."""
    arrays, _, _ = _described(program, entry, given)
    return {name: (tuple(shape), strides) for name, _, shape, strides in arrays if name in given and _is_split(np.shape(given[name]), shape)}


def _is_split(old: tuple[int, ...], new: Any) -> bool:
    """Whether a shape is another one, or that with its first axis in two parts."""
    new = tuple(new)
    return new == old or len(new) == len(old) + 1 and new[2:] == old[1:] and new[0] * new[1] >= old[0]


def _random(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    if dtype.names is not None:
        values = np.zeros(shape, dtype)
        for field in dtype.names:
            values[field] = _random(rng, shape, dtype[field])
        return values
    if dtype.kind in "iub":
        return np.asarray(rng.integers(0, 10, size=shape)).astype(dtype)
    values = rng.normal(size=shape)
    return np.asarray(values + 1j * rng.normal(size=shape) if dtype.kind == "c" else values).astype(dtype)


def _laid_out(values: Any, strides: list[int | None] | None) -> Any:
    """The values, with the strides that the kernel asks for."""
    if strides is None:
        return values
    own = [stride // values.itemsize for stride in values.strides]
    wanted = [own[axis] if stride is None else stride for axis, stride in enumerate(strides)]
    if wanted == own or not values.size:
        return values
    last = sum((length - 1) * stride for length, stride in zip(values.shape, wanted))
    memory = np.zeros(last + 1, values.dtype)
    laid = np.lib.stride_tricks.as_strided(memory, values.shape, [stride * values.itemsize for stride in wanted])
    laid[...] = values
    return laid
