"""Play Const from starts as the emulator of 2013 made them, and write the study `const-starts`.

python results/starts.py

Today's ALE presses the reset key twice for four frames, and then the game's starting actions. Here it is pressed once,
for two frames, and nothing follows: Const then scores what Table 4 of Bellemare et al. 2013 prints of it in 51 games.
The other four depend on the memory at power-on, which is chance. So each agent plays from several memories.
"""

import hashlib
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np

from arcademark.console import build
from arcademark.console.machine import MACHINE_SEED, Machine
from arcademark.console.translate import translated
from arcademark.environments.emulation.atari import rom_path
from arcademark.reproduce.ours import TrialResult
from arcademark.suite.protocols import protocol
from arcademark.suite.tasks import JOYSTICK_ACTIONS, suite
from collect import summed, write

NOOP, RESET = 0, 40
FRAMES_BEFORE, FRAMES_RESET = 60, 2
MEMORIES = 5
"""The first is that of all machines of today."""
MOST = protocol("ale-2013").max_frames_per_episode or 0


class Machine2013(Machine):
    """A game as it began in 2013."""

    def __init__(self, *given: Any, power_on: int = 0, **how: Any) -> None:
        self._seed = MACHINE_SEED + power_on
        super().__init__(*given, **how)

    def _load(self) -> None:
        self._chance = np.random.RandomState(self._seed)
        super()._load()

    def reset(self, mode: int, difficulty: int) -> None:
        """Reset machine and game."""
        self._system_reset()
        self.switch(mode, difficulty)
        for _ in range(FRAMES_BEFORE):
            self._frame(NOOP, ruled=True)
        for _ in range(FRAMES_RESET):
            self._frame(RESET, ruled=True)
        self._begin()


def episode(machine: Machine, action: int) -> tuple[int, int]:
    """Play an action throughout; return score and frames."""
    score = frames = 0
    while frames < MOST and not machine.game_over():
        score += machine.act_unseen(action)
        frames += 1
    return score, frames


def row(game: str, action: int) -> dict[str, Any]:
    """Return an agent's row of the study."""
    begun, rom = perf_counter(), rom_path(game).read_bytes()
    machines = (Machine2013(game, rom, chosen=translated(game, rom), power_on=place) for place in range(MEMORIES))
    played = [episode(machine, action) for machine in machines]
    scores, frames = np.array(played).T
    return {
        "agent": f"const(action={JOYSTICK_ACTIONS[action]})",
        "game": game,
        "seed": 0,
        "episodes": MEMORIES,
        "least": scores.min(),
        "mean": f"{scores.mean():.10g}",
        "most": scores.max(),
        "frames": frames.sum(),
        "seconds": f"{perf_counter() - begun:.5g}",
        "versions": f"arcademark {version('arcademark')}, console {build.version()}",
        "checksum": hashlib.sha256(repr(played).encode()).hexdigest()[:16],
    }


if __name__ == "__main__":
    found = []
    for game in suite("ale-55").tasks:
        found += [row(game, action) for action in range(len(JOYSTICK_ACTIONS))]
    write("const-starts.csv", TrialResult, found)
    summed()
