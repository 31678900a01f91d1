"""Memory that a call of a loop kernel reaches by two names, one of which is written: through objects, references inside them and arrays."""

import re

import numpy as np
import parloop.loops as lp
import parloop.objects as xo
import pytest

import parloop as pl


class Row(xo.Struct):
    scale = xo.Float64
    x = xo.Float64[:]
    y = xo.Float64[:]


class Link(xo.Struct):
    own = xo.Float64[:]
    first = xo.Ref[Row]
    second = xo.Ref[Row]


class Chain(xo.Struct):
    weight = xo.Float64
    link = xo.Ref[Link]
    row = xo.Ref[Row]


def rows(ctx, count=1, length=6):
    buffer = ctx.new_buffer(16384)
    return buffer, [Row(scale=2.0, x=np.arange(length) + 10.0 * n, y=np.zeros(length), _buffer=buffer) for n in range(count)]


def link(buffer, first, second):
    return Link(own=np.zeros(6), first=first, second=second, _buffer=buffer)


def kernel(instruction, *data):
    return lp.make_kernel("{[i]: 0<=i<n}", instruction, [*data, ...], name="k")


def refused(fields):
    return pytest.raises(pl.LoopError, match="^" + re.escape(f"kernel `k`: {fields}"))


def numbers(array):
    return [float(number) for number in array]


ROW, LINK = lp.ObjectArg("t", Row), lp.ObjectArg("s", Link)


def test_two_references_to_one_object_that_is_written_are_refused(ctx):
    knl = kernel("s.first.x[i] = s.second.x[n - 1 - i]", LINK)
    buffer, (a, b) = rows(ctx, 2)
    same = "the fields `first.x` and `second.x` of argument `s` share memory, and `first.x` is written; let its references lead to different objects"
    with refused(same):
        knl(ctx, s=link(buffer, a, a), n=6)
    assert numbers(a.x) == [0, 1, 2, 3, 4, 5]
    knl(ctx, s=link(buffer, a, b), n=6)
    assert numbers(a.x) == [15, 14, 13, 12, 11, 10]


def test_two_references_to_one_object_that_is_read_are_fine(ctx):
    knl = kernel("s.own[i] = s.first.x[i] + s.second.scale*s.second.x[i]", LINK)
    buffer, (a,) = rows(ctx)
    s = link(buffer, a, a)
    knl(ctx, s=s)
    assert numbers(s.own) == [0, 3, 6, 9, 12, 15]


def test_one_reference_may_lead_to_several_fields_that_are_written(ctx):
    knl = kernel("s.first.y[i] = s.first.scale*s.first.x[i]", LINK)
    buffer, (a,) = rows(ctx)
    knl(ctx, s=link(buffer, a, a))
    assert numbers(a.y) == [0, 2, 4, 6, 8, 10]


def test_a_reference_behind_a_reference_is_followed_too(ctx):
    knl = kernel("c.link.second.x[i] = c.row.x[i]*c.weight", lp.ObjectArg("c", Chain))
    buffer, (a, b) = rows(ctx, 2)
    with refused("the fields `link.second.x` and `row.x` of argument `c` share memory, and `link.second.x` is written"):
        knl(ctx, c=Chain(weight=1.0, link=link(buffer, a, b), row=b, _buffer=buffer), n=6)
    knl(ctx, c=Chain(weight=2.0, link=link(buffer, a, b), row=a, _buffer=buffer), n=6)
    assert numbers(b.x) == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize("instruction", ["t.x[i] = s.first.x[n - 1 - i]", "s.first.x[i] = t.x[n - 1 - i]"])
def test_an_object_that_another_one_refers_to_is_not_written_beside_it(ctx, instruction):
    knl = kernel(instruction, ROW, LINK)
    buffer, (a, b) = rows(ctx, 2)
    with refused("arguments `"):
        knl(ctx, t=a, s=link(buffer, a, b), n=6)
    assert numbers(a.x) == [0, 1, 2, 3, 4, 5]
    knl(ctx, t=b, s=link(buffer, a, a), n=6)


def test_a_reference_that_the_kernel_does_not_follow_may_lead_anywhere(ctx):
    knl = kernel("t.x[i] = s.own[i] + s.second.x[i]", ROW, LINK)
    buffer, (a, b) = rows(ctx, 2)
    knl(ctx, t=a, s=link(buffer, a, b), n=6)
    assert numbers(a.x) == [10, 11, 12, 13, 14, 15]


def test_what_is_only_read_beside_a_written_object_may_be_read_twice(ctx):
    """`s` is written, but not what it refers to."""
    knl = kernel("s.own[i] = s.first.x[i] + t.x[i]", ROW, LINK)
    buffer, (a, b) = rows(ctx, 2)
    s = link(buffer, a, b)
    knl(ctx, t=a, s=s, n=6)
    assert numbers(s.own) == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize("instruction", ["t.x[i] = a[n - 1 - i]", "a[i] = t.x[n - 1 - i]", "s.first.x[i] = a[n - 1 - i]", "a[i] = s.first.x[n - 1 - i]"])
def test_an_array_in_an_object_is_not_passed_beside_it(ctx, instruction):
    knl = kernel(instruction, lp.GlobalArg("a", np.float64, shape="n"), LINK if "s." in instruction else ROW)
    buffer, (one, other) = rows(ctx, 2)
    objects = {"s": link(buffer, one, other)} if "s." in instruction else {"t": one}
    with refused("arguments `"):
        knl(ctx, a=one.x.to_nplike(), n=6, **objects)
    assert numbers(one.x) == [0, 1, 2, 3, 4, 5]
    knl(ctx, a=other.x.to_nplike(), n=6, **objects)


def test_sizes_in_an_object_cannot_be_overwritten_by_a_kernel_that_uses_it(ctx):
    """Where its arrays are, and how long, is in its first bytes; a call checks them before the kernel runs."""
    knl = kernel("h[i] = 1000000 {id=h}\nt.y[i] = t.x[i] {dep=h}", lp.GlobalArg("h", np.int64, shape="n"), ROW)
    _, (a,) = rows(ctx)
    header = a._buffer.to_nplike(a._offset, "int64", (4,))
    with refused("arguments `h` and `t` share memory"):
        knl(ctx, h=header, t=a, n=4)
    assert numbers(a.x) == [0, 1, 2, 3, 4, 5]


def test_one_object_is_not_passed_twice_if_it_is_written(ctx):
    knl = kernel("t.x[i] = u.x[n - 1 - i]", ROW, lp.ObjectArg("u", Row))
    _, (a, b) = rows(ctx, 2)
    with refused("arguments `t` and `u` share memory, and `t` is written"):
        knl(ctx, t=a, u=a, n=6)
    knl(ctx, t=a, u=b, n=6)
    assert numbers(a.x) == [15, 14, 13, 12, 11, 10]
