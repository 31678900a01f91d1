"""Random kernels of plain C in the lanes of vectors: bit by bit the numbers of the same function, called for one element after another.

PARLOOP_RANDOM_KERNELS sets how many kernels are tried.
"""

import ctypes
import os
import random
import subprocess

import numpy as np
import pytest

import parloop.mesh as op2

KERNELS = int(os.environ.get("PARLOOP_RANDOM_KERNELS", "12"))
NODES = 13
# Nothing is fused, so that every form rounds alike.
EXACT = "-ffp-contract=off"
EXACT_OF_ONE = ["fabs", "floor", "ceil", "trunc", "round", "sqrt"]
EXACT_OF_TWO = ["fmin", "fmax", "copysign", "fmod"]
OF_ONE, OF_TWO = ["sin", "exp", "tanh", "cbrt", "erf"], ["atan2", "hypot", "pow"]
LITERALS = ["1", "2.5", ".5", "3.", "0.1f", "1e-3", "0x1p-2", "010", "7u", "M_PI"]
FILE = """#include <math.h>
static const double table[2][2] = {{0.5, -1}, {2}};
static const float single[2] = {0.1f, 0.3f};
static const int places[3] = {2, 0, 1};
static double helper(double y) { return y * 0.5; }
"""
HEAD = "void k(double *A, const double *x, const double *u, double *d, const double *c, const int *q)"
REFERENCE = """
void all(int n, const int *ends, const int *corners, double *A, const double *x, const double *u, double *d, const double *c, const int *q) {
    for (int e = 0; e < n; e++) {
        double a[2] = {0, 0}, y[3];
        for (int i = 0; i < 3; i++) y[i] = x[corners[3 * e + i]];
        k(a, y, u + 2 * e, d + 2 * e, c, q);
        for (int i = 0; i < 2; i++) A[ends[2 * e + i]] += a[i];
    }
}
"""


class Writer:
    """Writes a kernel. Names in scope are of a kind: `number`, a double; `int`; `counter`, an integer from 0 that must not change; `row`, two doubles."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.scopes = [{}]
        self.declared = 0

    def one_of(self, *options):
        return self.random.choice(options)()

    def happens(self, share):
        return self.random.random() < share

    def names(self, kind):
        visible = {name: own for scope in self.scopes for name, own in scope.items()}
        return [name for name, own in visible.items() if own == kind]

    def new_name(self):
        """A name, perhaps that of a variable further out, which cannot be used any more: its scope begins before its value."""
        outer = [name for scope in self.scopes[:-1] for name, kind in scope.items() if kind != "counter" and name not in self.scopes[-1]]
        self.declared += 1
        name = self.random.choice(outer) if outer and self.happens(0.25) else f"v{self.declared}"
        self.scopes[-1][name] = "hidden"
        return name

    def declare(self, name, kind, text):
        self.scopes[-1][name] = kind
        return text

    def place(self, length):
        options = [str(self.random.randrange(length))] * 2
        options += [f"{counter} % {length}" for counter in self.names("counter")]
        options += [f"(unsigned){name} % {length}" for name in self.names("int")]
        if length == 3:
            options += ["places[1]", "q[2] + 1", f"places[{self.random.choice(self.names('counter') or ['2'])} % 3]"]
        return self.random.choice(options)

    def integer(self, depth):
        leaves = ["2", "(-3)", "0", *self.names("int"), *self.names("counter"), f"q[{self.place(3)}]", f"places[{self.place(3)}]"]
        if depth <= 0 or self.happens(0.4):
            return self.random.choice(leaves)
        left, right = self.integer(depth - 1), self.integer(depth - 1)
        texts = [f"({left} {op} {right})" for op in ["+", "-", "*", "<", "==", "&&", "||", "|"]]
        texts += [f"({left} / 2)", f"({left} % 3)", f"(~{left})", f"(!{left})", f"({left} ? {right} : 4)", "(int)c[0]"]
        return self.random.choice(texts)

    def same(self, depth):
        """A number that is the same for all elements."""
        leaves = [f"c[{self.place(2)}]", f"table[{self.place(2)}][{self.place(2)}]", f"single[{self.place(2)}]", *LITERALS]
        if depth <= 0 or self.happens(0.5):
            return self.random.choice(leaves)
        a, b = self.same(depth - 1), self.same(depth - 1)
        return self.random.choice([f"({a} {op} {b})" for op in "+-*"] + [self.integer(depth - 1), f"(float){a}", f"(-{a})", f"fmax({a}, {b})"])

    def leaf(self):
        options = [f"x[{self.place(3)}]", f"u[{self.place(2)}]", f"d[{self.place(2)}]", self.same(1)]
        options += self.names("number") * 2 + [f"{row}[{self.place(2)}]" for row in self.names("row")]
        return self.random.choice(options)

    def number(self, depth):
        if depth <= 0 or self.happens(0.2):
            return self.leaf()
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.one_of(
            *[lambda: f"({a} {self.random.choice('+-*')} {b})"] * 5,
            # Integers may be zero.
            lambda: f"({a} / (1.5 + {b}))",
            lambda: f"-{self.leaf()} - -{self.leaf()}",
            lambda: f"{self.random.choice(EXACT_OF_ONE)}({a})",
            lambda: f"{self.random.choice(EXACT_OF_TWO)}({a}, {b})",
            lambda: f"{self.random.choice(OF_ONE)}(x[{self.place(3)}])",
            lambda: f"{self.random.choice(OF_TWO)}(x[{self.place(3)}], u[{self.place(2)}])",
            lambda: f"(double)({a})",
            *[lambda: self.choice(depth, a, b)] * 3,
        )

    def choice(self, depth, a, b):
        if self.happens(0.07):
            # The type of this is not double.
            return f"({self.condition(1)} ? {self.random.choice(['3', '-1', '7u', '0.1f'])} : {self.random.choice(['1', '2', '0.3f'])}) / 2"
        return self.one_of(
            lambda: f"({self.condition(depth)} ? {self.unguarded()} : 1.0 * {self.unguarded()})",
            lambda: f"({self.integer(2)} ? {a} : {b})",
            lambda: f"(q[2] != 0 && 5 / q[2] > 1 ? {a} : {b})",
            lambda: f"(q[2] == 0 || {self.condition(1)} ? {self.unguarded()} : 2.5)",
        )

    def unguarded(self):
        """What is computed in all lanes: it has no index that C would leave out."""
        return self.random.choice(["x[1]", "u[0]", "d[1]", "c[1]", "sqrt(x[0])", "(x[2] / u[1])", "0.1f", *self.names("number")])

    def condition(self, depth):
        a, b = self.number(min(depth, 2) - 1), self.number(0)
        text = f"x[{self.random.randrange(3)}] + {a} {self.random.choice(['<', '>', '<=', '>=', '==', '!='])} {b}"
        if self.happens(0.3):
            text = f"({text}) {self.random.choice(['&&', '||'])} (u[0] < {self.unguarded()})"
        return f"!({text})" if self.happens(0.2) else f"({text})"

    def scalar(self):
        name = self.new_name()
        value = self.random.choice([self.same, self.number])(2)
        return self.declare(name, "number", f"double {name} = {'{' + value + '}' if self.happens(0.15) else value};")

    def row(self):
        name = self.new_name()
        first, second = self.same(1), self.number(1)
        value = self.random.choice([f"{{{first}, {second}}}", f"{{{second}}}", f"{{{first}}}", "{0}", "{1, 2.5}"])
        return self.declare(name, "row", f"double {name}[2] = {value};")

    def whole_number(self):
        name = self.new_name()
        value = self.integer(2)
        step = self.random.choice(["", f" {name}++;", f" {name} -= {value};", f" {name} /= 1.5;"])
        return self.declare(name, "int", f"{self.random.choice(['int', 'long long', 'unsigned', 'uint8_t'])} {name} = {value};{step}")

    def assignment(self):
        if self.happens(0.3):
            return f"A[{self.place(2)}] {self.random.choice(['+=', '-='])} {self.number(3)};"
        targets = [f"d[{self.place(2)}]", *self.names("number"), *[f"{row}[{self.place(2)}]" for row in self.names("row")]]
        return f"{self.random.choice(targets)} {self.random.choice(['=', '+=', '-=', '*=', '/='])} {self.number(3)};"

    def loop(self, depth):
        self.declared += 1
        i, end = f"i{self.declared}", self.random.choice(["2", "3", "q[1]"])
        self.scopes.append({i: "counter"})
        body = self.block(depth - 1)
        if self.happens(0.3):
            body += f" if ({i} == 1) {self.random.choice(['continue;', 'break;', '{ A[0] += 1; }'])} d[0] *= 0.5;"
        self.scopes.pop()
        if self.happens(0.3):
            return f"{{ int {i} = -1; while ({i} < {end} - 1) {{ {i}++; {body} }} }}"
        return f"for (int {i} = 0; {i} < {end}; ++{i}) {{ {body} }}"

    def branch(self, depth):
        condition = self.random.choice([f"c[0] > {self.same(1)}", self.integer(2)])
        otherwise = f" else /* }} */ {{ {self.block(depth - 1)} }}" if self.happens(0.5) else ""
        return f"if ({condition}) {{ {self.block(depth - 1)} }}{otherwise}"

    def rare(self):
        return self.random.choice([";", "// }\n", "if (q[0] == 5) return;", f"if (x[0] > 0.5) {self.assignment()}", "A[1] += helper(x[1]);",
                                   "{ const double *p = x + 1; A[0] += p[1]; }", "{ double t[q[1]]; t[2] = x[0]; t[0] = 1; A[0] += t[2] - t[0]; }"])  # fmt: skip

    def block(self, depth):
        self.scopes.append({})
        nested = [lambda: self.loop(depth), lambda: self.branch(depth), lambda: f"{{ {self.block(depth - 1)} }}"] if depth > 0 else []
        simple = [self.scalar, self.row, self.whole_number, self.assignment, self.assignment]
        text = " ".join(self.rare() if self.happens(0.03) else self.one_of(*simple, *nested) for _ in range(self.random.randint(2, 4)))
        self.scopes.pop()
        return text

    def kernel(self):
        return f"{FILE}{HEAD} {{\n{self.block(2)}\n{self.block(2)}\n}}\n"


class Data:
    """What a kernel is given."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.count = int(rng.choice([3, 8, 19, 40, 61]))
        self.ends, self.corners = (rng.integers(0, NODES, (self.count, arity)).astype(np.int32) for arity in (2, 3))
        self.sums, self.x = np.zeros(NODES), np.round(rng.normal(size=NODES), 1)
        self.u, self.d = np.round(rng.normal(size=(self.count, 2)), 1), np.round(rng.normal(size=(self.count, 2)), 1)
        self.c, self.q = np.array([1.5, -0.5]), np.array([2, 3, 0], np.int32)

    def reference(self, source, folder):
        library = folder / "reference.so"
        flags = ["-std=gnu11", "-O1", EXACT, "-fwrapv", "-fno-math-errno", "-shared", "-fPIC", "-w"]
        command = [os.environ.get("CC", "cc"), *flags, "-x", "c", "-", "-o", str(library), "-lm"]
        subprocess.run(command, input=f"#include <stdint.h>\n{source}{REFERENCE}", text=True, check=True)
        arrays = [self.ends, self.corners, self.sums.copy(), self.x, self.u, self.d.copy(), self.c, self.q]
        ctypes.CDLL(str(library)).all(self.count, *[array.ctypes.data_as(ctypes.c_void_p) for array in arrays])
        return arrays[2], arrays[5]

    def loop(self, source, lanes):
        """The loop, the sums and the direct data."""
        cells, nodes = op2.Set(self.count, "cells"), op2.Set(NODES, "nodes")
        ends, corners = op2.Map(cells, nodes, 2, self.ends), op2.Map(cells, nodes, 3, self.corners)
        sums, d = op2.Dat(nodes, self.sums.copy()), op2.Dat(cells**2, self.d.copy())
        read = [op2.Dat(nodes, self.x)(op2.READ, corners), op2.Dat(cells**2, self.u)(op2.READ)]
        shared = [op2.Global(2, self.c)(op2.READ), op2.Global(3, self.q, dtype=np.int32)(op2.READ)]
        loop = op2.ParLoop(op2.Kernel(source, "k", opts=[EXACT]), cells, sums(op2.INC, ends), *read, d(op2.RW), *shared,
                           plan="sequential", lanes=lanes, context="cpu:1")  # fmt: skip
        return loop, sums, d


def is_in_vectors(loop):
    return "pl_lanes_k" in str(loop.code("cpu:1"))


@pytest.mark.parametrize("seed", range(KERNELS))
def test_vectors_give_the_numbers_of_one_element_after_another(seed, tmp_path):
    source, data = Writer(seed).kernel(), Data(seed)
    expected = data.reference(source, tmp_path)
    for lanes in (False, True):
        loop, *found = data.loop(source, lanes)
        loop()
        for own, right in zip(found, expected, strict=True):
            np.testing.assert_array_equal(own.data_ro, right, err_msg=f"lanes={lanes}, in vectors: {is_in_vectors(loop)}\n{source}")


def test_the_random_kernels_run_in_vectors():
    seeds = range(30)
    in_vectors = [is_in_vectors(Data(seed).loop(Writer(seed).kernel(), True)[0]) for seed in seeds]
    assert 3 * sum(in_vectors) >= len(seeds)
