"""Each of the three parts loads without the others: emulator, scores, runner."""

import json
import os
import subprocess
import sys

import pytest

LOADED = """
import sys, json
{}
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""

EMULATOR = {
    "_version",
    "ale",
    "emulator",
    "environments",
    "errors",
    "files",
    "grouping",
    "keywords",
    "plugins",
    "suite",
}
NOT_SCORES = {"agents", "ale", "classic", "emulator", "environments", "operations", "runs"}


def loaded(tmp_path, program):
    """Return the modules that a program loads, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(program)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    return json.loads(done.stderr.splitlines()[-1])


def test_the_drop_in_loads_the_emulator_part_alone(tmp_path):
    modules = loaded(tmp_path, "import arcademark.ale")
    assert {name.split(".")[1] for name in modules if name.startswith("arcademark.")} <= EMULATOR
    assert not {"scipy", "matplotlib", "numba", "rich", "click"} & set(modules)


@pytest.mark.slow
def test_a_table_is_scored_by_the_score_library_alone(tmp_path):
    (tmp_path / "scores.csv").write_text("game,mine,theirs\nPong,18.9,20.7\nQ*bert,10596,14293.3\n")
    program = (
        "from arcademark.cli.main import main\n"
        "sys.argv = ['arcademark', 'score', 'scores.csv', '--save', 'page.html']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass"
    )
    modules = loaded(tmp_path, program)
    assert (tmp_path / "page.html").exists()
    assert not {name.split(".")[1] for name in modules if name.startswith("arcademark.")} & NOT_SCORES
    assert not {"ale_py", "gymnasium"} & set(modules)


@pytest.mark.slow
def test_no_process_of_a_run_imports_scipy_or_numba_to_play(tmp_path):
    """The report at the end takes quantiles of SciPy's, where there are episodes enough for intervals."""
    tried, path = tmp_path / "tried", tmp_path / "path"
    path.mkdir()
    for name in ("scipy", "numba", "llvmlite", "matplotlib", "torch"):
        note = f"print({name!r}, file=open({str(tried)!r}, 'a'))"
        (path / f"{name}.py").write_text(f"{note}\nraise ModuleNotFoundError(name={name!r})\n")
    command = "run random --games pong,freeway --episodes 1 --override max_frames_per_episode=200 --workers 2 --out run"
    subprocess.run(
        [sys.executable, "-m", "arcademark", *command.split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(path)},
        check=True,
        capture_output=True,
    )
    assert not tried.exists() or tried.read_text() == ""


WITHOUT_NUMBA = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from arcademark.cli.main import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "plays"),
    [
        (
            "run random --games pong --episodes 1 --override max_frames_per_episode=200 --out run",
            True,
        ),
        ("subset predict mine.csv", True),
        ("info agents sarsa", False),
        ("run sarsa --games pong --training-episodes 1 --out learnt", False),
        ("subset search catalogue:atari-5-training --sizes 1", False),
    ],
)
def test_without_numba_all_else_works_and_what_needs_it_says_what_to_install(tmp_path, command, plays):
    (tmp_path / "mine.csv").write_text("game,mine\nPong,18.9\nQ*bert,10596\nAmidar,200\nBowling,30\n")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA, *command.split()], cwd=tmp_path, capture_output=True, text=True
    )
    if plays:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 2
        assert "pip install '.[classic]'" in done.stderr
        assert done.stderr.count("\n") == 1
