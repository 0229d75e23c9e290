"""Breadth-first search on small games: hand-computed trees, a reference implementation, what it may not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import START, chain, decide, play, random_model

from arcademark.classic.planning.breadth_first import BreadthFirst


def make(model, frames=100, discount=0.5, prune=False):
    planner = BreadthFirst(model.spec, frames_per_decision=frames, discount=discount, prune_duplicates=prune)
    planner.yield_frames = 0
    return planner


@pytest.mark.slow
def test_a_deep_tree_is_searched_packed_and_dropped():
    model = chain([0] * 30_000, ends=False)
    planner = make(model, 25_000)
    assert play(planner, model, 0, 1)[0] == [0]
    other = make(model)
    other.restore(planner.checkpoint())
    assert sum(1 for _ in other.root.walk()) == 25_000
    planner.root = other.root = None


# A reference implementation: levels of action sequences, each played from the start; nothing is saved but the start.


def replayed(model, state, actions):
    model.restore(state)
    rewards = [model.step(action).reward for action in actions]
    return model.at, rewards


def reference(model, state, frames, discount, prune, rng):
    skip, num_actions = model.spec.protocol.frame_skip, model.num_actions
    queue, children, used = [()], {}, 0
    while queue:
        path = queue.pop(0)
        if replayed(model, state, path)[0].ended:
            continue
        if path and used + num_actions * skip > frames:
            break
        used += num_actions * skip
        seen, children[path] = [], []
        for action in range(num_actions):
            place, _ = replayed(model, state, (*path, action))
            if prune and place in seen:
                continue
            seen.append(place)
            children[path].append((*path, action))
            queue.append((*path, action))

    def value(path):
        return max((branch(child) for child in children[path]), default=0.0) if path in children else 0.0

    def branch(child):
        return replayed(model, state, child)[1][-1] + discount * value(child)

    branches = [branch(child) for child in children[()]]
    best = [child for child, v in zip(children[()], branches, strict=True) if v == max(branches)]
    return best[int(rng.integers(len(best))) if len(best) > 1 else 0][0]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    num_actions=st.integers(1, 4),
    ends=st.integers(0, 4),
    cap=st.sampled_from([3, 5, 10**9]),
    frame_skip=st.sampled_from([1, 4]),
    frames=st.integers(1, 120),
    prune=st.booleans(),
    discount=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_it_decides_as_its_reference_implementation(seed, num_actions, ends, cap, frame_skip, frames, prune, discount):
    model = random_model(seed, num_actions=num_actions, ends=ends, cap=cap * frame_skip, frame_skip=frame_skip)
    ours, _ = decide(make(model, frames, discount, prune), model, START, True, np.random.default_rng(seed))
    assert ours == reference(model, START, frames, discount, prune, np.random.default_rng(seed))
