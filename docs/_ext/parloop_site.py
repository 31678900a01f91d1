"""What the site needs of its own: colours for ``.loop`` files, the help of the command, and a check that every public name is described."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import parloop
import parloop.arrays
import parloop.captured
import parloop.compat
import parloop.firedrake
import parloop.gpu
import parloop.loops
import parloop.mesh
import parloop.objects
from docutils import nodes
from docutils.parsers.rst import Directive
from pygments import token
from pygments.lexer import RegexLexer
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

_log = logging.getLogger(__name__)

# The names of `parloop.gpu` that exist once for each type of elements are described by their common class.
_MODULES = (parloop, parloop.errors, parloop.objects, parloop.loops, parloop.mesh, parloop.arrays, parloop.compat, parloop.firedrake, parloop.captured)


class LoopLexer(RegexLexer):
    """Colours of ``.loop`` files."""

    name, aliases = "Parloop loop file", ["loop"]
    tokens = {
        "root": [
            (r"^[;#].*$", token.Comment),
            (r"(?<=\s)#.*$", token.Comment),
            (r"^----.*$", token.Generic.Subheading),
            (r"^(kernel|function|domain|data|instructions|assume|priority|index_type|target|sequential|option)\b", token.Keyword),
            (r"^[a-z]\w*", token.Name.Function),
            (r"\b(for|end|if|elif|else|with|and|or|not)\b", token.Keyword),
            (r"\b(global|constant|value|temp|local|private|object)\b", token.Keyword.Type),
            (r"\b(u?int(8|16|32|64)|float(32|64)|complex(64|128)|bool)\b", token.Keyword.Type),
            (r"\b(sum|product|max|min|any|all|argmax|argmin|reduce)\b", token.Name.Builtin),
            (r"\b\d+(\.\d*)?([eE][-+]?\d+)?f?\b", token.Number),
            (r"\w+(?==)", token.Name.Attribute),
            (r"\w+", token.Name),
            (r"\s+", token.Text),
            (r".", token.Punctuation),
        ]
    }


class CommandHelp(Directive):
    """What the command prints for ``--help``; the arguments are those of the command."""

    optional_arguments = 5
    final_argument_whitespace = False

    def run(self) -> list[nodes.Node]:
        command = [sys.executable, "-m", "parloop", *self.arguments, "--help"]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [nodes.literal_block(printed, printed, language="text")]


class ExceptionTable(SphinxDirective):
    """The exceptions of a module, a table for each family: each with its bases and the first line of its documentation, to be found by name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = sys.modules[self.arguments[0]]
        out: list[nodes.Node] = []
        for family, names in module.FAMILIES.items():
            out += [nodes.rubric(family, family), self._table([self._exception(module, name) for name in names])]
        return out

    def _exception(self, module: Any, name: str) -> nodes.row:
        error = getattr(module, name)
        bases = ", ".join(base.__name__ for base in error.__bases__)
        row = _row((name, bases, (inspect.getdoc(error) or "").split("\n")[0].replace("`", "")), code=2)
        full_name = f"{module.__name__}.{name}"
        row["ids"].append(full_name)
        self.env.get_domain("py").note_object(full_name, "exception", full_name, location=self.get_location())
        return row

    def _table(self, rows: list[nodes.row]) -> nodes.table:
        group = nodes.tgroup("", cols=3)
        group += [nodes.colspec(colwidth=width) for width in (25, 30, 45)]
        group += nodes.thead("", _row(("exception", "bases", "when"), code=0))
        group += nodes.tbody("", *rows)
        return nodes.table("", group)


def _row(texts: tuple[str, ...], code: int) -> nodes.row:
    """A row of a table, the first columns of which are code."""
    inner = [nodes.literal(text, text) if column < code else nodes.Text(text) for column, text in enumerate(texts)]
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", node)) for node in inner))


def public_names(module: Any) -> list[str]:
    """What a user may name in a module."""
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return [name for name in names if not name.startswith("_") and callable(getattr(module, name)) and name != "annotations"]


def _check_names(app: Sphinx, env: Any) -> None:
    described = set(env.domaindata["py"]["objects"])
    # A name that is in two modules needs one entry.
    objects = {id(getattr(module, name)) for module in _MODULES for name in public_names(module) if f"{module.__name__}.{name}" in described}
    for module in _MODULES:
        for name in public_names(module):
            if id(getattr(module, name)) not in objects:
                _log.warning("%s.%s is a public name without an entry in the reference", module.__name__, name)


def _readable_signature(app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None) -> Any:
    """The signatures of compiled functions have `...` for defaults that are empty lists."""
    return (signature.replace("=Ellipsis", "=()").replace("=...", "=()"), returns) if signature else None


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_lexer("loop", LoopLexer)
    app.add_directive("command-help", CommandHelp)
    app.add_directive("exception-table", ExceptionTable)
    app.connect("autodoc-process-signature", _readable_signature)
    app.connect("env-check-consistency", _check_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
