"""`t_unit_to_python`: Python that makes a program again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...loops import Kernel, Program, ValueArg
from ...loops._expressions import text
from .diagnostic import LoopyError

__all__ = ["t_unit_to_python"]

_PREAMBLE = "import loopy as lp\nimport numpy as np\n"


def t_unit_to_python(t_unit: Program, var_name: str = "t_unit", return_preamble_and_body_separately: bool = False) -> Any:
    """Python text that assigns the program to `var_name`. It is run once here, and must give the same kernels.

    Raises
    ------
    LoopyError
        For what has no text: functions written in Python, initial values of temporaries, and options that only a transformation makes.
    """
    lines, names = [], []
    for place, (name, is_kernel, function) in enumerate(t_unit._callables):
        if function is not None:
            raise LoopyError(f"{name!r} is a function written in Python, which has no text; register it again after the program was made")
        if is_kernel:
            names.append(f"{var_name}_{place}")
            lines += _kernel(t_unit[name], names[-1], name in t_unit.entrypoints)
    lines.append(f"{var_name} = lp.merge([{', '.join(names)}])" if len(names) > 1 else f"{var_name} = {names[0]}")
    if len(names) > 1:
        lines.append(f"{var_name} = {var_name}.with_entrypoints({sorted(t_unit.entrypoints)!r})")
    body = "\n".join(lines) + "\n"
    _check(t_unit, body, var_name)
    return (_PREAMBLE, body) if return_preamble_and_body_separately else f"{_PREAMBLE}\n{body}"


def _check(t_unit: Program, body: str, var_name: str) -> None:
    import parloop.compat._loopy as lp

    scope: dict[str, Any] = {"lp": lp, "np": np}
    exec(body, scope)
    if str(scope[var_name]) != str(t_unit):
        raise LoopyError("the program has parts that this text does not make again; pickle it instead")


def _kernel(kernel: Kernel, name: str, is_entry: bool) -> list[str]:
    parts = kernel._parts
    made = "make_kernel" if is_entry else "make_function"
    rules = [f"{rule}({', '.join(parameters)}) := {body}" for rule, parameters, body, _ in parts["substitutions"]]
    instructions = [*rules, *(insn["text"] for insn in parts["instructions"])]
    data = [_data(arg) for arg in (*kernel.args, *kernel.temporary_variables.values())]
    options = {key: value for key, value in parts["options"].items() if value not in (None, [], "None", "[]")}
    lines = [f"{name} = lp.{made}("]
    lines += [f"    {parts['domains']!r},", f"    {instructions!r},", "    ["]
    lines += [f"        {item}," for item in data]
    lines += ["    ],", f"    name={kernel.name!r},", f"    assumptions={_condition(parts['assumptions'])!r},"]
    lines += [f"    options={options!r},", f"    index_dtype=np.{np.dtype(kernel.index_dtype).name},"]
    if kernel.program._target:
        lines.append(f"    target={kernel.program._target!r},")
    lines.append(")")
    tags = {iname: list(given) for iname, given in parts["inames"].items() if given}
    if tags:
        lines.append(f"{name} = lp.tag_inames({name}, {tags!r})")
    lines += [f"{name} = lp.prioritize_loops({name}, {list(chain)!r})" for chain in sorted(parts["loop_priority"]) if len(chain) > 1]
    return lines


def _condition(assumptions: str) -> str | None:
    """What stands behind the colon of a set without dimensions."""
    written = assumptions.partition("{")[2].partition(":")[2].rpartition("}")[0].strip()
    return written or None


def _data(item: Any) -> str:
    said = [repr(item.name)]
    for key, value in item._said.items():
        if value is None or key == "tags" and not value:
            continue
        if key == "dtype":
            said.append(f"dtype=np.{np.dtype(value).name}")
        elif key == "shape" and isinstance(value, tuple):
            said.append(f"shape=({''.join(f'{_length(length)}, ' for length in value)})")
        elif key == "dim_tags":
            said.append(f"dim_tags={[str(tag) for tag in value]!r}")
        elif key == "address_space":
            said.append(f"address_space=lp.{'auto' if not hasattr(value, 'name') else f'AddressSpace.{value.name}'}")
        elif isinstance(value, type):
            said.append(f"{key}=lp.auto")
        else:
            said.append(f"{key}={value!r}")
    kind = "TemporaryVariable" if type(item).__name__ == "TemporaryVariable" else "ValueArg" if isinstance(item, ValueArg) else type(item).__name__
    return f"lp.{kind}({', '.join(said)})"


def _length(length: Any) -> str:
    return str(length) if isinstance(length, int) else repr(text(length))
