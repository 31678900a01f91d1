"""The type stubs: complete, and right for a user who checks their own code."""

import ast
import doctest
import importlib.util
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import parloop as pl
import parloop.arrays as xp
import parloop.mesh as op2
import parloop.objects as xo
from parloop import _parloop, captured, errors

PACKAGE = Path(pl.__file__).parent
STUB = ast.parse((PACKAGE / "_parloop.pyi").read_text())


def defined(body):
    names = {}
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names[node.target.id] = node
    return names


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_every_public_name_is_in_the_stub_and_nothing_else():
    assert public(defined(STUB.body)) == public(dir(_parloop))


def own_names(cls):
    """The names that the class, or a base class of ours, defines."""
    ours = [base for base in cls.__mro__ if base.__module__ in ("parloop", "parloop.errors", "parloop.objects", "parloop.mesh", "parloop._parloop")]
    return {name for base in ours for name in vars(base)}


#: Written by every class, or only there to make the objects work.
COMMON = {"__doc__", "__module__", "__new__", "__repr__", "__dict__", "__weakref__", "__getattribute__", "__vectorcalloffset__",
          "__call__", "__setattr__", "__delattr__", "__buffer__", "__lt__", "__le__", "__gt__", "__ge__", "__ne__", "__hash__", "__delitem__", "__class_getitem__"}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, value in vars(_parloop).items() if inspect.isclass(value) and not issubclass(value, BaseException)])
def test_every_member_of_every_class_is_in_the_stub_and_nothing_else(name):
    stubs = [defined(STUB.body)[name]]
    stubs += [defined(STUB.body)[base.id] for base in stubs[0].bases]
    found = {member for member in own_names(getattr(_parloop, name)) if member not in COMMON}
    described = {member for stub in stubs for member in defined(stub.body) if member not in COMMON}
    # Kernels are attributes of a program.
    assert described - {"__getattr__"} == found


@pytest.mark.parametrize("name", [name for name, value in vars(_parloop).items() if inspect.isclass(value) and issubclass(value, BaseException)])
def test_every_exception_has_the_bases_that_the_stub_says(name):
    cls = getattr(_parloop, name)
    assert [base.id for base in defined(STUB.body)[name].bases] == [base.__name__ for base in cls.__bases__]
    assert cls.__doc__ and issubclass(cls, pl.ParloopError)
    assert getattr(errors, name) is cls and cls.__module__ == ("parloop" if name in vars(pl) else "parloop.errors")


def test_parameters_have_the_names_and_defaults_that_the_stub_says():
    def of_stub(function):
        arguments = function.args
        positional = [argument.arg for argument in arguments.posonlyargs + arguments.args if argument.arg not in ("self", "cls")]
        return positional + [argument.arg for argument in arguments.kwonlyargs], len(arguments.defaults) + sum(d is not None for d in arguments.kw_defaults)

    def of_object(function):
        parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self" and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        return [p.name for p in parameters], sum(p.default is not p.empty for p in parameters)

    checked = 0
    for name, node in defined(STUB.body).items():
        members = [(name, node, _parloop)] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.ClassDef):
            members = [(m, f, getattr(_parloop, name)) for m, f in defined(node.body).items() if isinstance(f, ast.FunctionDef)]
        for member, function, owner in members:
            is_property = any(getattr(d, "id", getattr(d, "attr", "")) in ("property", "setter") for d in function.decorator_list)
            if is_property or member.startswith("__") and member not in ("__array__", "__dlpack__"):
                continue
            assert of_stub(function) == of_object(getattr(owner, member)), f"{name}.{member}"
            checked += 1
    assert checked > 40


def test_the_package_exports_the_public_names_only():
    elsewhere = {"run_command", "add_package_folders", "unknown_variables"} | set(errors.__all__) - set(IN_PACKAGE)
    assert set(pl.__all__) == public(dir(_parloop)) - elsewhere | {"Arg", "Kernel", "Pointer", "Profile", "ProfileRow", "Progress", "Source", "errors", "profile", "progress", "__version__"}
    assert len(pl.__all__) == len(set(pl.__all__)) and all(name in vars(pl) for name in pl.__all__)


#: The exceptions that the package has besides `parloop.errors`.
IN_PACKAGE = ["ArgumentError", "CheckError", "CompileError", "DeviceError", "KernelNotFoundError", "LoopError", "MeshError", "ObjectError", "OutOfMemoryError", "ParloopError", "RecordingError"]


def test_all_exceptions_are_in_one_module():
    of_python = {"NoDeviceVersionError", "CaptureError"}
    assert set(errors.__all__) == {name for name, value in vars(_parloop).items() if inspect.isclass(value) and issubclass(value, BaseException)} | of_python
    assert len(errors.__all__) == len(set(errors.__all__)) == len([name for family in errors.FAMILIES.values() for name in family])
    assert xp.NoDeviceVersionError is errors.NoDeviceVersionError and captured.CaptureError is errors.CaptureError and op2.MeshError is errors.MeshError
    for name in errors.__all__:
        again = pickle.loads(pickle.dumps(getattr(errors, name)("words")))
        assert type(again) is getattr(errors, name) and str(again) == "words"


def test_an_exception_that_moved_is_found_at_its_old_name_with_a_warning():
    for name in errors.__all__:
        if name not in IN_PACKAGE:
            with pytest.warns(DeprecationWarning, match=f"^parloop.{name} is deprecated; use parloop.errors.{name}$") as caught:
                assert getattr(pl, name) is getattr(errors, name)
            assert caught[0].filename == __file__
    for name in IN_PACKAGE:
        assert getattr(pl, name) is getattr(errors, name)
    with pytest.raises(AttributeError, match="^module 'parloop' has no attribute 'nothing'$"):
        pl.nothing  # noqa: B018


USAGE = '''
import numpy as np
import parloop as pl


def axpy(name: str | None = None) -> float:
    ctx = pl.Context(name)
    prog = ctx.compile("GPUKERN void k(double *x) {}", kernels={"k": pl.Kernel(args=[pl.Arg("float64", pointer=True)], grid="n")})
    x = ctx.array(np.arange(10.0), dtype="float64")
    prog.k(x=x)
    step: pl.BoundKernel = prog.k.bind(x)
    step()
    grown = prog.k.with_grid(lambda **given: 3, block=32).on(ctx.stream())
    grown(x)
    y = x[1:3].copy()
    y[0] = 3
    first, second = ctx.record(), ctx.default_stream.record()
    shape: tuple[int, ...] = ctx.zeros((2, 3), np.float32).shape
    with ctx as inner:
        device: pl.Device = inner.device
    try:
        pl.Context("gpu")
    except pl.errors.DeviceNotFoundError as error:
        print(error, device.kind, shape, pl.current_context(), pl.devices()[0].name)
    return second.since(first) + float(np.sum(y.to("cpu").numpy()))
'''


OBJECTS = '''
import numpy as np
import parloop as pl
import parloop.arrays as xp
import parloop.mesh as op2
import parloop.objects as xo


class Point(xo.Struct):
    x = xo.Float64
    name = xo.String
    values = xo.Float64[:, 3]
    charge = xo.Field(xo.Int32, default=1)
    area = xo.CProperty(body="return 1;", ret=xo.Float64)


class Shape(xo.UnionRef):
    _reftypes = (Point,)


class Line(xo.Struct):
    begin = xo.Field(Point)
    end = xo.Ref(Point)
    points = xo.Field(Point[:])
    fixed = xo.Field(Point[3])
    shapes = xo.Field(Shape[:])
    shape = xo.Field(Shape)
    inner = Point


class Element(xo.HybridClass):
    _xofields = {"length": xo.Float64}


def use(ctx: pl.Context) -> float:
    p = Point(x=1.0, name="p", values=np.zeros((2, 3)), _context=ctx)
    p.x = 3
    p.x += 1
    p.name = "q"
    p.charge = 3
    length: int = len(p.name) + p.values[0, 0]
    line = Line(begin=p)
    line.begin = p
    line.begin.x = 4
    line.end = p
    line.points[0].x = 2
    line.shape = p
    print(line.inner.x, xo.Float64[:](3)[1], xo.String("a").to_str(), p._buffer.capacity)
    e = Element(length=3)
    e.length = 5
    ctx.add_kernels(sources=[""], kernels={"k": xo.Kernel(args=[xo.Arg(Point, name="p")])})
    ctx.kernels.k(p=p)
    b: xo.Buffer = ctx.new_buffer(100)
    at: int = b.allocate(3)
    return float(p.x + e.length + p.area + length + at)
'''


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What mypy found out about numpy and parloop once."""
    return tmp_path_factory.mktemp("mypy")


def run_mypy(cache, *arguments, **options):
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(cache), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


def mypy(tmp_path, cache, text):
    file = tmp_path / "usage.py"
    file.write_text(text)
    return run_mypy(cache, str(file), cwd=tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_accepts_right_code_and_finds_mistakes(tmp_path, cache):
    result = mypy(tmp_path, cache, USAGE)
    assert result.returncode == 0, result.stdout + result.stderr
    wrong = USAGE + "\n\npl.Context().zeros('three').numpy(1)\npl.Device('cpu').memory_free.x\nprint(pl.nothing)\n"
    result = mypy(tmp_path, cache, wrong)
    assert result.returncode == 1
    for words in ('"zeros" of "Context" has incompatible type', 'Too many arguments for "numpy"', '"int" has no attribute "x"', "has no attribute"):
        assert words in result.stdout, result.stdout


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_takes_fields_of_objects_for_any_value_and_finds_mistakes_around_them(tmp_path, cache):
    result = mypy(tmp_path, cache, OBJECTS)
    assert result.returncode == 0, result.stdout + result.stderr
    result = mypy(tmp_path, cache, OBJECTS + "\nPoint(x=1).nothing\nreveal_type(Point().x)\nPoint()._buffer.allocate('x')\n")
    assert result.returncode == 1
    for words in ('"Point" has no attribute "nothing"', 'Revealed type is "Any"', '"allocate" of "Buffer" has incompatible type "str"'):
        assert words in result.stdout, result.stdout


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_accepts_the_package_itself(cache):
    result = run_mypy(cache, "-p", "parloop", cwd=PACKAGE.parent)
    assert result.returncode == 0, result.stdout + result.stderr


CLASSES = [getattr(xo, name) for name in ("Array", "CMethod", "HybridClass", "JEncoder", "LinkedArray", "Ref", "Scalar", "String", "Struct", "UnionRef")]

MESH = [op2.Set, op2.Subset, op2.DataSet, op2.Map, op2.Map.reverse_cuthill_mckee, op2.Dat, op2.DatView, op2.Global, op2.Constant, op2.Kernel, op2.ParLoop, op2.par_loop, op2.write_vtk,
        op2.Mesh, op2.Mesh.map, op2.Mesh.region, op2.Mesh.refine, op2.Mesh.write, op2.Space, op2.TimeSeries, op2.box_mesh, op2.read_mesh,
        op2.GlobalDataSet, op2.MixedSet, op2.MixedDataSet, op2.MixedMap, op2.MixedDat, op2.MixedSparsity, op2.MixedMat]


@pytest.mark.parametrize("owner", [pl, pl.Kernel, pl.Arg, pl.Pointer, pl.Context, pl.Context.plan_FFT, pl.Array, pl.Device, pl.devices, xo, xo.Buffer, *CLASSES, op2, *MESH], ids=lambda owner: getattr(owner, "__name__", ""))
def test_the_examples_in_the_documentation_run(owner):
    tests = [doctest.DocTestParser().get_doctest(inspect.getdoc(owner) or "", {}, str(owner), None, 0)]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    examples = 0
    for test in tests:
        runner.run(test)
        examples += len(test.examples)
    assert examples > 0 and runner.summarize(verbose=False).failed == 0
