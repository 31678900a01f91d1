# make demo   build the package into .venv and show what it does on every device found, then a flow around an airfoil and Poisson's equation
# make package  build the package into .venv, again where Rust changed
# make test   set up what the tests need and run the Rust and Python tests
# make lint   check the format and run clippy
# make fuzz   random chains of transformations on random kernels: CASES=20000 FIRST=0 (the first seed) REFUSED=50 (how many refused chains to print)
# make bench  benchmark Parloop and other packages in one run and print ratios
# make torture  1,000 rounds of processes that are killed and files that are damaged, on one compile cache; some minutes
# make interleavings  model-check locks and threads in every interleaving with few preemptions: MORE=1 (more preemptions than in the tests)
# make memcheck  valgrind over the Rust tests of devices, objects and kernels; long
# make leaks  create and drop 100,000 of everything and check that memory does not grow; some minutes
# make docs   the documentation site in docs/_build/html, its pictures made by its own examples; warnings are errors
# make wheel  one abi3 wheel for manylinux_2_28 in dist/, tried on every installed Python from 3.10 to 3.13
# make sdist  the sources of the Python package in dist/; TRY=1 installs them into an environment of their own, which compiles them
# make crates  package every crate that is published, in the order of their dependencies; UPLOAD=1 publishes

SHELL := /bin/bash
# BOOT makes the environments; PYTHON is the interpreter that they contain.
BOOT := $(shell for v in 3.12 3.13 3.11 3.10; do p=$$(command -v python$$v) && $$p -c 'import ensurepip' 2>/dev/null && echo $$p && break; done || true)
ifeq ($(BOOT),)
BOOT := python3
endif
PYTHON ?= $(BOOT)
# `quick` for development, `wheel` for what is shipped and measured. CI has `dev`, as for the Rust tests, so that overflows are found.
PROFILE ?= quick
# Wheels are compiled and linked by zig, for an older glibc than that of this machine. The flag of rustc counts for the package alone, so
# that all other crates are shared with the tests.
ifneq ($(PROFILE),quick)
ZIG := $(CURDIR)/scripts/zig-cc.sh
export CC_$(shell uname -m)_unknown_linux_gnu := $(ZIG)
LINK := -- -C linker=$(ZIG)
endif
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
# What builds the package is not in the environment that it is built for.
BUILD := $(CURDIR)/.venv-build
# uv takes an eighth of pip's time. Bytecode is written when a module is first imported, which most never are.
INSTALL := $(BUILD)/bin/uv pip install --quiet
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
unexport PYTHONDONTWRITEBYTECODE
export VIRTUAL_ENV := $(VENV)
export CARGO_TERM_PROGRESS_WHEN ?= auto
SOURCES := $(shell find crates -name '*.rs' -o -name '*.h' -o -name Cargo.toml) Cargo.toml Cargo.lock pyproject.toml

.PHONY: demo test package lint format environment binaries test-rust test-python test-examples fuzz torture leaks interleavings memcheck wheel sdist crates bench drivers docs docs-rust documented clean

# What pictures need is downloaded while the package is compiled.
demo: $(VENV)/.tools
	@$(MAKE) --no-print-directory $(VENV)/.pictures & $(MAKE) --no-print-directory package && wait $$!
	$(BIN)/python -m parloop.demo
	$(BIN)/python examples/05_airfoil.py
	$(BIN)/python examples/06_poisson.py

package: $(VENV)/.package

test: drivers test-rust test-python test-examples
	@echo "all tests passed"

drivers: $(VENV)/.tests
	bash scripts/drivers.sh

# All that tests and documentation download.
environment: $(VENV)/.tests $(VENV)/.pictures $(VENV)/.docs $(if $(OPENCL),$(VENV)/.$(OPENCL)) drivers

lint: format $(VENV)/.tools $(if $(LINK),$(BUILD)/.wheels)
	cargo clippy --locked --workspace --all-targets -- -D warnings

format:
	cargo fmt --all --check

# loom wants features of its dependencies that the package does not have: crates of both would be compiled twice. Examples have the features of
# the tests for the same reason.
TESTED := --workspace --exclude parloop-python --exclude parloop-interleavings
# PoCL compiles one kernel at a time in a process: with only a thread for each core, cores would be idle while threads wait for it.
export RUST_TEST_THREADS ?= $(shell echo $$(($$(nproc) + 2)))
# SHORT=1 for half of the random cases.
test-rust: $(VENV)/.tests $(if $(LINK),$(BUILD)/.wheels) documented
	$(if $(SHORT),PARLOOP_CHAINS_CASES=200 PROPTEST_CASES=64) cargo test $(TESTED)
	cargo test --package parloop-interleavings

# What these run, without running it.
binaries: $(VENV)/.tools $(if $(LINK),$(BUILD)/.wheels)
	cargo test --no-run $(TESTED)
	cargo build --examples --benches $(TESTED)

# OPENCL=intel runs them on Intel's OpenCL, whose compiler takes a third of the time of PoCL's; what PoCL alone has to do runs on PoCL.
test-python: $(VENV)/.package $(VENV)/.tests $(if $(OPENCL),$(VENV)/.$(OPENCL))
	$(if $(OPENCL),OCL_ICD_VENDORS=$(VENV)/$(OPENCL)/vendors) $(BIN)/python -m pytest --numprocesses auto --dist loadfile --doctest-modules python/tests python/parloop
	$(if $(OPENCL),$(BIN)/python -m pytest --quiet -k pocl python/tests/test_command.py python/tests/test_compile.py)
	bash scripts/petsc.sh

test-examples: $(VENV)/.package $(VENV)/.pictures
	set -e; for example in examples/[0-9]*.py; do echo "== $$example"; $(BIN)/python $$example; done
	cargo build --examples $(TESTED)
	set -e; for example in examples/[0-9]*.rs; do name=$$(basename $$example .rs); echo "== $$example"; target/debug/examples/$$name; done

CASES ?= 20000
fuzz: drivers
	PARLOOP_CHAINS_CASES=$(CASES) PARLOOP_CHAINS_FIRST=$(FIRST) PARLOOP_CHAINS_REFUSED=$(REFUSED) \
		cargo test --package parloop-loop --test loop chains::chains_of_transformations -- --nocapture

torture: $(VENV)/.package
	$(BIN)/python scripts/torture.py 1000

leaks: $(VENV)/.package $(VENV)/.tests
	PARLOOP_LEAKS=100000 $(BIN)/python -m pytest -s -q python/tests/test_leaks.py

MORE ?= 1
interleavings:
	PARLOOP_MORE_PREEMPTIONS=$(MORE) cargo test --release --package parloop-interleavings -- --nocapture

memcheck:
	bash scripts/memcheck.sh

ifdef LINK
wheel: $(VENV)/.tools $(BUILD)/.wheels
	rm -f dist/*.whl
	$(BUILD)/bin/maturin build --locked --profile $(PROFILE) --compatibility manylinux_2_28 --out dist $(LINK)
	bash scripts/try-wheel.sh dist/*.whl
else
wheel:
	$(MAKE) wheel PROFILE=wheel
endif

sdist: $(VENV)/.tools
	rm -f dist/*.tar.gz
	$(BUILD)/bin/maturin sdist --out dist
	$(if $(TRY),bash scripts/try-sdist.sh dist/*.tar.gz)

crates:
	bash scripts/publish.sh $(if $(UPLOAD),--upload)

docs: $(VENV)/.package $(VENV)/.docs docs-rust
	$(BIN)/python docs/blocks.py --pictures docs/tutorials/*.md
	$(BIN)/python -m sphinx -W --keep-going --quiet docs docs/_build/html
	rm -rf docs/_build/html/rust
	cp -r target/doc docs/_build/html/rust
	@echo "the site is docs/_build/html/index.html"

# The reference of Rust, which the site links to. Where RUSTDOC is scripts/rustdoc.sh, the tests have written it.
docs-rust: documented
	[ "$(notdir $(RUSTDOC))" = rustdoc.sh ] || RUSTC_WORKSPACE_WRAPPER= RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet --features parloop/cli --workspace --exclude parloop-python --exclude parloop-forking --exclude parloop-interleavings --exclude parloop-mpirun

# rustdoc links to the crates that have a folder when it comes to the link.
documented:
	mkdir -p $(addprefix target/doc/,$(subst -,_,$(filter-out parloop-python,$(notdir $(wildcard crates/*)))))

bench:
	$(MAKE) package PROFILE=wheel
	bash benches/run.sh

$(BUILD)/.tools:
	$(BOOT) -m venv $(BUILD)
	$(BUILD)/bin/pip install --quiet --disable-pip-version-check uv maturin
	touch $@

# Parloop compiles kernels with zig where that is in its environment, and tests want to see what happens without.
$(BUILD)/.wheels: $(BUILD)/.tools Makefile
	$(INSTALL) --python $(BUILD) ziglang auditwheel
	touch $@

$(VENV)/.tools: $(BUILD)/.tools
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "Python 3.10 or later is needed; name one with PYTHON=..."; exit 1; }
	$(BUILD)/bin/uv venv --quiet --seed --allow-existing --python $(PYTHON) $(VENV)
	$(INSTALL) numpy
	touch $@

$(VENV)/.tests: $(VENV)/.tools Makefile
	$(INSTALL) pytest pytest-xdist scipy hypothesis islpy matplotlib mypy pymbolic pyopencl nvidia-cuda-nvrtc pyarrow meshio h5py mpi4py pyyaml tqdm
	$(INSTALL) --prefix $(VENV)/mpi5 mpich
	touch $@

$(VENV)/.intel: $(VENV)/.tools Makefile
	$(INSTALL) --prefix $(VENV)/intel intel-opencl-rt intel-cmplr-lib-rt
	mkdir -p $(VENV)/intel/vendors
	echo $(VENV)/intel/lib/libintelocl.so >$(VENV)/intel/vendors/intel.icd
	touch $@

$(VENV)/.pictures: $(VENV)/.tools
	$(INSTALL) matplotlib meshio
	touch $@

$(VENV)/.docs: $(VENV)/.tools Makefile
	$(INSTALL) sphinx myst-parser pydata-sphinx-theme sphinx-design sphinx-copybutton matplotlib meshio scipy
	touch $@

# Python files are used in place; the package is rebuilt when Rust changes.
$(VENV)/.package: $(VENV)/.tools $(if $(LINK),$(BUILD)/.wheels) $(SOURCES)
	@echo "building parloop with profile $(PROFILE)"
	PATH=$(BUILD)/bin:$$PATH maturin develop --uv --locked --profile $(PROFILE) $(LINK)
	touch $@

clean:
	rm -rf target dist docs/_build docs/tutorials/pictures $(VENV) $(BUILD) .venv-peers
