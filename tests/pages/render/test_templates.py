"""What templates of documents name: the result, the presenter's makers, columns that there are, and nothing else."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from jinja2 import meta, nodes

import arcademark.pages
import arcademark.wording
from arcademark.wording import prose

FOLDER = Path(arcademark.pages.__file__).parent / "templates" / "documents"
MAKERS = {"it", "columns", "special", "block", "table", "notices", "references"}
GIVEN = {
    "catalogue": {"summaries"},
    "catalogue-findings": {"findings"},
    "catalogue-sound": {"checked"},
    "features": {"rows"},
    "info": {"topic", "items", "heads"},
    "info-details": {"name", "facts", "listings"},
    "submission": {"written"},
}
"""By template, what its command or the template that includes it gives beside the result."""

TEMPLATES = sorted(path.stem for path in FOLDER.glob("*.jinja"))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_names_only_what_it_is_given(name):
    parsed = prose._environment("arcademark.pages").parse((FOLDER / f"{name}.jinja").read_text("utf-8"))
    own = {node.name for node in parsed.find_all(nodes.Name) if node.ctx in ("store", "param")}
    assert meta.find_undeclared_variables(parsed) - own <= MAKERS | GIVEN.get(name, set())


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_columns_that_a_template_names_exist(name):
    for module, column in re.findall(r"\bcolumns\.(\w+)\.(\w+)", (FOLDER / f"{name}.jinja").read_text("utf-8")):
        assert hasattr(import_module(f"arcademark.pages.columns.{module}"), column)


ARITHMETIC = (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow, nodes.Neg)
PACKAGES = (arcademark.pages, arcademark.wording)
EVERY = sorted(path for package in PACKAGES for path in Path(package.__file__).parent.rglob("*.jinja"))


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem.partition(".")[0])
def test_a_template_works_nothing_out(path):
    parsed = prose._environment("arcademark.pages").parse(path.read_text("utf-8"))
    assert not list(parsed.find_all(ARITHMETIC))
    filters = {node.name for node in parsed.find_all(nodes.Filter)}
    assert not filters & {"sum", "min", "max", "round", "int", "float", "abs"}
