"""Documentation and what users read is in standard English: none of the project's former phrases stands in it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "arcademark"
TEMPLATES = [SOURCE / "wording" / "templates", SOURCE / "pages" / "templates"]
PAGES = [
    *(ROOT / "README.md", ROOT / "CHANGELOG.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(path for folder in TEMPLATES for path in folder.rglob("*") if path.is_file() and "vendor" not in path.parts),
]

AMOUNTS = "runs|episodes|frames|scores|seconds|trials|jobs|steps|rows?|once|twice|one job|one score"
UNITS = "game|run|seed|episode|trial|decision|step|frame|second|minute|hour|million|billion|cell|file|core|value|score"
PHRASES = {
    "tell much about": "predict most of",
    r"intervals of these .{0,20}\bheld \d+ of": "covered 17 of 22",
    r"\d+ of \d+ were held": "were covered",
    "four fifths of what": "80 % of",
    "Figures are those of": "The page computes what `score` computes",
    "told so": "gets an error",
    "Whatever happens to": "A crash never affects others",
    "What is said of": "Result types of",
    "this share of single runs lies": "a tolerance interval for this share of runs",
    "What files do not say": "Override how input files are parsed",
    "such as single episodes give": "look like single episodes",
    "a little too good": "biased upwards",
    "are too good": "biased upwards",
    "find the difference seen": "statistical power",
    "four times in five": "80 % power",
    "A run of it beats": "P(X > Y)",
    "draws nothing, nor does": "is deterministic",
    "of the game but its start": "only the no-op starts vary",
    "alone would have said": "estimated from five games",
    "foretold": "predicted",
    "foretell": "predict",
    r"\bheld within \d": "clipped to",
    rf"\b(?:{AMOUNTS}) an? (?:{UNITS})\b": "per",
}
"""Patterns of what is not standard English, and what to write instead."""


MAX_WORDS = 1_500
REFERENCE = ("research", "results", "reference", "json.md", "reproduce-json.md")


def test_pages_are_short():
    docs = ROOT / "docs"
    words = {path.relative_to(docs): len(path.read_text(encoding="utf-8").split()) for path in docs.rglob("*.md")}
    too_long = {
        path.as_posix(): number
        for path, number in words.items()
        if path.parts[0] not in REFERENCE and number > MAX_WORDS
    }
    assert too_long == {}


def found(text):
    words = " ".join(text.lower().split())
    return [
        f"{pattern!r}: write {better!r}" for pattern, better in PHRASES.items() if re.search(pattern.lower(), words)
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_have_none_of_these_phrases(path):
    assert found(path.read_text(encoding="utf-8")) == []


def messages(path):
    """The literal texts of a module, but its docstrings; "{}" stands for what is put into one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone | parts:
            yield node.value


def test_messages_have_none_of_these_phrases():
    told = {}
    for path in SOURCE.rglob("*.py"):
        joined = re.sub(r"\"\s+f?\"", "", path.read_text(encoding="utf-8"))  # literals that stand below each other
        if found(joined) and (phrases := found(" | ".join(messages(path)))):
            told[path.relative_to(ROOT).as_posix()] = phrases
    assert told == {}


def test_a_phrase_is_found_across_lines():
    assert found("so they are a little\n  too good.") == ["'a little too good': write 'biased upwards'"]
    assert found("the intervals of these five held 17 of 22 true medians") != []
    assert found("The scores are biased upwards.") == []
    assert found("DQN has 5 runs a game") != []
    assert found("HNS held within 0 and 100 %") != []
    assert found("runs of a game share a seed") == []
