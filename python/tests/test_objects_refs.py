"""References and unions: what they refer to, what they keep alive, and what is copied."""

import gc
import pickle

import numpy as np
import pytest
from conftest import DEVICES, open_context

import parloop as pl
import parloop.objects as xo


class Leaf(xo.Struct):
    x = xo.Float64
    name = xo.Field(xo.String, default="leaf")


class Tree(xo.Struct):
    n = xo.Int64
    leaf = xo.Ref(Leaf)
    leaves = xo.Ref(Leaf)[:]
    numbers = xo.Ref[xo.Float64[:]]


class Any(xo.UnionRef):
    _reftypes = (Leaf, Tree, xo.Float64[:])


class Holder(xo.Struct):
    one = Any
    many = Any[:]


def test_a_reference_to_an_object_of_the_same_buffer_is_that_object(ctx):
    buffer = ctx.new_buffer(500)
    leaf = Leaf(x=1, _buffer=buffer)
    first, second = (Tree(leaf=leaf, leaves=1, _buffer=buffer) for _ in range(2))
    first.leaf.x = 5
    assert leaf.x == second.leaf.x == 5 and first.leaf._offset == leaf._offset
    second.leaves[0] = first.leaf
    leaf.name = "abc"
    assert second.leaves[0].name == "abc"


def test_what_is_elsewhere_is_copied_into_the_buffer(ctx):
    for name in DEVICES:
        leaf = Leaf(x=1, _context=open_context(name))
        tree = Tree(leaf=leaf, leaves=[leaf, None, {"x": 2}, (3.0, "x")], numbers=range(3), _context=ctx)
        leaf.x = 100
        assert tree.leaf.x == 1 and tree.leaf._buffer is tree._buffer
        assert [item and item.x for item in tree.leaves] == [1, None, 2, 3]
        assert tree.numbers.to_nparray().tolist() == [0, 1, 2]
        tree.leaf = leaf
        assert tree.leaf.x == 100


def test_references_are_null_until_they_are_set(ctx):
    tree = Tree(leaves=2, _context=ctx)
    assert (tree.leaf, tree.numbers, list(tree.leaves)) == (None, None, [None, None])
    tree.numbers = [1.5]
    tree.leaves[1] = Leaf(x=2)
    assert tree.numbers[0] == 1.5 and tree.leaves[1].x == 2
    tree.numbers = tree.leaves[1] = None
    assert (tree.numbers, tree.leaves[1]) == (None, None)


def test_a_reference_keeps_what_it_refers_to_until_it_lets_go(ctx):
    buffer = ctx.new_buffer(1000)
    leaf = Leaf(x=1, _buffer=buffer)
    size = leaf._size
    tree = Tree(leaf=leaf, leaves=2, _buffer=buffer)
    free = buffer.get_free()
    del leaf
    gc.collect()
    assert buffer.get_free() == free and tree.leaf.x == 1
    tree.leaves[0] = tree.leaf
    tree.leaf = None
    assert buffer.get_free() == free and tree.leaves[0].x == 1
    tree.leaves[0] = None
    assert buffer.get_free() == free + size
    tree.leaf = {"x": 3}
    assert buffer.get_free() == free
    del tree
    gc.collect()
    assert buffer.get_free() == 1000


def test_a_target_keeps_living_without_its_reference(ctx):
    tree = Tree(leaf={"x": 1}, leaves=0, _context=ctx)
    leaf = tree.leaf
    tree.leaf = None
    Tree(leaf={"x": 9, "name": "x" * 20}, leaves=0, _buffer=tree._buffer)
    assert leaf.x == 1 and leaf.name == "leaf"


def test_long_chains_of_references_are_let_go(cpu):
    class Link(xo.Struct):
        value = xo.Int64
        next = xo.Ref(xo.Int64[1])

    buffer = cpu.new_buffer(1 << 20)
    kept = [Link(value=index, next=[index], _buffer=buffer) for index in range(5000)]
    assert sum(link.next[0] for link in kept) == sum(range(5000))
    del kept
    gc.collect()
    assert buffer.get_free() == buffer.capacity


def test_one_object_referred_to_twice_is_copied_once(ctx):
    buffer = ctx.new_buffer(500)
    leaf = Leaf(x=1, _buffer=buffer)
    tree = Tree(leaf=leaf, leaves=[leaf, leaf], _buffer=buffer)
    for name in DEVICES:
        copy = Tree(tree, _context=open_context(name))
        copy.leaf.x = 7
        assert [copy.leaves[0].x, copy.leaves[1].x, leaf.x] == [7, 7, 1]


def test_unions_take_members_pairs_and_none(ctx):
    holder = Holder(one=("Leaf", {"x": 1}), many=[None, Leaf(x=2), ("ArrNFloat64", [1, 2]), ["Leaf", {"x": 3}], (), Tree(leaves=1)], _context=ctx)
    assert holder.one.x == 1 and [type(item).__name__ for item in holder.many] == ["NoneType", "Leaf", "ArrNFloat64", "Leaf", "NoneType", "Tree"]
    holder.one = xo.Float64[:]([4])
    assert np.asarray(holder.one).tolist() == [4]
    holder.many[0], holder.many[1] = holder.one, None
    holder.one[0] = 5
    assert holder.many[0][0] == 5 and holder.many[1] is None
    assert holder._to_dict()["one"] == ("ArrNFloat64", [5.0]) and Holder(holder._to_dict(), _context=ctx)._to_dict() == holder._to_dict()


def test_a_union_alone_is_got_and_set(ctx):
    union = Any(Leaf(x=1), _context=ctx)
    assert union.get().x == 1 and repr(union).startswith("Any(Leaf(x=1.0")
    union.set(("ArrNFloat64", [1, 2]))
    assert union.get().to_nparray().tolist() == [1, 2] and union._to_dict() == ("ArrNFloat64", [1.0, 2.0])
    union.set(None)
    assert union.get() is None and union._to_dict() is None
    again = Any._from_buffer(union._buffer, union._offset)
    again.set(Leaf(x=3))
    assert union.get().x == 3


def test_unions_know_their_members():
    assert [Any._typeid_from_type(member) for member in (Leaf, Tree, xo.Float64[:])] == [0, 1, 2]
    assert Any._type_from_name("Tree") is Tree and Any._type_from_typeid(2) is xo.Float64[:] and Any._is_member(Leaf(x=1))
    assert not Any._is_member(xo.Int64[:]([1]))
    for call, words in ((lambda: Any._typeid_from_name("None"), "None is not member of <unionref Any>"), (lambda: Any._type_from_typeid(3), "Invalid id: 3!")):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == words


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (3, pl.errors.ObjectTypeError, "Holder.one: Any was requested, but an object of type int was given"),
        (("Nobody", {}), pl.errors.ObjectTypeError, "Holder.one has no member `Nobody`; its members are Leaf, Tree, ArrNFloat64"),
        (("Leaf", {"y": 1}), pl.errors.UnknownFieldError, "Leaf has no field `y`; its fields are x, name"),
        (xo.Int64[:]([1]), pl.errors.ObjectTypeError, "Holder.one takes objects of Leaf, Tree, ArrNFloat64, but an object of ArrNInt64 was given"),
    ],
    ids=range(4),
)
def test_what_is_no_member_is_refused_and_changes_nothing(ctx, value, error, words):
    holder = Holder(one=Leaf(x=1), many=1, _context=ctx)
    before, free = holder._buffer.read(0, holder._buffer.capacity), holder._buffer.get_free()
    with pytest.raises(error) as caught:
        holder.one = value
    assert str(caught.value) == words
    with pytest.raises(error):
        Holder(one=value, many=1, _buffer=holder._buffer)
    assert holder._buffer.read(0, len(before)) == before and holder._buffer.get_free() == free


def test_objects_that_share_a_target_share_it_after_pickling(ctx):
    buffer = ctx.new_buffer(500)
    leaf = Leaf(x=1, _buffer=buffer)
    trees = [Tree(leaf=leaf, leaves=0, _buffer=buffer) for _ in range(2)]
    first, second, copy = pickle.loads(pickle.dumps([*trees, leaf]))
    first.leaf.x = 9
    assert second.leaf.x == copy.x == 9 and leaf.x == 1 and first._buffer is copy._buffer


class RowInner(xo.Struct):
    x = xo.Float64
    y = xo.Float64


class RowOuter(xo.Struct):
    inner = RowInner
    z = xo.Float64


class RowNothing(xo.Struct):
    pass


class RowPair(xo.Struct):
    inner = xo.Ref(RowInner)
    nothing = xo.Ref(RowNothing)
    outer = xo.Ref(RowOuter)
    other = xo.Ref(RowOuter)


def row_pair(context):
    """References to an object, to its first field, to one without bytes, and to a neighbour."""
    buffer = context.new_buffer(256)
    nothing = RowNothing(_buffer=buffer)
    outer = RowOuter(inner={"x": 1, "y": 2}, z=3, _buffer=buffer)
    other = RowOuter(inner={"x": 4, "y": 5}, z=6, _buffer=buffer)
    pair = RowPair(inner=outer.inner, nothing=nothing, outer=outer, other=other, _buffer=buffer)
    assert pair.inner._offset == pair.outer._offset
    return pair


def test_a_copy_of_references_to_an_object_and_its_first_field_is_the_same_graph(ctx):
    for source in ("cpu:1", ctx.device.name):
        pair = row_pair(pl.Context(source))
        copy = RowPair(pair, _context=ctx)
        assert copy._to_dict() == pair._to_dict()
        assert copy.inner._offset == copy.outer._offset and copy._buffer is not pair._buffer
        copy.inner.y = 20
        assert copy.outer.inner.y == 20 and copy.other.inner.y == 5 and pair.inner.y == 2
        copy.outer.z = 30
        assert copy.other._to_dict() == pair.other._to_dict()


def test_a_kernel_on_another_device_writes_to_the_graph_that_it_was_given(gpu):
    source = """
    GPUKERN void change(RowPair p) {
        VECTORIZE_OVER(i, 1)
            RowPair_set_inner_y(p, RowPair_get_inner_y(p) * 10);
            RowPair_set_outer_z(p, RowPair_get_outer_z(p) * 10);
            RowPair_set_other_inner_x(p, RowPair_get_other_inner_x(p) * 10);
        END_VECTORIZE
    }
    """
    kernels = {"change": pl.Kernel(args=[pl.Arg(RowPair, name="p")])}
    gpu.add_kernels(sources=[source], kernels=kernels, extra_classes=[RowPair])
    pair = row_pair(pl.Context("cpu:1"))
    gpu.kernels.change(p=pair)
    assert pair.outer._to_dict() == {"inner": {"x": 1, "y": 20}, "z": 30}
    assert pair.other._to_dict() == {"inner": {"x": 40, "y": 5}, "z": 6}
