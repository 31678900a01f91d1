"""Classes whose equal instances are one object, as PyOP2's programs expect: `s ** 2 is s ** 2`."""

from __future__ import annotations

import weakref
from typing import Any

__all__ = ["OneOfEqual", "identities"]

#: What was made, by its class and the identities of what it was made of. An object keeps its parts alive, so that their identities stand.
_MADE: weakref.WeakValueDictionary[Any, Any] = weakref.WeakValueDictionary()


class OneOfEqual(type):
    """The type of such classes. Their method `_given` says what to make of arguments, and by which key it is found again; `None` is by none."""

    #: Classes whose instances count as instances too.
    _others: tuple[type, ...] = ()

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        kind, given, key = cls._given(*args, **kwargs)  # type: ignore[attr-defined]
        if key is None:
            return type.__call__(kind, *given)
        found = _MADE.get((kind, key))
        return _MADE.setdefault((kind, key), type.__call__(kind, *given)) if found is None else found

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or isinstance(instance, cls._others)


def identities(parts: Any) -> tuple[int, ...]:
    """A key of the identities of parts."""
    return tuple(map(id, parts))
