"""Short runs of the toy game."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcademark.agents.loading import agent_specs
from arcademark.runs.plan import Plan, make_plan
from arcademark.suite.protocols import protocol

PACED = Path(__file__).with_name("paced.py")
FAKES = Path(__file__).parents[1] / "fakes"


@pytest.fixture(scope="session")
def toy_plan() -> Callable[..., Plan]:
    """Plan a run of the toy game with episodes of at most 120 frames, evaluated after training."""

    def plan(*references: str, seeds: tuple[int, ...] = (0,), episodes: int = 3, **others: Any) -> Plan:
        settings = {"max_frames_per_episode": 120, "reported_episodes": "evaluation"} | others.pop("override", {})
        specs = [spec for reference in references or ("random",) for spec in agent_specs(reference)]
        rules = protocol("world-records").override(settings)
        return make_plan(specs, ["toy"], rules, seeds=seeds, episodes=episodes, **others)

    return plan


@pytest.fixture(scope="session")
def paced() -> Callable[[str], str]:
    """Refer to an agent of paced.py."""
    return lambda name: f"{PACED}:{name}"


@pytest.fixture(scope="session")
def fake() -> Callable[[str], str]:
    """Refer to an agent of the shared fakes."""
    return lambda name: f"{FAKES / name}.py:make_agent"
