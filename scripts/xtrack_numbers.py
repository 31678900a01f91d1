"""The numbers of xtrack and xfields with Parloop's drop-in for xobjects, compared with those of xobjects itself.

    python scripts/xtrack_numbers.py [--context cpu|omp|opencl|cupy] [CASE ...]

Needs xtrack, xpart, xfields and xobjects (with setuptools, for its compiler). Every case runs in processes of its own: with xobjects on ``ContextCpu()``,
and under ``python -m parloop.compat`` on the context that is named. Where xobjects cannot run, ``--keep FOLDER`` writes its numbers on one machine and
``--against FOLDER`` reads them on another. A difference is divided by the largest number of its array; integers must be equal.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

CASES = ("line", "ring", "twiss", "bunch", "apertures", "pic", "gauss", "collective", "elements")
COORDINATES = "x px y py zeta delta s at_element at_turn state particle_id".split()
CONTEXTS = {"cpu": ("ContextCpu", {}), "omp": ("ContextCpu", {"omp_num_threads": 2}), "opencl": ("ContextPyopencl", {}), "cupy": ("ContextCupy", {})}


class Runner:
    """Runs cases on a context, and collects arrays by name."""

    def __init__(self, context: str) -> None:
        import xfields
        import xobjects
        import xpart
        import xtrack

        self.xo, self.xt, self.xf, self.xp = xobjects, xtrack, xfields, xpart
        name, options = CONTEXTS[context]
        self.context = getattr(xobjects, name)(**options)
        self.found: dict[str, np.ndarray] = {}

    def keep(self, name, particles) -> None:
        host = particles.copy(_context=self.xo.context_default)
        order = np.argsort(np.asarray(host.particle_id))
        for coordinate in COORDINATES:
            self.found[f"{name}.{coordinate}"] = np.asarray(getattr(host, coordinate))[order]

    def keep_arrays(self, name, owner, words: str) -> None:
        for word in words.split():
            value = getattr(owner, word)
            self.found[f"{name}.{word}"] = value.get() if hasattr(value, "get") else np.asarray(value)

    def particles(self, count=300, **more):
        rng, sizes = np.random.default_rng(3), {"x": 1e-4, "px": 1e-6, "y": 1e-4, "py": 1e-6, "zeta": 1e-2, "delta": 1e-4}
        numbers = {name: rng.normal(0, size, count) for name, size in sizes.items()}
        return self.xt.Particles(_context=self.context, p0c=6.5e12, **numbers, **more)

    def built(self, elements, names=None):
        line = self.xt.Line(elements=elements, element_names=names)
        line.particle_ref = self.xt.Particles(p0c=6.5e12, mass0=self.xt.PROTON_MASS_EV, q0=1)
        line.build_tracker(_context=self.context)
        return line

    def cells(self, count, apertures=False):
        """A cavity, then cells of quadrupoles, drifts and bends."""
        xt, elements = self.xt, [("cavity", self.xt.Cavity(frequency=400e6, voltage=8e6, lag=180))]
        for i in range(count):
            elements += [(f"qf{i}", xt.Multipole(knl=[0, 0.02, 0.1]))]
            elements += [(f"ellipse{i}", xt.LimitEllipse(a=2.5e-3, b=2.5e-3))] * apertures
            elements += [(f"d{i}", xt.Drift(length=20.0)), (f"b{i}", xt.Multipole(knl=[2 * np.pi / count], hxl=2 * np.pi / count, length=10.0))]
            elements += [(f"rect{i}", xt.LimitRect(min_x=-3e-3, max_x=3e-3, min_y=-3e-3, max_y=3e-3))] * apertures
            elements += [(f"qd{i}", xt.Multipole(knl=[0, -0.02])), (f"e{i}", xt.Drift(length=20.0))]
        return [element for _, element in elements], [name for name, _ in elements]

    def line(self) -> None:
        xt = self.xt
        line = self.built([xt.Multipole(knl=[0, 1e-2]), xt.Drift(length=5.0), xt.Multipole(knl=[0, -1e-2]), xt.Drift(length=5.0)])
        particles = self.particles(200)
        line.track(particles, num_turns=100, turn_by_turn_monitor=True)
        self.keep("particles", particles)
        self.keep_arrays("monitor", line.record_last_track, "x px y py")

    def ring(self) -> None:
        line = self.built(*self.cells(142, apertures=True))
        particles = self.particles()
        particles.x[:20] = 2e-3
        particles.y[20:40] = 2.4e-3
        line.track(particles, num_turns=20, turn_by_turn_monitor=True)
        self.keep("particles", particles)
        self.keep_arrays("monitor", line.record_last_track, "x px y py zeta delta")

    def twiss(self) -> None:
        line, rng = self.built(*self.cells(8)), np.random.default_rng(1)
        self.keep_arrays("twiss", line.twiss4d(), "betx bety alfx alfy mux muy dx qx qy dqx dqy")
        coordinates = {name: rng.normal(size=100) for name in ("x_norm", "px_norm", "y_norm", "py_norm")}
        particles = line.build_particles(_context=self.context, **coordinates, nemitt_x=2.5e-6, nemitt_y=2.5e-6, method="4d")
        self.keep("built", particles)
        line.track(particles, num_turns=10)
        self.keep("tracked", particles)

    def bunch(self) -> None:
        line = self.built(*self.cells(8))
        np.random.seed(5)
        emittances = {"nemitt_x": 2e-6, "nemitt_y": 2e-6, "sigma_z": 0.08, "total_intensity_particles": 1e11}
        particles = self.xp.generate_matched_gaussian_bunch(_context=self.context, line=line, num_particles=300, **emittances)
        self.keep("made", particles)
        line.track(particles, num_turns=3)
        self.keep("tracked", particles)

    def apertures(self) -> None:
        xt, monitor = self.xt, self.xt.ParticlesMonitor(start_at_turn=0, stop_at_turn=5, num_particles=300)
        polygon = xt.LimitPolygon(x_vertices=[-1e-4, 1e-4, 2e-4, -2e-4], y_vertices=[-1e-4, -2e-4, 1e-4, 2e-4])
        racetrack = xt.LimitRacetrack(min_x=-2e-4, max_x=2e-4, min_y=-2e-4, max_y=2e-4, a=1e-4, b=1e-4)
        both = xt.LimitRectEllipse(max_x=2e-4, max_y=2e-4, a=2.5e-4, b=2.5e-4)
        line = self.built([xt.Drift(length=1), polygon, xt.Drift(length=10), xt.LimitEllipse(a=3e-4, b=2e-4), both, racetrack, monitor])
        particles = self.particles()
        line.track(particles, num_turns=5)
        self.keep("particles", particles)
        self.keep_arrays("monitor", line.elements[-1], "x y at_turn")

    def space_charge(self, width, solver):
        ranges = {"x_range": (-width, width), "y_range": (-width, width), "z_range": (-6e-2, 6e-2), "nx": 32, "ny": 32, "nz": 16}
        gamma0 = float(6.5e12 / self.xt.PROTON_MASS_EV)
        return self.xf.SpaceCharge3D(_context=self.context, length=5.0, update_on_track=True, solver=solver, gamma0=gamma0, **ranges)

    def pic(self) -> None:
        for solver in ("FFTSolver3D", "FFTSolver2p5D", "FFTSolver2p5DAveraged"):
            element, particles = self.space_charge(6e-4, solver), self.particles(1000, weight=1e8)
            for _ in range(3):
                element.track(particles)
            self.keep(solver, particles)
            self.keep_arrays(solver, element.fieldmap, "rho phi")

    def gauss(self) -> None:
        xf, here = self.xf, {"_context": self.context}
        profile = {"number_of_particles": 1e11, "sigma_z": 0.01, "z0": 0.0, "q_parameter": 1.0}
        for name, update in (("frozen", False), ("updated", True)):
            sizes = {"mean_x": 0.0, "mean_y": 0.0, "sigma_x": 1e-4, "sigma_y": 1.2e-4, "length": 5.0, "apply_z_kick": False, "update_on_track": update}
            element = xf.SpaceChargeBiGaussian(**here, longitudinal_profile=xf.LongitudinalProfileQGaussian(**here, **profile), **sizes)
            self.through(name, element, 500, times=1 + update)
        beam = {"other_beam_q0": 1, "other_beam_beta0": 1.0, "other_beam_num_particles": 1e11, "other_beam_Sigma_11": 1e-8, "other_beam_Sigma_33": 1.44e-8}
        self.through("two", xf.BeamBeamBiGaussian2D(**here, **beam), 500)
        sigmas = {"11": 1e-8, "12": 0.0, "22": 1e-12, "33": 1.44e-8, "34": 0.0, "44": 1e-12}
        slices = {f"slices_other_beam_Sigma_{number}": value for number, value in sigmas.items()}
        slices |= {"slices_other_beam_num_particles": [5e10, 5e10], "slices_other_beam_zeta_center": [0.01, -0.01]}
        self.through("three", xf.BeamBeamBiGaussian3D(**here, phi=1e-4, alpha=0.0, other_beam_q0=1, **slices), 500)

    def through(self, name, element, count=300, times=1) -> None:
        particles = self.particles(count)
        for _ in range(times):
            element.track(particles)
        self.keep(name, particles)

    def collective(self) -> None:
        elements, names = self.cells(4)
        elements.insert(5, self.space_charge(3e-3, "FFTSolver2p5D"))
        line = self.built(elements, [*names[:5], "charge", *names[5:]])
        assert line.iscollective
        particles = self.particles(500, weight=1e8)
        line.track(particles, num_turns=3)
        self.keep("particles", particles)

    def elements(self) -> None:
        xt, here = self.xt, {"_context": self.context}
        self.through("wire", xt.Wire(**here, L_phy=1, L_int=2, current=10, xma=1e-2, yma=0))
        self.through("lens", xt.Elens(**here, current=5, inner_radius=1e-4, outer_radius=3e-4, elens_length=3, voltage=1e4))
        self.through("quadrupole", xt.Quadrupole(**here, k1=0.02, length=2.0))
        self.through("bend", xt.Bend(**here, k0=0.01, angle=0.02, length=2.0))
        self.through("solenoid", xt.Solenoid(**here, ks=0.01, length=2.0))


def compared(case: str, ours: pathlib.Path, theirs: pathlib.Path) -> bool:
    """Prints the largest difference of a case; whether integers are equal."""
    one, other = np.load(ours), np.load(theirs)
    assert set(one.files) == set(other.files), case
    worst, where, equal = 0.0, "", True
    for name in one.files:
        a, b = one[name], other[name]
        if a.dtype.kind in "iu":
            equal &= np.array_equal(a, b)
            continue
        largest = np.max(np.abs(b), initial=0.0)
        difference = float(np.max(np.abs(a - b), initial=0.0) / largest) if largest else float(np.any(a))
        if difference > worst:
            worst, where = difference, name
    print(f"{case:11} {len(one.files):3} arrays, {worst:.1e} of the largest number ({where}), integers {'equal' if equal else 'DIFFERENT'}", flush=True)
    return equal


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"which of {', '.join(CASES)}; all unless told")
    parser.add_argument("--context", choices=CONTEXTS, default="cpu")
    parser.add_argument("--keep", type=pathlib.Path, help="write the numbers of xobjects into a folder, and compare nothing")
    parser.add_argument("--against", type=pathlib.Path, help="read the numbers of xobjects from such a folder")
    parser.add_argument("--run", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    cases = options.cases or list(CASES)
    if unknown := set(cases) - set(CASES):
        parser.error(f"unknown cases {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    if options.run:
        runner = Runner(options.context)
        getattr(runner, cases[0])()
        np.savez(options.run, **runner.found)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        theirs = options.keep or options.against or pathlib.Path(folder)
        theirs.mkdir(parents=True, exist_ok=True)
        right = True
        for case in cases:
            own, other = pathlib.Path(folder) / f"{case}.ours.npz", theirs / f"{case}.npz"
            if not options.against:
                subprocess.run([sys.executable, "-W", "ignore", __file__, case, "--run", str(other)], check=True, stdout=subprocess.DEVNULL)
            if not options.keep:
                command = [sys.executable, "-W", "ignore", "-m", "parloop.compat", __file__, case, "--context", options.context, "--run", str(own)]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                right &= compared(case, own, other)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
