"""Best path on small games: what it keeps, what it changes, and what it may not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import START, decide, place, random_model

from arcademark.classic.planning.best_path import BestPath


def make(model, frames=40, **parameters):
    planner = BestPath(model.spec, frames_per_decision=frames, **{"horizon_frames": 4, "discount": 0.5} | parameters)
    planner.yield_frames = 0
    return planner


def sums(model, state, depth, discount):
    """Return the greatest discounted sum of rewards within `depth` actions, by trying all."""
    if not depth or state.ended:
        return 0.0
    found = []
    for action in range(model.num_actions):
        model.restore(state)
        reward = model.step(action).reward
        found.append(reward + discount * sums(model, model.at, depth - 1, discount))
    return max(found)


@pytest.mark.slow
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), num_actions=st.integers(1, 3), ends=st.integers(0, 3), horizon=st.integers(1, 4))
def test_with_frames_enough_it_finds_the_best_of_all_paths(seed, num_actions, ends, horizon):
    model = random_model(seed, num_actions=num_actions, ends=ends)
    planner = make(model, 3_000, horizon_frames=horizon, hold=0.2)
    plan = planner.plan(model, START, True, np.random.default_rng(seed))
    for _ in plan:
        found = planner.path.worth(0.5)[0]
    assert found == sums(random_model(seed, num_actions=num_actions, ends=ends), START, horizon, 0.5)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6), frames=st.integers(1, 60), skip=st.sampled_from([1, 4]), cap=st.sampled_from([5, 99])
)
def test_its_path_is_always_one_that_the_game_allows_and_never_gets_worse(seed, frames, skip, cap):
    model = random_model(seed, ends=2, frame_skip=skip, cap=cap * skip)
    other = random_model(seed, ends=2, frame_skip=skip, cap=cap * skip)
    planner = make(model, frames, horizon_frames=4 * skip)
    worth = None
    for _ in planner.plan(model, START, True, np.random.default_rng(seed)):
        path = planner.path
        other.restore(START)
        for i, action in enumerate(path.actions):
            assert other.at == path.states[i]
            assert other.step(action).reward == path.rewards[i]
        assert other.at == path.states[-1]
        assert path.ended == other.ended
        assert worth is None or path.worth(0.5) >= worth
        worth = path.worth(0.5)
    assert frames <= model.frames < frames + 4 * skip or model.frames <= 4 * skip


def test_where_the_game_stands_elsewhere_the_actions_are_played_anew_and_an_episode_begins_from_nothing():
    model = random_model(1, ends=0)
    for first in (False, True):
        planner = make(model, 40)
        decide(planner, model, START, True, np.random.default_rng(0))
        kept = list(planner.path.actions)
        elsewhere = place(3, 77, False)
        plan = planner.plan(model, elsewhere, first, np.random.default_rng(1))
        next(plan)
        assert planner.path.states[0] == elsewhere
        if not first:
            assert len(kept) == 3
            assert planner.emulated == 3 + 1  # those three, and a fourth to the horizon
