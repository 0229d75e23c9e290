"""Every file of docs/tables.md is written and every example run, in its order, in one empty folder."""

import re
from pathlib import Path

from arcademark.scores.reading import FORMATS
from command_line import execute

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")


def test_examples_print_what_stands_behind_them(tmp_path):
    for name, text in re.findall(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    program = "".join(re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL))
    expected = re.findall(r"print\(.*\)  # (.*)$", program, flags=re.MULTILINE)
    assert len(expected) == program.count("print(")
    (tmp_path / "examples.py").write_text(program, encoding="utf-8")
    assert execute(tmp_path, ["python", "examples.py"]).splitlines() == expected


def test_every_format_is_named():
    named = re.findall(r"^\| `([a-z0-9-]+)` \| ", PAGE.split("## ")[0], flags=re.MULTILINE)
    assert named == sorted(named, key=named.index)
    assert set(named) == set(FORMATS)
