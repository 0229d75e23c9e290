"""An agent that plays learnt weights: the value of each action is linear in the bits of the console's memory.

    arcademark run examples/learnt.py:make_agent --games atari-5 --episodes 10

`learnt.npz` contains weights for the five games of Atari-5. Each was learnt by SARSA(λ), starting from random play, in
3 million frames (Bellemare et al. 2013, the feature set `ram-bits`), which takes some minutes per game:

    arcademark run sarsa --set features=ram-bits --set alpha_schedule=linear --games atari-5 --frames 3M \\
        --episodes 10 --out runs/learnt
    python examples/learnt.py runs/learnt
"""

import json
import sqlite3
import sys
import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.base import EnvironmentSpec

WEIGHTS = Path(__file__).with_name("learnt.npz")


class LearntAgent:
    """Agent that takes the action of the highest value, and sometimes a random one, as in training.

    Parameters
    ----------
    env : EnvironmentSpec
        One of the games of `WEIGHTS`, with all 18 actions.
    epsilon : float
        Probability of a random action.
    """

    observation = "ram"

    def __init__(self, env: EnvironmentSpec, *, epsilon: float = 0.05) -> None:
        with np.load(WEIGHTS, allow_pickle=False) as found:
            if env.game not in found or env.num_actions != 18:
                raise ValueError(f"{WEIGHTS.name} has weights of {', '.join(found)}, with all 18 actions")
            self.weights = found[env.game].astype(np.float64)  # by action and bit
        self.epsilon = epsilon

    def act(
        self, observations: NDArray[np.uint8], first: NDArray[np.bool_], rngs: Sequence[np.random.Generator]
    ) -> NDArray[np.int64]:
        """Choose an action for each episode in play from its memory (episodes, 128)."""
        bits = np.unpackbits(observations, axis=-1, bitorder="little")
        actions = np.argmax(bits @ self.weights.T, axis=1)
        for i, rng in enumerate(rngs):
            if rng.random() < self.epsilon:
                actions[i] = rng.integers(len(self.weights))
        return np.asarray(actions)


make_agent = LearntAgent


def extract(run: Path) -> None:
    """Write the final weights of a run of `sarsa` with `ram-bits` to `WEIGHTS`, in half precision."""
    query = "SELECT trial.game, data FROM checkpoint JOIN trial ON trial.id = checkpoint.trial ORDER BY position"
    learnt = {}
    with closing(sqlite3.connect(run / "run.sqlite")) as database:
        for game, data in database.execute(query):
            header, _, body = data.partition(b"\n")
            rows = json.loads(header)["rows"]
            content = zlib.decompress(body)  # the number of each bit, then its weights
            weights = np.zeros((1024, 18), np.float16)
            weights[np.frombuffer(content, np.int32, rows)] = np.frombuffer(
                content, np.float32, offset=4 * rows
            ).reshape(rows, 18)
            learnt[game] = weights.T
    np.savez_compressed(WEIGHTS, **learnt)  # type: ignore[arg-type]  # mypy: a key may be "allow_pickle"


if __name__ == "__main__":
    extract(Path(sys.argv[1]))
