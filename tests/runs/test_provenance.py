"""The code and the command that a run was made with."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import sys
import types

from arcademark.agents.loading import made_spec
from arcademark.reports.tables.analysis import analyse
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.store import manifest, provenance
from arcademark.suite.protocols import protocol

LIBRARY = ("onnxruntime", "onnxruntime-gpu")
SHORT = protocol("world-records").override({"max_frames_per_episode": 400})


def test_a_file_a_module_and_what_has_no_file(tmp_path):
    (tmp_path / "own.py").write_text("x = 1\n")
    source = provenance.source_of(f"{tmp_path}/own.py:make")
    assert source == {"path": f"{tmp_path}/own.py", "sha256": hashlib.sha256(b"x = 1\n").hexdigest()}
    assert provenance.source_of("arcademark.agents.baselines:Random")["path"].endswith("baselines.py")
    assert provenance.source_of("random") is None
    assert provenance.source_of("no.such.module:make") is None


def test_a_file_whose_name_is_no_text(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/own\xff.py")
    with open(path, "wb") as file:
        file.write(b"x = 1\n")
    source = provenance.source_of(f"{path}:make")
    assert source["path"].encode().endswith(b"own\\udcff.py")
    assert source["sha256"] == hashlib.sha256(b"x = 1\n").hexdigest()


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


def test_versions_are_of_the_libraries_that_are_used(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", types.ModuleType("onnxruntime"))
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    assert "onnxruntime" in provenance.libraries()
    assert "ray" not in provenance.libraries()
    there = {"onnxruntime-gpu": "1.2.3", "torch": "2.9.0", "numpy": "2.0"}

    def version(package):
        if package not in there:
            raise importlib.metadata.PackageNotFoundError(package)
        return there[package]

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert provenance.versions_of(["onnxruntime", "ray", "numpy", "os"]) == {"onnxruntime-gpu": "1.2.3"}


def test_a_run_says_with_which_libraries_it_was_made_and_continued(tmp_path, monkeypatch):
    versions = {"1.2.3": 2, "1.3.0": 3, "1.3.1": 3}  # in what each command goes to
    real = importlib.metadata.version
    monkeypatch.setitem(sys.modules, "onnxruntime", types.ModuleType("onnxruntime"))
    for found, episodes in versions.items():
        monkeypatch.setattr(importlib.metadata, "version", lambda name, v=found: v if name in LIBRARY else real(name))
        agent = made_spec(lambda observation: 0)
        execute(make_plan([agent], ["toy"], SHORT, episodes=episodes), tmp_path / "run")
    document = manifest.read(tmp_path / "run")
    assert document["versions"]["onnxruntime"] == "1.2.3"
    assert [later["versions"].get("onnxruntime") for later in document["continued"]] == ["1.3.0", None], (
        "nothing played"
    )
    shown = manifest.versions(document)
    assert shown["onnxruntime"] == "1.2.3, then 1.3.0"
    assert shown["numpy"] == real("numpy")
    methods = " ".join(analyse(str(tmp_path / "run")).methods)
    assert "onnxruntime 1.2.3, then 1.3.0" in methods
