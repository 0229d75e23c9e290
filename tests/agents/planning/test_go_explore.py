"""Go-Explore on small games: its archive, its budget, and that the best trajectory is worth what it says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seeing_models import SeeingModel
from small_models import place, random_model

from arcademark.agents.planning.archive import START as START_CELL
from arcademark.agents.planning.archive import Archive, Trajectory
from arcademark.agents.planning.go_explore import GoExplore
from arcademark.environments.emulation.generative import snapshot
from arcademark.environments.registry import environment_spec, open_environment, open_model
from arcademark.suite.protocols import protocol

START = place(0, 0, False)
NEVER = 10**9


def shown(model):
    """Give each node of a small game a screen of its own."""
    screens = {i: np.full((210, 160), 20 * i, np.uint8) for i in range(len(model.edges))}
    settings = model.spec.protocol
    return SeeingModel(
        model.edges, model.rewards, [[]] * len(screens), model.ends, model.cap, settings.frame_skip, screens
    )


def small_game(seed, **more):
    return shown(random_model(seed, num_nodes=8, **more))


def make(model, frames=300, **more):
    more = {"explore_actions": 5, "repeat_probability": 0.5, "levels": 256, **more}
    return GoExplore(model.spec, explore_frames=frames, **more)


def score_of(model, actions, start=START):
    model.restore(start)
    score = 0.0
    for action in actions:
        assert not model.ended
        score += model.step(action).reward
    return score


def explored(model, planner, seed=0):
    """Let a planner explore; return its archive as it was at the end."""
    return [planner._archive for _ in planner.plan(model, START, True, np.random.default_rng(seed))][-1]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    frames=st.integers(4, 400),
    frame_skip=st.sampled_from([1, 4]),
    ends=st.integers(0, 3),
    cap=st.sampled_from([8, 40, NEVER]),
)
def test_every_trajectory_is_worth_what_it_says(seed, frames, frame_skip, ends, cap):
    model = small_game(seed, ends=ends, cap=cap, frame_skip=frame_skip)
    planner = make(model, frames)
    archive = explored(model, planner, seed)
    assert model.frames == frames // frame_skip * frame_skip
    for state, way in (archive.at(cell) for cell in range(len(archive))):
        actions = archive.actions_to(way)
        assert score_of(model, actions) == way.score
        assert len(actions) == way.length
        assert model.at == state
        assert not way.beats(archive.best)
    assert list(planner.trajectory) == archive.actions_to(archive.best)
    assert score_of(model, planner.trajectory) == archive.best.score >= 0


def archive_of():
    archive = Archive("start")
    for i, key in enumerate((b"a", b"b")):
        last = archive.write(START_CELL, [i, i])
        archive.put(key, key.decode(), Trajectory(float(i), 2, last))
    return archive


def test_cells_are_chosen_in_proportion_to_their_weights():
    archive = archive_of()
    for _ in range(8):
        archive.see({2})
    rng = np.random.default_rng(0)
    chosen = np.bincount([archive.choose(rng) for _ in range(7000)])
    np.testing.assert_allclose(chosen / 7000, [3 / 7, 3 / 7, 1 / 7], atol=0.02)


def test_the_toy_games_score_is_reached_again():
    spec = environment_spec("toy", protocol("ale-2013").override({"frame_skip": 1, "max_frames_per_episode": 200}))
    environment, model = open_environment(spec), open_model(spec)
    environment.reset(np.random.default_rng(3))
    planner = GoExplore(spec, explore_frames=6000, width=8, height=8)
    rng, first, score, best = np.random.default_rng(0), True, 0.0, None
    ended = False
    while not ended:
        plan = planner.plan(model, snapshot(environment), first, rng)
        action = None
        while action is None:
            try:
                next(plan)
                best = planner._archive.best
            except StopIteration as stop:
                action = stop.value
        reward, terminated, truncated = environment.step(action)
        score, first, ended = score + reward, False, terminated or truncated
    assert score >= best.score >= 8  # what falls into the basket while it rests afterwards comes on top


@pytest.mark.parametrize("life_ends", [False, True])
def test_a_lost_life_may_end_an_exploration(life_ends):
    spec = environment_spec("toy", protocol("ale-2013").override({"frame_skip": 1}))
    environment, model = open_environment(spec), open_model(spec)
    environment.reset(np.random.default_rng(3))
    planner = GoExplore(spec, explore_frames=3000, width=8, life_ends=life_ends)
    archive = [
        planner._archive for _ in planner.plan(model, snapshot(environment), True, np.random.default_rng(0))
    ][-1]  # fmt: skip
    assert {archive.at(cell)[0].lives for cell in range(len(archive))} == ({5} if life_ends else {1, 2, 3, 4, 5})


def test_games_with_randomness_are_refused(make_env):
    reason = GoExplore.supports(make_env(protocol_name="machado-2018"))
    assert reason == (
        "it plays again what it found, which sticky actions (repeat_action_probability=0.25) forbid; choose a "
        "protocol without them, or --override repeat_action_probability=0"
    )
    assert GoExplore.supports(make_env(protocol_name="ale-2013")) is None
