"""Typed objects on every device found: a ring of magnets kicks particles. ``python examples/02_objects.py [device …]``."""

import sys

import numpy as np
import parloop as pl
import parloop.objects as xo


class Multipole(xo.Struct):
    """A thin magnet."""

    order = xo.Int64
    knl = xo.Float64[:]
    name = xo.String

    strength = xo.CProperty(body="return Multipole_get_knl(self, Multipole_get_order(self));", ret=xo.Float64)


class Particles(xo.Struct):
    """Where particles are, one array for each coordinate."""

    x = xo.Float64[:]
    px = xo.Float64[:]


class Ring(xo.Struct):
    """Magnets that may be shared: the ring refers to them."""

    elements = xo.Ref(Multipole)[:]


SOURCE = """
GPUFUN double kick(Multipole el, double x) {
    double sum = 0, power = 1, factorial = 1;
    for (int64_t k = 0; k <= Multipole_get_order(el); k++) {
        sum += Multipole_get_knl(el, k) * power / factorial;
        power *= x;
        factorial *= k + 1;
    }
    return sum;
}
GPUKERN void track(const Ring ring, Particles p, const int64_t turns) {
    VECTORIZE_OVER(i, Particles_len_x(p))
        for (int64_t turn = 0; turn < turns; turn++)
            for (int64_t e = 0; e < Ring_len_elements(ring); e++) {
                const double x = Particles_get_x(p, i) + Particles_get_px(p, i);
                Particles_set_x(p, i, x);
                Particles_set_px(p, i, Particles_get_px(p, i) - kick(Ring_getp1_elements(ring, e), x));
            }
    END_VECTORIZE
}
"""


def track(ctx):
    """Coordinates after 100 turns, and how the objects lay there."""
    quadrupole = Multipole(order=1, knl=[0.0, 0.3], name="mq", _context=ctx)
    sextupole = Multipole(order=2, knl=[0.0, 0.0, 0.05], name="ms", _buffer=quadrupole._buffer)
    ring = Ring(elements=[quadrupole, sextupole, quadrupole], _buffer=quadrupole._buffer)
    ring.elements[0].knl[1] = 0.25  # also that of the third element: both are the same magnet
    particles = Particles(x=np.linspace(-0.1, 0.1, 1000), px=np.zeros(1000), _context=ctx)
    ctx.add_kernels(sources=[SOURCE], extra_classes=[Ring, Particles])
    ctx.kernels.track(ring=ring, p=particles, turns=100)
    assert ring.elements[2].strength == 0.25
    return particles.x.to_nparray(), f"{len(ring.elements)} references, buffer of {ring._buffer.capacity} bytes"


names = sys.argv[1:] or [device.name for device in pl.devices()]
print(f"{'device':14} {'x of the last particle':>24}   objects")
results = {}
for name in names:
    x, objects = track(pl.Context(name))
    results[name] = x
    print(f"{name:14} {x[-1]:24.16f}   {objects}")
reference = results[names[0]]
assert all(np.allclose(x, reference, rtol=1e-12, atol=1e-15) for x in results.values())
