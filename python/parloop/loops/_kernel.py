"""One kernel of a program, to look at."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .._parloop import LoopError, _loop_expression_tree
from ._data import AddressSpace, ArrayArg, ConstantArg, GlobalArg, ImageArg, ObjectArg, SubstitutionRule, TemporaryVariable, ValueArg, auto
from ._dim_tags import dim_tag
from ._expressions import build
from ._instructions import Assignment, BarrierInstruction, CallInstruction, CInstruction, NoOpInstruction

if TYPE_CHECKING:
    from ._program import Program

__all__ = ["Iname", "InstructionView", "Kernel"]


class Iname:
    """An iname and its tags: texts, and objects that it was given."""

    def __init__(self, name: str, tags: frozenset[Any]) -> None:
        self.name, self.tags = name, tags

    def tags_of_type(self, kind: type | tuple[type, ...]) -> frozenset[Any]:
        """Those of a class."""
        return frozenset(tag for tag in self.tags if isinstance(tag, kind))

    def __repr__(self) -> str:
        return f"<iname {self.name}: {', '.join(sorted(map(str, self.tags))) or 'no tags'}>"


class InstructionView:
    """One instruction of a kernel. What it is made of are its attributes."""

    def __init__(self, parts: dict[str, Any], special: Any) -> None:
        self._parts = parts
        self._special = special
        self.id: str = parts["id"]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._parts:
            raise AttributeError(f"instruction {self.__dict__.get('id')!r} has no {name!r}")
        value = self._parts[name]
        if name == "predicates":
            return frozenset(build(item, self._special) for item in value)
        return frozenset(value) if isinstance(value, list) else value

    @property
    def assignee(self) -> Any:
        """Its only left side."""
        (only,) = self.assignees
        return only

    @property
    def assignees(self) -> tuple[Any, ...]:
        """Its left sides."""
        return tuple(build(item, self._special) for item in self._parts.get("assignees", ()))

    @property
    def expression(self) -> Any:
        """Its right side."""
        if "expression" not in self._parts:
            raise AttributeError(f"instruction {self.id!r} has no expression")
        return build(self._parts["expression"], self._special)

    def assignee_var_names(self) -> tuple[str, ...]:
        """The names of what it writes."""
        return tuple(self._parts["writes"])

    def reduction_inames(self) -> frozenset[str]:
        """The inames of its reductions."""
        return frozenset(self._parts["reduction_inames"])

    def read_dependency_names(self) -> frozenset[str]:
        """All names that it reads."""
        return frozenset(self._parts["reads"])

    def write_dependency_names(self) -> frozenset[str]:
        """All names that it writes."""
        return frozenset(self._parts["writes"])

    def dependency_names(self) -> frozenset[str]:
        """All names that it uses."""
        return self.read_dependency_names() | self.write_dependency_names()

    def update_persistent_hash(self, key_hash: Any, key_builder: Any) -> None:
        """Adds what it is to a key of a cache on disk, as pytools makes them."""
        key_builder.rec(key_hash, str(self))

    def __str__(self) -> str:
        return str(self._parts["text"])

    def __repr__(self) -> str:
        return f"<instruction {self}>"


class _AssignmentView(InstructionView, Assignment):  # type: ignore[misc, override]
    """An assignment of a kernel."""


class _CallView(InstructionView, CallInstruction):  # type: ignore[misc, override]
    """A call of a kernel, with its results."""


class _CView(InstructionView, CInstruction):  # type: ignore[misc, override]
    """Text in C in a kernel."""


class _BarrierView(InstructionView, BarrierInstruction):  # type: ignore[misc]
    """A barrier of a kernel."""


class _NopView(InstructionView, NoOpInstruction):  # type: ignore[misc]
    """Nothing, in a kernel."""


_VIEWS: dict[str, type[InstructionView]] = {
    "assignment": _AssignmentView,
    "call": _CallView,
    "c": _CView,
    "barrier": _BarrierView,
    "nop": _NopView,
}


class Kernel:
    """One kernel of a program, to look at; transformations take it as they take a program.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", [lp.GlobalArg("a,out", np.float32), ...])
    >>> kernel = knl.default_entrypoint
    >>> [arg.name for arg in kernel.args], kernel.all_inames()
    (['a', 'out', 'n'], frozenset({'i'}))
    >>> print(kernel.instructions[0])
    out[i] = 2*a[i] {id=insn, inames=+i}
    """

    _special: Any = None

    def __init__(self, program: Program, name: str) -> None:
        self.program, self.name = program, name
        self._parts  # noqa: B018 (an unknown name is told here, not later)

    @functools.cached_property
    def _parts(self) -> dict[str, Any]:
        return self.program._describe(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.name == other.name and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return self.program._kernel_text(self.name)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.program(*args, entrypoint=self.name, **named)

    @property
    def args(self) -> list[Any]:
        """Its arguments, in order."""
        return [_argument(parts) for parts in self._parts["args"]]

    @property
    def arg_dict(self) -> dict[str, Any]:
        """Its arguments by name."""
        return {arg.name: arg for arg in self.args}

    @property
    def temporary_variables(self) -> dict[str, TemporaryVariable]:
        """Its own variables by name."""
        made = {}
        for parts in self._parts["temporaries"]:
            said = _layout(parts)
            space = parts["address_space"]
            said["address_space"] = auto if space is None else AddressSpace[space.upper()]
            said.update(read_only=parts["read_only"], base_storage=parts["base_storage"])
            made[parts["name"]] = TemporaryVariable(parts["name"], **said)
        return made

    @property
    def instructions(self) -> list[InstructionView]:
        """Its instructions, in the order written."""
        return [_VIEWS[parts["kind"]](parts, self._special) for parts in self._parts["instructions"]]

    @property
    def id_to_insn(self) -> dict[str, InstructionView]:
        """Its instructions by id."""
        return {insn.id: insn for insn in self.instructions}

    @property
    def inames(self) -> dict[str, Iname]:
        """Its inames by name."""
        return {name: Iname(name, self.iname_tags(name)) for name in self._parts["inames"]}

    def all_inames(self) -> frozenset[str]:
        """The names of its inames."""
        return frozenset(self._parts["inames"])

    def iname_tags(self, name: str) -> frozenset[Any]:
        """The tags of an iname: texts, and objects that it was given."""
        objects = self.program._tag_objects
        return frozenset(objects.get(tag, tag) for tag in self._parts["inames"][name])

    def iname_tags_of_type(self, name: str, kind: type | tuple[type, ...], **unused: Any) -> frozenset[Any]:
        """The tags of an iname that are objects of a class."""
        return self.inames[name].tags_of_type(kind)

    @property
    def tags(self) -> frozenset[Any]:
        """Objects that the kernel carries along."""
        return self.program._kernel_tags.get(self.name, frozenset())

    def tagged(self, tags: Any) -> Any:
        """With further objects to carry along."""
        from ._program import with_tags

        return type(self)(with_tags(self.program, self.name, self.tags | _several(tags)), self.name)

    def without_tags(self, tags: Any, verify_existence: bool = True) -> Any:
        """Without these objects; it is an error if one of them is not there, unless `verify_existence` is false."""
        from ._program import with_tags

        given = _several(tags)
        if verify_existence and not given <= self.tags:
            raise ValueError(f"kernel {self.name!r} does not have the tags {given - self.tags}")
        return type(self)(with_tags(self.program, self.name, self.tags - given), self.name)

    def insn_inames(self, insn: Any) -> frozenset[str]:
        """The inames of an instruction, given itself or by its id."""
        return frozenset((self.id_to_insn[insn] if isinstance(insn, str) else insn).within_inames)

    def outer_params(self) -> frozenset[str]:
        """The names of arguments that are numbers."""
        return frozenset(parts["name"] for parts in self._parts["args"] if parts["kind"] == "value")

    @property
    def domains(self) -> list[str]:
        """Its domains, as text."""
        return list(self._parts["domains"])

    def parents_per_domain(self) -> list[int | None]:
        """For each domain the one that it is nested in."""
        return list(self._parts["parents"])

    @property
    def substitutions(self) -> dict[str, SubstitutionRule]:
        """Its substitution rules by name."""
        rules = self._parts["substitutions"]
        return {name: SubstitutionRule(name, tuple(names), build(tree, self._special)) for name, names, _, tree in rules}

    @property
    def assumptions(self) -> str:
        """What is promised of its parameters, as text."""
        return str(self._parts["assumptions"])

    def all_params(self) -> frozenset[str]:
        """The names of the parameters of its domains."""
        return frozenset(self._parts["parameters"])

    def get_written_variables(self) -> frozenset[str]:
        """The names of all that it writes."""
        return frozenset(name for parts in self._parts["instructions"] for name in parts["writes"])

    def get_read_variables(self) -> frozenset[str]:
        """The names of all that it reads."""
        return frozenset(name for parts in self._parts["instructions"] for name in parts["reads"])

    @property
    def loop_priority(self) -> frozenset[tuple[str, ...]]:
        """Chains of inames in the order that loops must nest in."""
        return frozenset(tuple(chain) for chain in self._parts["loop_priority"])

    @property
    def preambles(self) -> tuple[tuple[str, str], ...]:
        """Texts in front of its code."""
        return tuple(self._parts["preambles"])

    @property
    def index_dtype(self) -> Any:
        """The type of indices."""
        return self._parts["index_dtype"]

    @property
    def options(self) -> Any:
        """Choices about code and checks."""
        from ._program import Options

        return Options(**self._parts["options"])

    @property
    def target(self) -> Any:
        """What code is written for, if it was said."""
        return self.program.target

    def copy(self, **changed: Any) -> Any:
        """The same kernel; with other options if they are given. Everything else is changed with transformations."""
        program = self.program
        options = changed.pop("options", None)
        for name in ("state", "iname_slab_increments"):
            changed.pop(name, None)
        if changed:
            raise LoopError(f"a kernel cannot be copied with a different {', '.join(changed)}; use a transformation")
        if options is not None:
            from ._program import then

            program = then(program, "_with_options", options if isinstance(options, dict) else vars(options))
        return type(self)(program, self.name)


def _several(given: Any) -> frozenset[Any]:
    """One object, or several."""
    return frozenset(given) if isinstance(given, (list, tuple, set, frozenset)) else frozenset([given])


def _layout(parts: dict[str, Any]) -> dict[str, Any]:
    shape = parts["shape"]
    said: dict[str, Any] = {"dtype": parts["dtype"], "order": parts["order"], "offset": parts["offset"]}
    said["shape"] = auto if shape == "auto" else None if shape == "unknown" else tuple(map(_length, shape))
    if parts["dim_tags"]:
        said["dim_tags"] = tuple(map(dim_tag, parts["dim_tags"]))
    if parts["dim_names"]:
        said["dim_names"] = tuple(parts["dim_names"])
    return said


def _length(text: str) -> Any:
    """A length: an integer, else an expression."""
    if text.lstrip("-").isdigit():
        return int(text)
    built = build(_loop_expression_tree(text))
    return text if isinstance(built, tuple) else built


def _argument(parts: dict[str, Any]) -> Any:
    kind = parts["kind"]
    if kind == "object":
        return ObjectArg(parts["name"], dtype=parts["dtype"])
    if kind == "value":
        return ValueArg(parts["name"], dtype=parts["dtype"])
    said = {} if kind == "image" else _layout(parts)
    said.update(is_input=parts["is_input"], is_output=parts["is_output"], tags=frozenset(parts["tags"]))
    if kind == "image":
        return ImageArg(parts["name"], dtype=parts["dtype"], **said)
    if kind in ("private", "local"):
        return ArrayArg(parts["name"], address_space=AddressSpace[kind.upper()], **said)
    return {"constant": ConstantArg, "global": GlobalArg}[kind](parts["name"], **said)
