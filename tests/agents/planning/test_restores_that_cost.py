"""Where a restore costs frames itself, as in Yars' Revenge, budgets count them and are kept."""

import numpy as np
import pytest
from seeing_models import SeeingModel, seeing_model
from small_models import decide, place

from arcademark.agents.conformance import check_agent
from arcademark.agents.loading import agent_specs, make_agent
from arcademark.agents.planning.best_path import BestPath
from arcademark.agents.planning.breadth_first import BreadthFirst
from arcademark.agents.planning.go_explore import GoExplore
from arcademark.agents.planning.iterated_width import IteratedWidth
from arcademark.agents.planning.rollout_iw import RolloutIW
from arcademark.environments.registry import environment_spec
from arcademark.suite.protocols import protocol

START = place(0, 0, False)
COST = 3
SKIP = 5


class CostlyModel(SeeingModel):
    """A small game in which every restore that moves emulates frames of its own."""

    def restore(self, state):
        if self.here != state:
            self.frames += COST
        super().restore(state)


def costly(seed):
    model = seeing_model(seed, num_values=6, num_bytes=6, num_nodes=30, ends=0, frame_skip=SKIP)
    return CostlyModel(model.edges, model.rewards, model.memory, frame_skip=SKIP)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("planner", "past"),
    [
        (IteratedWidth, COST),
        (RolloutIW, COST),
        (BreadthFirst, 3 * COST),  # a node's children are made all or none
        (lambda env, frames_per_decision: BestPath(env, frames_per_decision=frames_per_decision, horizon_frames=30),
         30 + COST),  # the last trial is finished
    ],
)  # fmt: skip
def test_frames_of_restores_are_part_of_the_budget(planner, past, seed):
    model = costly(seed)
    rng = np.random.default_rng(seed)
    decide(planner(model.spec, frames_per_decision=400), model, START, True, rng)
    assert 200 < model.frames <= 400 + past


@pytest.mark.parametrize("frames", range(5, 200, 3))
def test_go_explore_ends_where_restores_take_it_past_its_budget(frames):
    model = costly(1)
    planner = GoExplore(model.spec, explore_frames=frames, explore_actions=3)
    action, _ = decide(planner, model, START, True, np.random.default_rng(0))
    assert 0 <= action < model.num_actions
    assert model.frames <= frames + COST


SETTINGS = {
    "breadth-first": {"frames_per_decision": 300},
    "best-path": {"frames_per_decision": 300, "horizon_frames": 50},
    "iw": {"frames_per_decision": 300},
    "rollout-iw": {"frames_per_decision": 300},
    "go-explore": {"explore_frames": 2000, "explore_actions": 30},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_they_conform_in_yars_revenge(name):
    env = environment_spec("yars_revenge", protocol("ale-2013"))
    (spec,) = agent_specs(name, SETTINGS[name])
    check_agent(lambda: make_agent(spec, env), env, np.random.default_rng(0))
