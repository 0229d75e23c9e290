"""What a type checker knows of the package in a user's code."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

THIRD = ("torch", "stable_baselines3", "sb3_contrib")

CODE = """
import arcademark

report = arcademark.run("random", "pong", seeds=2, episodes=1, overrides={"fire_reset": True})
reveal_type(report.algorithms[0].scores[0].score.value)
reveal_type(report.curves())
reveal_type(arcademark.compare("runs/a", "runs/b", games="pong").pairs[0])
reveal_type(arcademark.predict({"A": {"pong": 1.0}}).predictions[0].estimate)
reveal_type(arcademark.search(size=3, nested=True).results[0].best.tasks)
arcademark.run("random", seed=1)
arcademark.report("runs/a", algorithm="A")
arcademark.compare("runs/a", resamples="many")
report.nothing
arcademark.rum
"""

SAID = """
4: note: Revealed type is "float | None"
5: note: Revealed type is "dict[tuple[str, str], tuple[
6: note: Revealed type is "arcademark.analysis.scoring.comparison.Pair"
7: note: Revealed type is "arcademark.subset.predict.model.ModelEstimate | None"
8: note: Revealed type is "tuple[str, ...]"
9: error: Unexpected keyword argument "seed"
10: error: Unexpected keyword argument "algorithm"
11: error: Argument "resamples" to "compare" has incompatible type "str"
12: error: "Report" has no attribute "nothing"
13: error: Module has no attribute "rum"
"""


@pytest.mark.slow
def test_examples_and_results_have_types(tmp_path):
    for example in (ROOT / "examples").glob("*.py"):
        shutil.copy(example, tmp_path)
    (tmp_path / "user.py").write_text(CODE.lstrip())
    missing = "".join(f"[mypy-{name}.*]\nignore_missing_imports = True\nfollow_imports = skip\n" for name in THIRD)
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = True\n{missing}")
    command = [sys.executable, "-m", "mypy", *(path.name for path in tmp_path.glob("*.py"))]
    lines = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout.splitlines()
    assert [line for line in lines if not line.startswith("user.py:")] == [lines[-1]]
    said = [line.removeprefix("user.py:") for line in lines if line.startswith("user.py:") and " defined " not in line]
    for line, expected in zip(said, SAID.split("\n")[1:-1], strict=True):
        assert line.startswith(expected)
