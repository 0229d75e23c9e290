"""Helpers of the trainers' tests, which are the same for every library."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "tests/agents/trainers"))
