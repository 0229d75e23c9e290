"""Budgets of frames are kept, in Yars' Revenge too, where ale-py emulates frames to restore a state."""

import numpy as np
import pytest
from seeing_models import paths, seeing_model
from small_models import decide, place, play, shape

from arcademark.agents.loading import agent_specs, applies
from arcademark.agents.planning.best_path import BestPath
from arcademark.agents.planning.breadth_first import BreadthFirst
from arcademark.agents.planning.go_explore import GoExplore
from arcademark.agents.planning.iterated_width import IteratedWidth
from arcademark.agents.planning.rollout_iw import RolloutIW
from arcademark.agents.planning.uct import UCT
from arcademark.errors import ArcadeMarkError

START = place(0, 0, False)


def small(seed):
    return seeing_model(seed, num_values=6, num_bytes=6, num_nodes=30, ends=0, frame_skip=5)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("planner", "past"),
    [
        (IteratedWidth, 0),
        (RolloutIW, 0),
        (BreadthFirst, 0),
        (lambda env, **frames: BestPath(env, **frames, horizon_frames=30), 30),  # the last trial is finished
    ],
)
def test_budgets_of_frames_are_kept(planner, past, seed):
    model = small(seed)
    rng = np.random.default_rng(seed)
    decide(planner(model.spec, frames_per_decision=400), model, START, True, rng)
    assert 150 < model.frames <= 400 + past


@pytest.mark.parametrize(
    "planner",
    [
        lambda env: BreadthFirst(env, frames_per_decision=60),
        lambda env: UCT(env, simulations=30, horizon_frames=15),
        lambda env: IteratedWidth(env, frames_per_decision=60),
        lambda env: RolloutIW(env, frames_per_decision=60),
    ],
)
@pytest.mark.parametrize(("first", "elsewhere"), [(True, 0), (False, 1)])
def test_nothing_is_kept_where_the_game_stands_elsewhere_or_an_episode_begins(planner, first, elsewhere):
    model = small(1)
    kept, fresh = planner(model.spec), planner(model.spec)
    _, state = play(kept, model, 0, 1)
    state = state._replace(frames=state.frames + elsewhere)
    chosen = []
    for one, begins in ((kept, first), (fresh, True)):
        frames = model.frames
        chosen.append((*decide(one, model, state, begins, np.random.default_rng(7)), model.frames - frames))
    assert chosen[0] == chosen[1]
    assert shape(kept.root) == shape(fresh.root)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("planner", [BreadthFirst, IteratedWidth, RolloutIW])
def test_a_kept_tree_saves_frames(planner, seed):
    """The nodes below the action are there again, as they were, and no frame is emulated for them."""
    model = seeing_model(seed, num_values=1 + seed % 5, ends=seed % 3)
    made, rng = planner(model.spec, frames_per_decision=300), np.random.default_rng(seed)
    action, _ = decide(made, model, START, True, rng)
    model.restore(START)
    if model.step(action).terminated:
        return
    state, kept, frames = model.save(), paths(made.root), model.frames
    made.descend = lambda action: None
    decide(made, model, state, False, rng)
    nodes = paths(made.root)
    assert all(nodes[path] is node for path, node in kept.items())
    assert model.frames - frames == len(nodes) - len(kept)


@pytest.mark.parametrize("frames", [5, 50, 200])
def test_go_explore_ends_within_its_budget(frames):
    model = small(1)
    planner = GoExplore(model.spec, explore_frames=frames, explore_actions=3)
    action, _ = decide(planner, model, START, True, np.random.default_rng(0))
    assert 0 <= action < model.num_actions
    assert model.frames <= frames


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("uct", {"simulations": 0}, "agent uct: parameter 'simulations' is 0: expected int of at least 1"),
        ("uct", {"exploration": -1.0}, "'exploration' is -1.0: expected float of at least 0"),
        ("breadth-first", {"discount": 1.5}, "'discount' is 1.5: expected float from 0 to 1"),
        ("iw", {"frames_per_decision": 3}, "is 3: expected at least 4, the frames of one action"),
        ("iw", {"frames_per_decision": 9, "frames_per_action": 10}, "is 9: expected at least 10"),
        ("rollout-iw", {"frames_per_action": 0}, "'frames_per_action' is 0: expected int of at least 1 or None"),
        ("rollout-iw", {"risk_aversion": 0.5}, "'risk_aversion' is 0.5: expected float of at least 1"),
        ("go-explore", {"explore_frames": 2}, "is 2: expected at least 4, the frames of one action"),
        ("go-explore", {"width": 161}, "'width' is 161: expected 1 to 160"),
        ("go-explore", {"levels": 257}, "'levels' is 257: expected int from 1 to 256"),
    ],
)
def test_parameters_out_of_range_are_refused(name, parameters, message, env):
    with pytest.raises(ArcadeMarkError, match=message):
        applies(agent_specs(name, parameters)[0], env)
