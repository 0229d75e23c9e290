"""A small catalogue of its own, whole or with one thing wrong."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from small_catalogue import ENTRY, LOST, SCORES, SOURCES

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path):
    """Write a catalogue of one collection, "small", with its checksums."""

    def make(entries=ENTRY + LOST, scores=SCORES, sources=SOURCES, more=""):
        files = {"sources.toml": sources, "entries/small.toml": entries, "scores/small.csv": scores}
        files |= {more: SCORES} if more else {}
        sums = {}
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            digest = hashlib.sha256(text.encode()).hexdigest()
            sums.setdefault(path.parent, []).append(f"{digest}  {path.name}\n")
        for folder, lines in sums.items():
            (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
        return tmp_path

    return make
