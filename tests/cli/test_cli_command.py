import sys
from pathlib import Path

import pytest

from arcademark.records.reading import read_run

PROGRAM = f"{sys.executable} {Path(__file__).parents[2] / 'examples' / 'agent.py'}"
PLAYED = (
    *("--games", "pong", "--episodes", 1, "--override", "max_frames_per_episode=40", "--engine", "emulator=ale"),
    *("--workers", 1),
)


@pytest.mark.slow
def test_commands_are_played_beside_another_agent_or_alone(invoke, tmp_path):
    assert invoke("run", "random", "--agent-command", PROGRAM, *PLAYED, "--format=json").code == 0
    labels = [trial.agent for trial in read_run(tmp_path / "runs" / "random").trials]
    assert labels == ["random", f"{Path(sys.executable).name} agent.py"]
    assert invoke("run", "--agent-command", f"{PROGRAM} --fast", *PLAYED, "--format=json").code == 0
    names = {path.name for path in (tmp_path / "runs").iterdir()}
    assert names == {"random", f"{Path(sys.executable).name}-agent.py-fast"}


def test_a_trial_whose_program_fails_is_told(invoke):
    done = invoke("run", "--agent-command", "echo hello", *PLAYED, code=1)
    assert "agent echo hello on pong: its first message is 'hello'; expected a message 'agent'" in done.err + done.out
