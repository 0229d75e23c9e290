"""Every file of docs/tables.md is written and every example run, in its order, in one empty folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arcademark.scores.reading import FORMATS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("tables")
    for name, text in re.findall(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    program = "\n".join(blocks())
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=os.environ.copy(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_examples_print_what_stands_behind_them(shown: list[str]) -> None:
    expected = re.findall(r"print\(.*\)  # (.*)$", "\n".join(blocks()), flags=re.MULTILINE)
    assert len(expected) == "\n".join(blocks()).count("print(")
    assert shown == expected


def test_every_format_is_named() -> None:
    named = re.findall(r"^\| `([a-z0-9-]+)` \| ", PAGE.split("## ")[0], flags=re.MULTILINE)
    assert named == sorted(named, key=named.index)
    assert set(named) == set(FORMATS)


def test_lines_are_not_too_long() -> None:
    assert all(len(line) <= 130 or line.startswith("|") for line in PAGE.splitlines())
