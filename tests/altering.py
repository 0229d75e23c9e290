"""Runs changed as anyone can who has their files."""

import contextlib
import json
import sqlite3


@contextlib.contextmanager
def database(directory):
    """Open a run's database, whatever it then holds."""
    with contextlib.closing(sqlite3.connect(directory / "run.sqlite", isolation_level=None)) as opened:
        opened.execute("PRAGMA ignore_check_constraints = ON")
        yield opened


def alter(directory, *statements, values=()):
    with database(directory) as opened:
        for statement in statements:
            opened.execute(statement, values)


@contextlib.contextmanager
def manifest(directory):
    """Change what a run's manifest says."""
    path = directory / "manifest.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    yield document
    path.write_text(json.dumps(document), encoding="utf-8")
