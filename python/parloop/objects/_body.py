"""What people write in the body of a struct in place of the types of fields, and what to write instead."""

from __future__ import annotations

import inspect
import re
from collections.abc import Container
from typing import Any

import numpy as np

from .._parloop import _ObjectType
from . import _scalar

_BY_DTYPE = {scalar._dtype.name: public for public, scalar in vars(_scalar).items() if isinstance(scalar, _scalar.Scalar)}
_BY_NAME = {"float": "Float64", "double": "Float64", "int": "Int64", "bool": "Bool", "complex": "Complex128", "str": "String", "String": "String"}
_BY_NAME.update(_BY_DTYPE, **{public: public for public in _BY_DTYPE.values()})
#: Codes of NumPy's with a size, `f8` and `<i4`. A single letter is as likely to be a value.
_CODE = re.compile(r"[<>=|]?[biufc]\d+")
#: A name, of a module or not, perhaps with a shape: `xo.Float64[:]`.
_NAME = re.compile(r"(?:\w+\.)*(?P<last>\w+)(?P<shape>\[.*\])?")


def check_value(struct: str, name: str, value: Any) -> None:
    """Refuses a value in the body of a struct that is probably the type of a field."""
    if isinstance(value, str):
        is_type, instead = (found := _of_text(value)) is not None, found
    else:
        is_type, instead = _of_type(value)
    if is_type:
        shown = value.__name__ if isinstance(value, type) else repr(value)
        raise TypeError(f"{struct}.{name}: {shown} is not a type of parloop.objects; {_advice(name, instead)}")


def check_annotations(struct: type, declared: Container[str]) -> None:
    """Refuses an annotation in the body of a struct that is probably the type of a field; with `ClassVar` it is an attribute of Python's own."""
    try:
        annotations = inspect.get_annotations(struct)
    except NameError:  # from Python 3.14 on they are evaluated here
        return
    for name, annotation in annotations.items():
        if name.startswith("_") or name in declared:
            continue
        if isinstance(annotation, str):
            is_type, instead = (found := _of_text(annotation.strip("'\""))) is not None, found
        else:
            is_type, instead = _of_type(annotation)
        if is_type:
            shown = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", repr(annotation))
            own = "annotate an attribute of Python's own as ClassVar"
            raise TypeError(f"{struct.__name__}.{name}: the annotation `{shown}` does not make a field; {_advice(name, instead)} ({own})")


def _advice(name: str, instead: str | None) -> str:
    return f"write `{name} = {instead}`" if instead else f"write `{name} = …` with one of its types: {', '.join(_BY_DTYPE.values())}, String, arrays, structs"


def _of_type(value: Any) -> tuple[bool, str | None]:
    """Whether a value is a type of numbers or text, or of ours, and what to write for it where that is known."""
    if isinstance(value, _scalar.Scalar):
        return True, f"xo.{_BY_DTYPE[value._dtype.name]}"
    if hasattr(value, "_XoStruct") or isinstance(getattr(value, "_type", None), _ObjectType):
        return True, None
    if isinstance(value, type) and issubclass(value, (int, float, complex, str)) and value.__module__ == "builtins":
        return True, f"xo.{_BY_NAME[value.__name__]}"
    if isinstance(value, np.dtype) or isinstance(value, type) and issubclass(value, (np.number, np.bool_)):
        dtype = value if isinstance(value, np.dtype) else np.dtype(value)
        found = _BY_DTYPE.get(dtype.name)
        return True, f"xo.{found}" if found else None
    return False, None


def _of_text(text: str) -> str | None:
    """What to write for the name or the code of a type."""
    if _CODE.fullmatch(text):
        try:
            found = _BY_DTYPE.get(np.dtype(text).name)
        except TypeError:
            return None
        return f"xo.{found}" if found else None
    parts = _NAME.fullmatch(text)
    found = parts and _BY_NAME.get(parts["last"])
    return f"xo.{found}{parts['shape'] or ''}" if parts and found else None
