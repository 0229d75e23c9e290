"""Files of scores as tools write them, and how they are read or refused."""

import builtins
import json

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.scores.reading import read_tables
from arcademark.suite.tasks import canonical_game


def read(paths, **options):
    """Read files, whose tasks are games."""
    return read_tables(paths, **{"canonical_task": canonical_game, **options})


def refuse(path, message, **options):
    """Check that a file is refused in one line."""
    with pytest.raises(ArcadeMarkError, match=message) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)


def episodes(reading):
    return {cell: [part.tolist() for part in parts] for cell, parts in (reading.episodes or {}).items()}


def write(path, content):
    """Write text, bytes, or anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def monitor(path, *scores, env="PongNoFrameskip-v4", start=1.0):
    """Write Stable-Baselines3's monitor.csv."""
    rows = "".join(f"{score},{700 + i},{i + 0.5}\n" for i, score in enumerate(scores))
    return write(path, f"#{json.dumps({'t_start': start, 'env_id': env})}\nr,l,t\n{rows}")


def uninstall(monkeypatch, package):
    """Let a package's import fail."""
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith(package):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
