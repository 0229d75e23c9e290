"""The code and the command that a run was made with."""

from __future__ import annotations

import hashlib
import importlib.metadata
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
