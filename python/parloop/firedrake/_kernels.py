"""Kernels of PyOP2 as ours: programs of loopy are printed by loopy itself, sources in C and C++ are taken as they are."""

from __future__ import annotations

import dataclasses
import importlib
import re
import weakref
from typing import Any

import numpy as np

from ..mesh._described import Source
from ._dense import GEMM, with_own_systems
from ._left import LeftToPyOP2
from ._weak import ByIdentity

#: What PyOP2 puts in front of every kernel, but for PETSc's header.
_HEADERS = ("#include <math.h>", "#include <complex.h>", "#include <stdint.h>", "#include <stdlib.h>", "#include <string.h>", "#include <stdbool.h>")

#: PETSc names, and for types among them their names in petsc4py.
_PETSC = re.compile(r"\b(?:Petsc|PETSC_|MPI_|BLAS|LAPACK)\w*")
_PETSC_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]petsc\w*\.h[>\"].*$", re.MULTILINE)
_PETSC_TYPES = {"PetscScalar": "ScalarType", "PetscReal": "RealType", "PetscInt": "IntType"}

#: The meaning of PETSc macros if its scalars are real.
_PETSC_MACROS = {
    "PetscRealPart": "#define PetscRealPart(a) (a)", "PetscConj": "#define PetscConj(a) (a)", "PetscAbsReal": "#define PetscAbsReal(a) fabs(a)",
    "PetscAbsScalar": "#define PetscAbsScalar(a) fabs(a)", "PetscSqrtReal": "#define PetscSqrtReal(a) sqrt(a)",
}  # fmt: skip

#: A variable inside of a function that keeps its value from one call to the next.
_KEEPS = re.compile(r"\bstatic\s+(?!const\b|inline\b|constexpr\b)(?:[A-Za-z_]\w*[\s*]+)+[A-Za-z_]\w*\s*(?:\[[^\]]*\]\s*)*(?:=|;)")

_TYPES = {
    "float64": "double", "float32": "float", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t",
    "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Call:
    """How a loop calls a kernel, beyond the kernel itself."""

    #: For each argument the numbers that are set to zero before the kernel writes them, or 0.
    zeroed: tuple[int, ...]
    #: Whether the number of the layer comes behind all arguments.
    passes_layer: bool


_known: ByIdentity[dict[Call, Source]] = ByIdentity()
_by_content: weakref.WeakValueDictionary[Any, Source] = weakref.WeakValueDictionary()


def source_of(local: Any, call: Call) -> Source:
    """A local kernel of PyOP2's, as it is called."""
    known = _known.setdefault(local, dict)
    if (found := known.get(call)) is None:
        # Kernels are made again and again of the same source.
        content = (local.cache_key, call)
        found = _by_content.get(content)
        if found is None:
            _by_content[content] = found = _made(local, call)
        known[call] = found
    return found


def _text_of(local: Any) -> str:
    """The source of a local kernel, in C or C++."""
    if isinstance(local.code, str):
        return str(local.code)
    loopy, program = importlib.import_module("loopy"), local.code
    try:
        return _printed(loopy, program, local.name)
    except loopy.diagnostic.LoopyError as error:
        fitting = _with_axes_as_used(loopy, program, local.name)
        if fitting is program:
            raise LeftToPyOP2(f"a kernel that loopy cannot print on its own ({type(error).__name__})") from error
    try:
        return _printed(loopy, fitting, local.name)
    except loopy.diagnostic.LoopyError as error:
        raise LeftToPyOP2(f"a kernel that loopy cannot print on its own ({type(error).__name__})") from error


def _printed(loopy: Any, program: Any, name: str) -> str:
    # A number that PyOP2's loop passes, as that of the layer, has its type from there.
    untyped = {arg.name: np.int32 for arg in program[name].args if isinstance(arg, loopy.ValueArg) and arg.dtype in (None, loopy.auto)}
    return str(loopy.generate_code_v2(loopy.add_dtypes(program, untyped) if untyped else program).device_code())


def _with_axes_as_used(loopy: Any, program: Any, name: str) -> Any:
    """The program without last axes of length 1 that its subscripts leave out: PyOP2's loop passes such arguments without them."""
    found = importlib.import_module("loopy.symbolic").DependencyMapper(include_subscripts=True)
    kernel = program[name]
    used: dict[str, set[int]] = {}
    for instruction in kernel.instructions:
        for expression in (getattr(instruction, "assignee", None), getattr(instruction, "expression", None)):
            for part in found(expression) if expression is not None else ():
                if hasattr(part, "index_tuple"):
                    used.setdefault(part.aggregate.name, set()).add(len(part.index_tuple))
    args = []
    for arg in kernel.args:
        shape = getattr(arg, "shape", None)
        if isinstance(shape, tuple) and len(shape) > 1 and shape[-1] == 1 and used.get(arg.name) == {len(shape) - 1}:
            arg = loopy.GlobalArg(arg.name, dtype=arg.dtype, shape=shape[:-1], is_input=arg.is_input, is_output=arg.is_output)
        args.append(arg)
    return program if args == list(kernel.args) else program.with_kernel(kernel.copy(args=args))


def _made(local: Any, call: Call) -> Source:
    # PyOP2 accepts `user_code` and puts it nowhere.
    theirs = importlib.import_module("pyop2.codegen.rep2loopy")
    text, name = _text_of(local), str(local.name)
    code = with_own_systems(text, {"solve": theirs.solve_preamble, "inverse": theirs.inverse_preamble})
    if code != text and np.dtype(importlib.import_module("petsc4py.PETSc").ScalarType) != np.float64:
        raise LeftToPyOP2("a kernel that solves dense systems of other numbers than double")
    if "PetscLogEvent" in code:
        raise LeftToPyOP2("a kernel with events of PETSc's log")
    if isinstance(local.code, str) and _KEEPS.search(code):
        raise LeftToPyOP2("a kernel that keeps values between calls")
    # What these kernels use of PETSc is written out below, and its header is left away.
    text, code = _PETSC_HEADER.sub("", text), _PETSC_HEADER.sub("", code)
    headers = [line for line in (*local.headers, *_HEADERS) if not _PETSC_HEADER.match(line)]
    folders = [str(folder) for folder in local.include_dirs]
    if local.cpp:
        headers.remove("#include <complex.h>")
    headers += _petsc_names(set(_PETSC.findall(code)))
    if "BLASgemm_" in code:
        code = GEMM + code
    # What kernels of the form compiler and those above link with is written out in them.
    is_whole = code != text or not isinstance(local.code, str)
    libraries = () if is_whole else tuple(str(word) for word in local.ldargs)
    if any(call.zeroed):
        code, name = f"{code}\n{_zeroing(local, call)}", f"zeroed_{name}"
    return Source(code, name, tuple(headers), tuple(folders), bool(local.cpp), libraries)


def _petsc_names(names: set[str]) -> list[str]:
    """The meaning of PETSc names. Its header takes long to compile, and its functions are not available in our kernels."""
    petsc = importlib.import_module("petsc4py.PETSc")
    if names and np.dtype(petsc.ScalarType) != np.float64:
        raise LeftToPyOP2(f"a kernel that uses PETSc's numbers of type {np.dtype(petsc.ScalarType)}")
    if others := names - set(_PETSC_TYPES) - set(_PETSC_MACROS) - {"PetscBLASInt", "BLASgemm_"}:
        raise LeftToPyOP2(f"a kernel that uses {min(others)} of PETSc")
    types = ["typedef int PetscBLASInt;"] if "PetscBLASInt" in names else []
    types += [f"typedef {_c_type(getattr(petsc, given))} {name};" for name, given in _PETSC_TYPES.items() if name in names]
    return types + [line for name, line in _PETSC_MACROS.items() if name in names]


def _c_type(dtype: Any) -> str:
    name = np.dtype(dtype).name
    if name not in _TYPES:
        raise LeftToPyOP2(f"a kernel with numbers of type {name}")
    return _TYPES[name]


def _zeroing(local: Any, call: Call) -> str:
    """A function that sets to zero what the kernel is to write, and calls it."""
    as_numpy = importlib.import_module("pyop2.datatypes").as_numpy_dtype
    types = []
    for dtype in local.dtypes:
        try:
            types.append(_c_type(as_numpy(dtype)))
        except (ValueError, TypeError):
            raise LeftToPyOP2("a kernel with an argument whose type is not known") from None
    names = [f"a{place}" for place in range(len(types))]
    params, args = [f"{dtype} *{name}" for dtype, name in zip(types, names, strict=True)], list(names)
    if call.passes_layer:
        params.append("int layer")
        args.append("layer")
    zero = "".join(
        f"    for (int i = 0; i < {count}; i++) {name}[i] = 0;\n" for name, count in zip(names, call.zeroed, strict=True) if count
    )
    return f"void zeroed_{local.name}({', '.join(params)}) {{\n{zero}    {local.name}({', '.join(args)});\n}}\n"
