"""Whether what a page shows as printed was printed, and is whole."""

import re

RULE = re.compile(r"[\s━─]+")
BEGINS = re.compile(r"\s*([·*] |Warning: )")
COLUMNS = re.compile(r"\S {2,}\S")
LEFT_OUT = "…"


def units(text):
    """What is read as one: titles, paragraphs, notices, and tables with their headers, as lines without their rules."""
    found, new = [], True
    for line in text.splitlines():
        if not line or RULE.fullmatch(line):
            new = new or not line or "━" in line
            continue
        if new or BEGINS.match(line):
            found.append([])
        found[-1].append(line)
        new = False
    return found


def is_whole(shown, unit):
    """Whether lines are those of a unit from its first to its last; of a table "…" stands for rows left out."""
    table, words = any(map(COLUMNS.search, unit)), [" ".join(line.split()) for line in shown]
    pattern = "".join("(?:.*\n)*?" if table and line == LEFT_OUT else f"{re.escape(line)}\n" for line in words)
    return words[0] != LEFT_OUT and bool(re.fullmatch(pattern, "".join(f"{' '.join(line.split())}\n" for line in unit)))


def missing(sample, printed):
    """The units of a sample that are none of what was printed, or only a part of one."""
    every = units(printed)
    return [shown for shown in units(sample) if not any(is_whole(shown, unit) for unit in every)]
