"""The code and the command that a run was made with."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

from arcademark.runs import provenance


def git(directory, *arguments):
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", "-C", directory, *identity, *arguments], check=True, capture_output=True)


def test_a_file_in_a_repository(tmp_path):
    path = tmp_path / "own.py"
    path.write_text("x = 1\n")
    reference = f"{path}:make"
    assert provenance.source_of(reference)["commit"] is None
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Begin")
    assert provenance.source_of(reference)["commit"] is None
    git(tmp_path, "add", "own.py")
    git(tmp_path, "commit", "-q", "-m", "Add an agent")
    source = provenance.source_of(reference)
    assert source["sha256"] == hashlib.sha256(b"x = 1\n").hexdigest()
    assert len(source["commit"]) == 40
    path.write_text("x = 2\n")
    changed = provenance.source_of(reference)
    assert changed["commit"] == f"{source['commit']}+changes"
    assert changed["sha256"] != source["sha256"]


def test_a_module_and_what_has_no_file():
    assert provenance.source_of("arcademark.agents.baselines:Random")["path"].endswith("baselines.py")
    assert provenance.source_of("random") is None
    assert provenance.source_of("no.such.module:make") is None


def test_the_command_is_as_typed(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/arcademark", "run", "my agent.py:make"])
    assert provenance.command() == "arcademark run 'my agent.py:make'"
    monkeypatch.setattr(sys, "argv", ["/somewhere/arcademark/__main__.py", "run", "random"])
    monkeypatch.setattr(sys.modules["__main__"], "__package__", "arcademark")
    assert provenance.command() == "python -m arcademark run random"


def test_the_machine_is_described_without_its_name():
    import platform

    machine = provenance.machine()
    assert machine.keys() == {"system", "processor", "cores"}
    assert platform.node() not in str(machine)


def test_a_file_whose_name_is_no_text(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/own\xff.py")
    with open(path, "wb") as file:
        file.write(b"x = 1\n")
    source = provenance.source_of(f"{path}:make")
    assert source["path"].encode().endswith(b"own\\udcff.py")
    assert source["sha256"] == hashlib.sha256(b"x = 1\n").hexdigest()


def test_a_pipe_is_no_source(tmp_path):
    os.mkfifo(tmp_path / "own.py")
    assert provenance.source_of(f"{tmp_path / 'own.py'}:make") is None


def test_the_files_that_parameters_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder" / "pipe")
    (tmp_path / "w").write_bytes(b"weights")
    of = {"path": "w", "none": "v", "empty": "", "long": "x" * 5000, "half": "\ud800", "nul": "a\0b", "home": "~who/w"}
    assert provenance.files_of(of | {"folder": "folder", "pipe": "folder/pipe", "number": 3}) == {
        "path": hashlib.sha256(b"weights").hexdigest()
    }
    nested = provenance.files_of({"net": {"parts": [str(tmp_path / "w"), "v"]}})
    assert list(nested) == ["net.parts[0]"]
