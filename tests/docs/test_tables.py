"""Every file of the pages on tables is written and every example run, in its order, in one empty folder per page."""

import re
from pathlib import Path

import pytest

from arcademark.scores.reading import FORMATS, read_tables
from arcademark.suite.tasks import canonical_game
from command_line import execute

ROOT = Path(__file__).parents[2]
PAGES = {
    name: (ROOT / "docs" / name).read_text(encoding="utf-8")
    for name in ("tables.md", "logs.md", "reference/formats.md")
}


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_stands_behind_them(tmp_path, page):
    page = PAGES[page]
    for name, text in re.findall(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    program = "".join(re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL))
    expected = re.findall(r"print\(.*\)  # (.*)$", program, flags=re.MULTILINE)
    assert len(expected) == program.count("print(")
    (tmp_path / "examples.py").write_text(program, encoding="utf-8")
    assert execute(tmp_path, ["python", "examples.py"]).splitlines() == expected


def test_every_format_is_named():
    named = re.findall(r"^\| `([a-z0-9-]+)` \| ", PAGES["tables.md"].split("## ")[0], flags=re.MULTILINE)
    assert named == sorted(named, key=named.index)
    assert set(named) == set(FORMATS)


def test_every_form_is_read_as_the_page_says(tmp_path):
    section = PAGES["reference/formats.md"].split("## Forms")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|`]+(?:`[^`]+`\))?) \| `(.+)` \| (.+) \|$", section, flags=re.MULTILINE)
    assert len(rows) == section.count("\n| ") - 1
    for form, example, expected in rows:
        (tmp_path / "table.txt").write_text(example.replace("⏎", "\n").replace("\\|", "|") + "\n")
        said = {"algorithm": "mine"} if "algorithm=mine" in form else {}
        reading = read_tables(tmp_path / "table.txt", canonical_task=canonical_game, **said)
        assert reading.read_as == f"Read as: {expected}", form
