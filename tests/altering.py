"""Runs changed as anyone can who has their files, and knows how their rows' checksums are made."""

import contextlib
import json
import sqlite3

from arcademark.records.database import guard, renew_checksums


@contextlib.contextmanager
def database(directory, *, renewed=True):
    """Open a run's database, whatever it then holds; checksums of rows that are changed are renewed, or not."""
    path = directory / "run.sqlite"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as opened:
        guard(opened, path)
        with contextlib.suppress(sqlite3.Error):  # it has not the tables of a run
            if renewed:
                renew_checksums(opened)
        yield opened


def alter(directory, *statements, values=(), renewed=True):
    with database(directory, renewed=renewed) as opened:
        for statement in statements:
            opened.execute(statement, values)


@contextlib.contextmanager
def manifest(directory):
    """Change what a run's manifest says."""
    path = directory / "manifest.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    yield document
    path.write_text(json.dumps(document), encoding="utf-8")
