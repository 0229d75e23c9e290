"""Play Const and Random from starts as the emulator of 2013 made them, and write the study `starts-2013`.

python results/starts.py

Today's ALE presses the reset key twice for four frames, and then the game's starting actions. Here it is pressed once,
for two frames, and nothing follows: Const then scores what Table 4 of Bellemare et al. 2013 prints of it in 51 games.
The other four depend on the memory at power-on, which is chance. So each agent plays from several memories. Random
chooses one of 18 actions each frame.
"""

import hashlib
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from itertools import repeat
from time import perf_counter
from typing import Any

import numpy as np

from arcademark.emulator import build
from arcademark.emulator.machine import MACHINE_SEED, Machine
from arcademark.emulator.translate import translated
from arcademark.environments.emulation.atari import rom_path
from arcademark.metrics.uncertainty.intervals import score_intervals
from arcademark.reproduce.ale2013.ours import TrialResult
from arcademark.suite.protocols import protocol
from arcademark.suite.tasks import JOYSTICK_ACTIONS, score_bounds, suite
from collect import summed, write

NOOP, RESET = 0, 40
FRAMES_BEFORE, FRAMES_RESET = 60, 2
MEMORIES = 5
"""Of Const; the first is that of all machines of today."""
EPISODES = 30
"""Of Random, each from another memory."""
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


def episode(machine: Machine, actions: Iterator[int]) -> tuple[int, int]:
    """Play an action each frame; return score and frames."""
    score = frames = 0
    while frames < MOST and not machine.game_over():
        score += machine.act_unseen(next(actions))
        frames += 1
    return score, frames


def at_random(seed: int) -> Iterator[int]:
    """Yield actions of Random."""
    chance = np.random.default_rng(seed)
    while True:
        yield int(chance.integers(len(JOYSTICK_ACTIONS)))


def row(game: str, agent: str, episodes: Sequence[Iterator[int]]) -> dict[str, Any]:
    """Return an agent's row of the study, given the actions of each of its episodes."""
    begun, rom = perf_counter(), rom_path(game).read_bytes()
    played = [
        episode(Machine2013(game, rom, chosen=translated(game, rom), power_on=place), actions)
        for place, actions in enumerate(episodes)
    ]
    scores, frames = np.array(played).T
    _, *ends = score_intervals([scores.astype(float)], [score_bounds(game)])[0]
    # Of Random episodes are a sample; of Const they are what few memories give.
    uncertain = {} if agent != "random" else dict(zip(("low", "high", "standard_error"), ends, strict=True))
    return {
        "agent": agent,
        "game": game,
        "seed": 0,
        "episodes": len(played),
        "least": scores.min(),
        "mean": f"{scores.mean():.10g}",
        "most": scores.max(),
        **{name: "" if np.isnan(number) else f"{number:.10g}" for name, number in uncertain.items()},
        "frames": frames.sum(),
        "seconds": f"{perf_counter() - begun:.5g}",
        "versions": f"arcademark {version('arcademark')}, console {build.version()}",
        "checksum": hashlib.sha256(repr(played).encode()).hexdigest()[:16],
    }


if __name__ == "__main__":
    found = []
    for game in suite("ale-55").tasks:
        found += [
            row(game, f"const(action={name})", [repeat(action)] * MEMORIES)
            for action, name in enumerate(JOYSTICK_ACTIONS)
        ]
        found.append(row(game, "random", [at_random(seed) for seed in range(EPISODES)]))
    write("starts-2013.csv", TrialResult, found)
    summed()
