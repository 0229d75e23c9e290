"""Helpers for the tests of trainers, which are the same for every library."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "tests/agents/trainers"))

import trained

_UNROLLED = {"num_envs": 2, "unroll": 8, "minibatch_size": 32}
trained.SETTINGS |= {
    "impala": _UNROLLED,
    "appo": {**_UNROLLED, "buffer_batches": 2},
    "rainbow": {"num_envs": 2, "buffer_size": 500, "learning_starts": 40},
    "dreamerv3": {"model_size": "nano", "training_ratio": 8, "minibatch_size": 2, "sequence": 8},
}
