"""The package itself: systems on which it can be imported, its metadata, and messages that name its extras."""

import importlib.metadata
import pathlib
import re
import sys

import pytest
from conftest import run_python

import parloop as pl

ROOT = pathlib.Path(__file__).parents[2]
EXTRAS = {
    "cc": {"ziglang"},
    "cuda": {"nvidia-cuda-nvrtc"},
    "cufft": {"nvidia-cufft"},
    "isl": {"islpy"},
    "mesh": {"meshio", "h5py"},
    "mpi": {"mpi4py"},
    "plot": {"matplotlib"},
    "progress": {"tqdm"},
    "sparse": {"scipy"},
}


@pytest.mark.parametrize("system", ["darwin", "win32", "freebsd14"])
@pytest.mark.parametrize("module", ["parloop", "parloop.mesh", "parloop.__main__"])
def test_other_systems_are_refused_at_import(system, module):
    said = run_python(f"""
        import sys
        sys.platform = {system!r}
        try:
            import {module}
        except ImportError as error:
            print(error)
        print("parloop._parloop" in sys.modules)
    """)
    assert said.splitlines() == [f"parloop runs on Linux only, and this system is {system}", "False"]


def test_the_metadata_says_what_the_package_is():
    metadata = importlib.metadata.metadata("parloop")
    assert metadata["Version"] == pl.__version__
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["Author"] == "The Parloop developers"
    classifiers = metadata.get_all("Classifier")
    assert [name for name in classifiers if name.startswith("Operating System")] == ["Operating System :: POSIX :: Linux"]
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (10, 11, 12, 13)} < set(classifiers)
    assert {"Programming Language :: Rust", "Intended Audience :: Science/Research"} < set(classifiers)
    assert {url.split(",")[0] for url in metadata.get_all("Project-URL")} == {"Homepage", "Repository", "Issues", "Changelog"}


def test_each_extra_installs_what_it_is_for_and_all_is_all_of_them():
    installed = {}
    for requirement in importlib.metadata.requires("parloop"):
        package, _, condition = requirement.partition(";")
        if extra := re.search(r"extra == ['\"](\w+)['\"]", condition):
            installed.setdefault(extra[1], set()).add(re.split(r"[<>=!~ ]", package.strip())[0])
    del installed["test"]
    every = installed.pop("all")
    assert installed == EXTRAS
    assert set(",".join(re.search(r"\[(.*)\]", entry)[1] for entry in every).split(",")) == set(EXTRAS)


@pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs the repository")
def test_messages_and_pages_name_extras_that_exist():
    named = {}
    for folder, pattern in (("python/parloop", "*.py"), ("examples", "*.py"), ("docs", "*.md"), ("crates", "*.rs")):
        for file in (ROOT / folder).rglob(pattern):
            for extras in re.findall(r"parloop\[(\w+(?:,\w+)*)\]", file.read_text()):
                for extra in extras.split(","):
                    named.setdefault(extra, file)
    assert {"mesh", "plot", "mpi", "sparse"} <= set(named) <= {*EXTRAS, "all"}, named


@pytest.mark.skipif(not (ROOT / ".github").exists(), reason="needs the repository")
def test_workflows_can_be_read_and_call_what_exists():
    import yaml

    commands = {}
    for name in ("ci", "release"):
        workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text())
        for job in workflow["jobs"].values():
            assert job["runs-on"] and set(job.get("needs", [])) <= set(workflow["jobs"])
            commands.setdefault(name, []).extend(step["run"] for step in job["steps"] if "run" in step)
    assert "bash .ci/run" in commands["ci"]
    made = {command.split()[1] for command in commands["release"] if command.startswith("make ")}
    assert made == {"wheel", "sdist", "crates"}
    makefile = (ROOT / "Makefile").read_text()
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in made)


def test_a_missing_package_names_the_extra(monkeypatch, tmp_path):
    import parloop.mesh as op2

    for package in ("scipy.sparse", "h5py", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, package, None)
    mesh = op2.box_mesh((1, 1), "triangle")
    corners = mesh.map("cells", "vertices")
    mat = op2.Mat(op2.Sparsity(mesh.vertices**1, corners))
    with pytest.raises(ImportError, match=re.escape("to_scipy needs SciPy, which is not installed; pip install parloop[sparse]")):
        mat.to_scipy()
    with pytest.raises(pl.errors.MeshFileError, match=re.escape(".h5 files need h5py (pip install parloop[mesh]); .npz files need no package")):
        op2.save(tmp_path / "a.h5", u=op2.Dat(mesh.vertices))
    with pl.profile() as profile:
        pass
    with pytest.raises(ImportError, match=re.escape("Profile.plot needs matplotlib, which is not installed; pip install parloop[plot]")):
        profile.plot()
