"""Planners by novelty, and Go-Explore, on real games: what they keep is where the game goes, unless actions stick."""

import numpy as np
import pytest
from small_models import decide

from arcademark.agents.planning.iterated_width import IteratedWidth
from arcademark.agents.planning.rollout_iw import RolloutIW
from arcademark.environments.emulation.generative import snapshot
from arcademark.environments.registry import environment_spec, open_environment, open_model
from arcademark.suite.protocols import protocol


def play_game(planner_type, game, decisions, settings=None, seed=0, **parameters):
    """Play; return actions, whether the kept root was where the game went, the score and frames a decision."""
    spec = environment_spec(game, protocol("ale-2013").override(settings) if settings else protocol("ale-2013"))
    environment, model, rng = open_environment(spec), open_model(spec), np.random.default_rng(seed)
    planner = planner_type(spec, **parameters)
    environment.reset(np.random.default_rng(seed))
    model.use(rng)
    actions, met, score, frames = [], [], 0.0, []
    for i in range(decisions):
        before = model.frames
        action, _ = decide(planner, model, snapshot(environment), i == 0, rng)
        frames.append(model.frames - before)
        actions.append(action)
        score += environment.step(action).reward
        met.append(planner.root.state == snapshot(environment))
    return actions, met, score, frames


@pytest.mark.parametrize("features", ["ram", "tiles", "b-prost"])
@pytest.mark.parametrize("planner_type", [IteratedWidth, RolloutIW])
@pytest.mark.parametrize("game", ["space_invaders", "toy"])
def test_the_game_goes_where_the_planner_looked(planner_type, features, game):
    actions, met, _, frames = play_game(planner_type, game, 4, features=features, frames_per_decision=300)
    assert all(met)
    assert max(frames) <= 301  # one frame before the first restore
    again = play_game(planner_type, game, 4, features=features, frames_per_decision=300)
    assert again[0] == actions


@pytest.mark.parametrize("planner_type", [IteratedWidth, RolloutIW])
def test_sticky_actions_lead_elsewhere_and_are_played_all_the_same(planner_type):
    settings = {"repeat_action_probability": 0.5, "frame_skip": 2}
    _, met, _, frames = play_game(planner_type, "toy", 12, settings, frames_per_decision=200)
    assert not all(met)
    assert max(frames) <= 201


@pytest.mark.parametrize("planner_type", [IteratedWidth, RolloutIW])
def test_the_toy_game_is_played_well(planner_type):
    """A fruit falls in 7 frames; none is missed, for some of them are seen ahead."""
    settings = {"frame_skip": 1, "action_set": "minimal"}
    parameters = {"frames_per_decision": 300, "discount": 0.9}
    _, _, score, _ = play_game(planner_type, "toy", 70, settings, **parameters)
    assert score == 10
