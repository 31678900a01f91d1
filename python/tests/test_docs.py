"""The code blocks of the documentation run: Python blocks page by page, `.loop` files through the command."""

import os
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY / "docs"))

import blocks  # noqa: E402

PAGES = sorted(page for page in (REPOSITORY / "docs").rglob("*.md") if "_build" not in page.parts) + [REPOSITORY / "README.md"]
# Rust blocks of these pages are doc tests of the crate `parloop`; other pages show files of examples/.
RUST = {"docs/guides/loops.md"}
SHOWN = {"", "c", "console", "bash", "text", "toml", "json"}


def name_of(page):
    return str(page.relative_to(REPOSITORY))


def pages_with(language):
    return [page for page in PAGES if any(block.language == language and not block.reason for block in blocks.blocks(page))]


@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_the_python_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    # What a page shows must not depend on the reader's settings.
    for name in ("PARLOOP_DEVICE", "PARLOOP_CHECKED", "PARLOOP_ARRAYS_DEVICE"):
        monkeypatch.delenv(name, raising=False)
    assert blocks.run_python(page) > 0
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("page", pages_with("loop"), ids=name_of)
def test_the_loop_files_of_a_page_give_code(page):
    for block in blocks.blocks(page):
        if block.language == "loop" and not block.reason:
            assert "(" in blocks.show_loop(block.text), f"{name_of(page)}:{block.line}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_a_page_is_run_or_only_shown(page):
    for block in blocks.blocks(page):
        where = f"{name_of(page)}:{block.line}: {block.language}"
        is_directive = block.language.startswith("{")
        assert is_directive or block.language in SHOWN | {"python", "loop"} or (block.language == "rust" and name_of(page) in RUST), where
        assert len(block.reason) > 5 or not block.reason, where


def test_pages_that_make_pictures_show_them():
    for page in (REPOSITORY / "docs" / "tutorials").glob("*.md"):
        text = page.read_text()
        saved = {name for block in blocks.blocks(page) for name in _saved(block.text)}
        shown = {part.split(")")[0] for part in text.split("](pictures/")[1:]}
        assert saved == shown, name_of(page)


def test_the_chart_of_ratios_has_the_figures_of_the_tables():
    sys.path.insert(0, str(REPOSITORY / "benches"))
    import chart

    assert chart.CHART.read_text() == chart.svg(chart.bars(chart.RESULTS.read_text())), "run: python benches/chart.py"


def test_every_option_of_every_transformation_is_described():
    import inspect

    import parloop.loops as lp
    from parloop.loops import _transform

    page = (REPOSITORY / "docs" / "reference" / "transformations.md").read_text()
    sections = dict(part.split("\n", 1) for part in page.split("\n### ")[1:])
    for name in _transform.__all__:
        for option in inspect.signature(getattr(lp, name)).parameters:
            assert option in ("kernel", "kernels", "program") or f"`{option}`" in sections[name], f"{name}: {option}"


def _saved(text):
    return [part.split('"')[0] for part in text.split('savefig("')[1:]]


def test_directives_do_not_hide_the_blocks_after_them(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```{toctree}\n:hidden:\n```\n\n```python\nx = 1\n```\n\n  ```c\n  int i;\n  ```\n")
    assert [(block.language, block.text) for block in blocks.blocks(page)] == [("{toctree}", ":hidden:\n"), ("python", "x = 1\n"), ("c", "int i;\n")]


def test_a_page_that_fails_names_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nx = 1\n```\n\n<!-- not run: it would fail -->\n```python\n1 / 0\n```\n\n```python\nassert x == 2\n```\n")
    with pytest.raises(AssertionError) as caught:
        blocks.run_python(page)
    assert caught.traceback[-1].lineno + 1 == 13
    assert os.fspath(page) == os.fspath(caught.traceback[-1].path)
