"""Random classes of objects with random values, and kernels by which C reads and changes every number of an object."""

import itertools

import numpy as np
from hypothesis import strategies as st

import parloop.objects as xo

SCALARS = [xo.Float64, xo.Float32, xo.Int64, xo.UInt64, xo.Int32, xo.UInt32, xo.Int16, xo.UInt16, xo.Int8, xo.UInt8]
ALL_SCALARS = [*SCALARS, xo.Bool, xo.Complex64, xo.Complex128]
#: This many numbers of an object are looked at by C, to keep sources short.
MOST = 60


class Names:
    """Names of classes, the same ones for each example."""

    def __init__(self):
        self.next = map("T{}".format, itertools.count())

    def struct(self, fields):
        return type(xo.Struct)(next(self.next), (xo.Struct,), fields)

    def union(self, members):
        return type(xo.UnionRef)(next(self.next), (xo.UnionRef,), {"_reftypes": tuple(members)})


@st.composite
def structs(draw, depth=3, names=None):
    """A class with fields of all kinds, nested up to `depth` times."""
    names = names or Names()
    fields = draw(st.lists(types(depth - 1, names), min_size=1, max_size=3))
    return names.struct({"abc"[index]: ftype for index, ftype in enumerate(fields)})


def types(depth, names):
    simple = st.sampled_from([*ALL_SCALARS, xo.String])
    if depth <= 0:
        return simple
    return st.one_of(simple, structs(depth, names), arrays(depth, names), refs(depth, names), unions(depth, names))


@st.composite
def arrays(draw, depth, names):
    item = draw(types(depth - 1, names))
    dims = draw(st.lists(st.sampled_from([None, 1, 2, 3]), min_size=1, max_size=3))
    order = draw(st.permutations(range(len(dims))))
    return item[tuple(slice(dim, place) for dim, place in zip(dims, order, strict=True))]


@st.composite
def refs(draw, depth, names):
    return xo.Ref(draw(st.one_of(structs(depth - 1, names), arrays(depth - 1, names))))


@st.composite
def unions(draw, depth, names):
    members = draw(st.lists(structs(depth - 1, names), min_size=1, max_size=2))
    return names.union([*members, xo.Float64[:]])


def values(cls):
    """Plain values of a class: numbers, texts, lists, dicts, pairs for unions, None for null."""
    if isinstance(cls, xo.Scalar):
        return _numbers(cls._dtype)
    if cls is xo.String:
        return st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
    if isinstance(cls, xo.Ref):
        return st.none() | values(cls._reftype)
    if issubclass(cls, xo.UnionRef):
        pairs = [st.tuples(st.just(member.__name__), values(member)) for member in cls._reftypes]
        return st.none() | st.one_of(pairs)
    if issubclass(cls, xo.Struct):
        return st.fixed_dictionaries({field.name: values(field.ftype) for field in cls._fields})
    dims = [st.integers(1, 3) if dim is None else st.just(dim) for dim in cls._shape]
    return st.tuples(*dims).flatmap(lambda shape: _lists(values(cls._itemtype), shape))


def _numbers(dtype):
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        return st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    exact = {"allow_nan": False, "allow_infinity": False, "allow_subnormal": False}
    if dtype.kind == "f":
        return st.floats(width=8 * dtype.itemsize, **exact)
    part = st.floats(width=4 * dtype.itemsize, **exact)
    return st.builds(complex, part, part)


def _lists(items, shape):
    for dim in reversed(shape):
        items = st.lists(items, min_size=dim, max_size=dim)
    return items


@st.composite
def objects(draw, depth=3):
    """A class and a plain value of it."""
    cls = draw(structs(depth))
    return cls, draw(values(cls))


class Leaf:
    """One number of an object: how C gets it, how C changes it, and what it should be."""

    def __init__(self, get, kind, expected, change=None):
        self.get, self.kind, self.expected, self.change = get, kind, expected, change


def leaves(cls, value, root, owner=None, path="", index=()):
    """The numbers of a value of class `cls`, which is at `path` of the object `root` of class `owner` in C."""
    owner = owner or cls.__name__
    inside = ", ".join([root, *map(str, index)])
    place = f"{len(index) or ''}{path}"
    if isinstance(cls, xo.Scalar) and cls._dtype.kind == "c":
        pointer = f"{owner}_getp{place}({inside})"
        for part, number in enumerate((value.real, value.imag)):
            yield Leaf(f"{pointer}[{part}]", "f", number, f"{pointer}[{part}] = -{pointer}[{part}]")
    elif isinstance(cls, xo.Scalar):
        get = f"{owner}_get{path}({inside})"
        kind, new = {"f": ("f", f"-{get}"), "b": ("i", f"!{get}")}.get(cls._dtype.kind, ("i", f"{get} ^ 1"))
        yield Leaf(get, kind, value, f"{owner}_set{path}({inside}, {new})")
    elif cls is xo.String:
        for position, byte in enumerate([*value.encode(), 0]):
            yield Leaf(f"(uint8_t)({owner}_str{place}({inside}))[{position}]", "i", byte)
    elif isinstance(cls, xo.Ref):
        if value is not None:
            yield from leaves(cls._reftype, value, root, owner, path, index)
    elif issubclass(cls, xo.UnionRef):
        yield Leaf(f"{owner}_typeid{path}({inside})", "i", -1 if value is None else cls._typeid_from_name(value[0]))
        if value is not None:
            yield from leaves(cls._type_from_name(value[0]), value[1], f"(({value[0]}){owner}_member{path}({inside}))")
    elif issubclass(cls, xo.Struct):
        for field in cls._fields:
            yield from leaves(field.ftype, value[field.name], root, owner, f"{path}_{field.name}", index)
    else:
        shape = shape_of(value, len(cls._shape))
        yield Leaf(f"{owner}_len{place}({inside})", "i", int(np.prod(shape)))
        for axis, dim in enumerate(shape):
            yield Leaf(f"{owner}_dim{place}({inside}, {axis})", "i", dim)
        for at in np.ndindex(*shape):
            yield from leaves(cls._itemtype, item_of(value, at), root, owner, path, (*index, *at))


def shape_of(value, axes):
    shape = []
    for _ in range(axes):
        shape.append(len(value))
        value = value[0]
    return tuple(shape)


def item_of(value, index):
    for at in index:
        value = value[at]
    return value


def changed(cls, value):
    """The value after C changed each number of it."""
    if isinstance(cls, xo.Scalar):
        kind = cls._dtype.kind
        return not value if kind == "b" else value ^ 1 if kind in "iu" else -value
    if cls is xo.String or value is None:
        return value
    if isinstance(cls, xo.Ref):
        return changed(cls._reftype, value)
    if issubclass(cls, xo.UnionRef):
        return value[0], changed(cls._type_from_name(value[0]), value[1])
    if issubclass(cls, xo.Struct):
        return {field.name: changed(field.ftype, value[field.name]) for field in cls._fields}

    def each(part, axes):
        return changed(cls._itemtype, part) if axes == 0 else [each(item, axes - 1) for item in part]

    return each(value, len(cls._shape))


def kernels(cls, found):
    """The source and the descriptions of `look`, which stores the leaves, and `change`, which changes them."""
    stores = [f"{'n' if leaf.kind == 'i' else 'd'}[{at}] = {leaf.get};" for at, leaf in enumerate(found)]
    changes = [f"{leaf.change};" for leaf in found if leaf.change]
    text = "\n".join([
        f"GPUKERN void look({cls.__name__} o, GPUGLMEM int64_t *n, GPUGLMEM double *d) {{", *stores, "}",
        f"GPUKERN void change({cls.__name__} o) {{", *changes, "}",
    ])  # fmt: skip
    own = xo.Arg(cls, name="o")
    outputs = [xo.Arg(xo.Int64, pointer=True, name="n"), xo.Arg(xo.Float64, pointer=True, name="d")]
    return text, {"look": xo.Kernel(args=[own, *outputs], n_threads=1), "change": xo.Kernel(args=[own], n_threads=1)}


def seen_by_c(built, made, found):
    """The numbers that C sees, beside those that it should see."""
    n, d = np.zeros(len(found) + 1, np.int64), np.zeros(len(found) + 1)
    built["look"](o=made, n=n, d=d)
    seen = [int(n[at]) if leaf.kind == "i" else d[at].item() for at, leaf in enumerate(found)]
    wanted = [int(np.array(leaf.expected).astype(np.int64)) if leaf.kind == "i" else leaf.expected for leaf in found]
    return seen, wanted
