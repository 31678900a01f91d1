"""Instructions as objects; a kernel takes each as the line that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ._expressions import text

__all__ = [
    "Assignment",
    "BarrierInstruction",
    "CInstruction",
    "CallInstruction",
    "InstructionBase",
    "MultiAssignmentBase",
    "NoOpInstruction",
    "make_assignment",
]

_OPTIONS = {
    "depends_on": "dep",
    "groups": "groups",
    "conflicts_with_groups": "conflicts",
    "within_inames": "inames",
    "tags": "tags",
    "priority": "priority",
    "predicates": "if",
    "no_sync_with": "nosync",
}


class InstructionBase:
    """What all instructions can be told: an id, what they depend on, their inames, groups, tags, predicates and priority."""

    id: str | None

    def __init__(self, id: str | None = None, **said: Any) -> None:  # noqa: A002 (the name users know)
        self.id = id
        for name in said:
            if name not in _OPTIONS and name not in ("depends_on_is_final", "within_inames_is_final", "atomicity", "mem_kind"):
                raise TypeError(f"{type(self).__name__} has no option {name!r}")
        self._said = {name: value for name, value in said.items() if value is not None}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._said[name]
        except KeyError:
            if name in _OPTIONS:
                return 0 if name == "priority" else frozenset()
            raise AttributeError(f"{type(self).__name__} has no {name!r}") from None

    def __str__(self) -> str:
        options = ", ".join(self._options())
        return self._body() + (f" {{{options}}}" if options else "") + self._tail()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def _body(self) -> str:
        raise TypeError(f"{type(self).__name__} is abstract; use Assignment, CallInstruction, CInstruction or another subclass")

    def _tail(self) -> str:
        return ""

    def _options(self) -> list[str]:
        options = [] if self.id is None else [f"id={self.id}"]
        for name, value in self._said.items():
            written = self._option(name, value)
            if written is not None:
                options.append(written)
        return options

    def _option(self, name: str, value: Any) -> str | None:
        if name == "depends_on" and self._said.get("depends_on_is_final"):
            return f"dep=*{_names(value)}"
        if name == "within_inames":
            final = self._said.get("within_inames_is_final", True)
            return f"inames={'' if final else '+'}{_names(value)}"
        if name == "no_sync_with":
            return f"nosync={':'.join(f'{other}@{scope}' for other, scope in value)}" if value else None
        if name == "predicates":
            return f"if={':'.join(f'({text(item)})' for item in value)}" if value else None
        if name == "priority":
            return f"priority={value}"
        if name == "mem_kind":
            return f"mem_kind={value}"
        if name == "atomicity":
            return "atomic" if value else None
        if name in _OPTIONS:
            return f"{_OPTIONS[name]}={_names(value)}" if value else None
        return None


def _names(value: str | Iterable[Any]) -> str:
    return value.replace(",", ":") if isinstance(value, str) else ":".join(sorted(map(str, value)))


# What is called where the type of a variable is given that an assignment declares; for programs of peers that warn of it.
on_declared_type: Callable[[Any], None] | None = None

_NOT_GIVEN: Any = object()


def _declared(given: Any) -> Any:
    if given is _NOT_GIVEN:
        return None
    if on_declared_type is not None:
        on_declared_type(given)
    return given


class MultiAssignmentBase(InstructionBase):
    """What assigns: an `Assignment` or a `CallInstruction`."""

    assignees: tuple[Any, ...]
    expression: Any
    _types: tuple[Any, ...] = ()

    def _body(self) -> str:
        declared = [*self._types, *([None] * len(self.assignees))]
        left = ", ".join(_declaration(dtype) + text(item) for item, dtype in zip(self.assignees, declared))
        return f"{left} = {text(self.expression)}" if left else text(self.expression)


def _declaration(dtype: Any) -> str:
    """`<float32> ` in front of what is declared; `<> ` for a type that is found."""
    from ._data import auto

    if dtype is None:
        return ""
    if dtype is auto:
        return "<> "
    # An optional type is declared only if it was said.
    if type(dtype).__name__ == "Optional":
        return _declaration(dtype.value) if dtype.has_value and dtype.value is not None else "<> " if dtype.has_value else ""
    import numpy as np

    return f"<{np.dtype(getattr(dtype, 'numpy_dtype', dtype)).name}> "


class Assignment(MultiAssignmentBase):
    """``assignee = expression``.

    >>> import parloop.loops as lp
    >>> print(lp.Assignment("out[i]", "2*a[i]", id="double", within_inames={"i"}))
    out[i] = 2*a[i] {id=double, inames=i}
    """

    def __init__(
        self,
        assignee: Any,
        expression: Any,
        id: str | None = None,  # noqa: A002
        temp_var_type: Any = _NOT_GIVEN,
        **said: Any,
    ) -> None:
        super().__init__(id, **said)
        self.assignee, self.assignees, self.expression = assignee, (assignee,), expression
        self._types = (_declared(temp_var_type),)


class CallInstruction(MultiAssignmentBase):
    """``a, b = f(x)``: a call with several results, or with arrays as results."""

    def __init__(
        self,
        assignees: Any,
        expression: Any,
        id: str | None = None,  # noqa: A002
        temp_var_types: Any = (),
        **said: Any,
    ) -> None:
        super().__init__(id, **said)
        self.assignees = (assignees,) if isinstance(assignees, str) else tuple(assignees)
        self.expression, self._types = expression, tuple(_declared(given) for given in temp_var_types or ())


class CInstruction(InstructionBase):
    """Text in C.

    Parameters
    ----------
    iname_exprs : list
        Names that the text uses: an iname, or a pair of a name in C and the expression that it stands for.
    code : str
        The text.
    read_variables, assignees : optional
        What it reads and writes.
    """

    def __init__(
        self,
        iname_exprs: Any,
        code: str,
        read_variables: Any = (),
        assignees: Any = (),
        id: str | None = None,  # noqa: A002
        **said: Any,
    ) -> None:
        super().__init__(id, **said)
        pairs = [name.strip() for name in iname_exprs.split(",") if name.strip()] if isinstance(iname_exprs, str) else list(iname_exprs)
        given = [(item, item) if isinstance(item, str) else (item[0], item[1]) for item in pairs]
        self.iname_exprs = list(dict(given).items())
        self.code = code
        self.read_variables = frozenset([read_variables] if isinstance(read_variables, str) else read_variables)
        self.assignees = (assignees,) if isinstance(assignees, str) else tuple(assignees)

    def _body(self) -> str:
        return "... c"

    def _options(self) -> list[str]:
        options = super()._options()
        if self.read_variables:
            options.append(f"reads={_names(self.read_variables)}")
        if self.assignees:
            options.append(f"writes={':'.join(map(text, self.assignees))}")
        if self.iname_exprs:
            options.append(f"bind={':'.join(f'{name}->{text(value)}' for name, value in self.iname_exprs)}")
        return options

    def _tail(self) -> str:
        escaped = self.code.replace("\\", "\\\\").replace('"', '\\"')
        return f' """{escaped}"""'


class NoOpInstruction(InstructionBase):
    """Nothing: a place for dependencies."""

    def _body(self) -> str:
        return "... nop"


class BarrierInstruction(InstructionBase):
    """Everything before it is done, and seen, before anything after it."""

    def __init__(self, id: str | None = None, synchronization_kind: str = "global", **said: Any) -> None:  # noqa: A002
        super().__init__(id, **said)
        self.synchronization_kind = synchronization_kind

    def _body(self) -> str:
        return "... lbarrier" if self.synchronization_kind == "local" else "... gbarrier"


def make_assignment(assignees: Any, expression: Any, temp_var_types: Any = None, **said: Any) -> InstructionBase:
    """An `Assignment` for one assignee, else a `CallInstruction`."""
    assignees = tuple(assignees)
    if len(assignees) == 1:
        return Assignment(assignees[0], expression, temp_var_type=temp_var_types[0] if temp_var_types else _NOT_GIVEN, **said)
    return CallInstruction(assignees, expression, temp_var_types=temp_var_types, **said)
