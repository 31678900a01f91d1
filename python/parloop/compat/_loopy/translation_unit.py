"""Programs, by loopy's names: expressions in them are pymbolic's, and code is for OpenCL unless another target is said."""

from __future__ import annotations

import importlib
import importlib.util
import re
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...loops import ArrayArg, ConstantArg, Kernel, Program
from ...loops._generate import einsum, infer_unknown_types, set_options
from ...loops._program import _options, build, then
from .diagnostic import LoopyError, LoopyWarning
from .separate import gather, separate_axes, spread
from .symbolic import SPECIAL


class LoopKernel(Kernel):
    """One kernel."""

    _special = SPECIAL

    @property
    def assumptions(self) -> Any:
        """What is promised of its parameters: a set of namedisl's or islpy's where one of them is installed."""
        return _set(super().assumptions)

    @property
    def domains(self) -> list[Any]:
        """Its domains: sets of namedisl's or islpy's where one of them is installed."""
        return [_set(text) for text in super().domains]

    @property
    def subkernel(self) -> LoopKernel:
        """Itself, as an entry of a table of callables."""
        return self

    def stringify(self, what: Any = None, with_dependencies: bool = False, use_separators: bool = True, show_labels: bool = True) -> str:
        """Its text, with the dependencies of each instruction."""
        return str(self)

    def update_persistent_hash(self, key_hash: Any, key_builder: Any) -> None:
        """Adds what it is to a key of a cache on disk."""
        key_builder.rec(key_hash, str(self))


def _set(text: str) -> Any:
    """A set as an object, if there is a package for it."""
    if importlib.util.find_spec("namedisl"):
        return importlib.import_module("namedisl").make_set(text)
    return importlib.import_module("islpy").BasicSet(text) if importlib.util.find_spec("islpy") else text


class TranslationUnit(Program):
    """Kernels and what they call."""

    _kernel_class = LoopKernel

    def executor(self, *unused: Any, entrypoint: str | None = None) -> Any:
        """Something that runs the program on a queue."""
        return self if entrypoint is None else self[entrypoint]

    _unpromised: TranslationUnit | None = None

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self._unpromised is not None:
            return self._unpromised(*args, **named)
        try:
            return self._call(*args, **named)
        except LoopyError as error:
            # loopy believes what is assumed; code that does not need it is right for all sizes.
            if "` assumes `" not in str(error):
                raise
            warnings.warn(f"{error}; the kernel is made again without its assumptions", LoopyWarning, stacklevel=2)
            self._unpromised = then(self, "_without_assumptions")  # type: ignore[assignment]
            return self._unpromised(*args, **named)  # type: ignore[misc]

    def _call(self, *args: Any, **named: Any) -> Any:
        entry = named.get("entrypoint")
        names = [entry] if entry else self._entrypoints
        separate = separate_axes(self[names[0]]) if len(names) == 1 else {}
        if not separate:
            return super().__call__(*args, **named)
        given = dict(named)
        host = [value for value in named.values() if isinstance(value, np.ndarray)]
        for name, (axis, others) in separate.items():
            if isinstance(named.get(name), (list, tuple)):
                given[name] = gather(named[name], axis, others)
                host += [value for value in named[name] if isinstance(value, np.ndarray)]
        # A call with arrays of pyopencl's alone gives such arrays back.
        given.setdefault("out_host", bool(host))
        event, results = _with_dict(self).__call__(*args, **given)
        found: dict[str, Any] = {}
        for name, value in results.items():
            if name in separate:
                parts = spread(named.get(name), value, separate[name][0])
                found.update({f"{name}_s{place}": part for place, part in enumerate(parts)})
            else:
                found[name] = value
        return event, found if self._returns_dict else tuple(found.values())

    def update_persistent_hash(self, key_hash: Any, key_builder: Any) -> None:
        """Adds what it is to a key of a cache on disk."""
        key_builder.rec(key_hash, (str(self), tuple(sorted(self.entrypoints)), self._target))


def _with_dict(program: TranslationUnit) -> Program:
    """The program as one of `parloop.loops` whose calls give results by name."""
    return set_options(Program(program), return_dict=True)


def make_kernel(domains: Any, instructions: Any, kernel_data: Iterable[Any] | None = None, **said: Any) -> TranslationUnit:
    """A program of one kernel, for OpenCL unless another target is said."""
    domains, data, said = _read(domains, kernel_data, said)
    return build(TranslationUnit, domains, instructions, data, {"target": "opencl", **said}, function=False)


def make_function(domains: Any, instructions: Any, kernel_data: Iterable[Any] | None = None, **said: Any) -> TranslationUnit:
    """A program of a kernel that others call."""
    domains, data, said = _read(domains, kernel_data, said, function=True)
    return build(TranslationUnit, domains, instructions, data, said, function=True)


def make_einsum(spec: str, arg_names: Any, **said: Any) -> TranslationUnit:
    """A kernel that sums products, in Einstein's notation."""
    return einsum(TranslationUnit, spec, arg_names, {"target": "opencl", **_read([], None, said)[2]})


def _of_unknown_extent(item: Any) -> Any:
    """An array that is declared without a shape has any length; each call compares the indices with what it is given."""
    if isinstance(item, (ArrayArg, ConstantArg)) and "shape" not in item._said:
        return item.copy(shape=None)
    return item


def _read(domains: Any, data: Iterable[Any] | None, said: dict[str, Any], function: bool = False) -> tuple[Any, Any, dict[str, Any]]:
    """Domains, data and other arguments as `parloop.loops` takes them."""
    said = {key: value for key, value in said.items() if key != "target" or value is not None}
    rules = (said.pop("substitutions", None) or {}).values()
    temporaries = (said.pop("temporary_variables", None) or {}).values()
    if rules or temporaries:
        given = ["..."] if data is None else [data] if isinstance(data, str) else list(data)
        data = [*given, *rules, *temporaries]
    # What loopy warns of is a warning here too: races, and reads of temporaries before they are written. Numbers have loopy's types.
    said["options"] = {**_options(said.get("options")), "lenient": True, "loopy_arithmetic": True}
    if data is not None and not isinstance(data, str):
        data = [_of_unknown_extent(item) for item in data] if not function else list(data)
    several = [domains] if isinstance(domains, str) or not isinstance(domains, Iterable) else list(domains)
    return [_domain(item) for item in several], data, said


def _domain(given: Any) -> Any:
    """A domain without what stands behind its last brace, which isl does not read. Fractions in it, which isl compares as such, are left to
    islpy where that is installed.
    """
    text = str(given)
    if "/" in text and "floor" not in text and importlib.util.find_spec("islpy"):
        isl = importlib.import_module("islpy")
        if "->" not in text:
            inames = set(re.findall(r"\w+", text[text.find("[") : text.find("]")]))
            parameters = sorted(set(re.findall(r"[A-Za-z_]\w*", text)) - inames - {"and", "or", "not", "mod", "exists", "min", "max"})
            text = f"[{', '.join(parameters)}] -> {text}"
        return str(isl.BasicSet(text))
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "}" and depth == 0:
            rest = text[at + 1 :].strip()
            if rest:
                warnings.warn(f"the domain {text!r} goes on behind its closing brace; {rest!r} is ignored", LoopyWarning, stacklevel=4)
                return text[: at + 1]
            break
    return given


def resolve_callables(program: Program) -> Program:
    """The program with the functions resolved that its kernels call."""
    return infer_unknown_types(program)
