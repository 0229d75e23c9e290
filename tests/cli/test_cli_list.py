"""The runs below a folder."""

import json
import shutil
from pathlib import Path


def test_runs_are_listed_with_how_far_they_are(invoke, played):
    shutil.copytree(played, "runs/mine")
    Path("runs/broken").mkdir()
    Path("runs/broken/manifest.json").write_text("{}")
    shown = invoke("runs", "list")
    assert shown.code == 1  # one cannot be read
    (row,) = (line.split() for line in shown.out.splitlines() if line.startswith("runs/mine"))
    assert row == ["runs/mine", "random", "Pong", "and", "Q*bert", "1", "4"]
    assert "Not read" in shown.out
    document = json.loads(invoke("runs", "list", "runs", "--to=json").out)
    (run,) = document["runs"]
    assert (run["agents"], run["games"], run["status"]) == (["random"], ["Pong", "Q*bert"], "complete")
    assert [item["directory"] for item in document["unread"]] == ["runs/broken"]
