"""The code and the command that a run was made with."""

import importlib.metadata
import sys
import types

from arcademark.agents.loading import made_spec
from arcademark.reports.tables.analysis import analyse
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.store import manifest
from arcademark.suite.protocols import protocol

LIBRARY = ("onnxruntime", "onnxruntime-gpu")
SHORT = protocol("world-records").override({"max_frames_per_episode": 400})


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
