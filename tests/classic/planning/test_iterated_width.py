"""IW(1) on small games: hand-computed trees, a reference implementation, and what novelty promises."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seeing_models import Replayer, SeeingModel, paths, seeing_model, tile_screen
from small_models import START, decide

from arcademark.classic.planning.iterated_width import IteratedWidth


def make(model, frames=60, discount=0.5, **more):
    planner = IteratedWidth(model.spec, frames_per_decision=frames, discount=discount, **more)
    planner.yield_frames = 1
    return planner


def searched(planner, model, rng=None):
    """Let a planner search without acting; return the root."""
    planner.descend = lambda action: None
    decide(planner, model, START, True, rng or np.random.default_rng(0))
    del planner.descend
    return planner.root


def still_game():
    """Make a game of two actions whose screen changes at the fifth step only, whatever is done."""
    edges = [[i + 1, i + 1] for i in range(6)] + [[6, 6]]
    screens = {i: tile_screen((2, i // 5, 7)) for i in range(7)}
    return SeeingModel(edges, [[0, 0]] * 7, [[]] * 7, frame_skip=4, screens=screens)


@pytest.mark.parametrize("features", ["tiles", "b-prost"])
def test_while_the_screen_stands_still_an_action_goes_on(features):
    """From the second step on, each path goes on by its own action, to the fifth, where the screen changes.

    The first step is judged, since what the root shows is not known: so the other way begins with a leaf.
    """
    model = still_game()
    nodes = paths(searched(make(model, 400, features=features, still_frames=16), model))
    first = next(path for path, node in nodes.items() if len(path) == 1 and node.children)
    for second in (0, 1):
        assert (*first, *(second,) * 4) in nodes
    assert sum(len(path) == 4 for path in nodes) == 2
    assert sum(len(path) == 6 for path in nodes) == 2  # one of the two at the fifth step shows something new
    shorter = paths(searched(make(model, 400, features=features, still_frames=8), model))
    assert max(len(path) for path in shorter) == 4  # still for 4, 8 and 12 frames


# A reference implementation: sets of atoms; each place is reached by playing the actions from the start.


def reference_search(model, start, order, frames, horizon, still_frames):
    """Return the places that are tried, by path, with their rewards and whether they are the end.

    `order` gives the actions of a path in the order in which they are tried.
    """
    look = Replayer(model, start)
    seen, shown = set(), {(): None}
    tried, still, queue, skip = {}, {(): 0}, deque([()]), model.spec.protocol.frame_skip
    while queue:
        path = queue.popleft()
        for action in order(path):
            if still[path] and action != path[-1]:
                continue
            if (len(tried) + 1) * skip > frames:
                return tried
            new = (*path, action)
            at, reward, shown[new] = look(new)
            tried[new] = reward, at.ended
            still[new] = still[path] + skip if still_frames and shown[new] == shown[path] else 0
            if at.ended:
                continue
            if 0 < still[new] <= still_frames or (not still[new] and shown[new] - seen):
                queue.extend([new] if len(new) * skip < horizon else [])
            seen |= set() if still[new] else shown[new]
    return tried


def reference_values(tried, discount):
    values = {}
    for path in sorted(tried, key=len, reverse=True):
        children = [p for p in tried if p[:-1] == path]
        values[path] = max((tried[p][0] + discount * values[p] for p in children), default=0.0)
    return {p: tried[p][0] + discount * values[p] for p in tried if len(p) == 1}


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    frames=st.integers(3, 150),
    num_values=st.integers(1, 5),
    ends=st.integers(0, 4),
    cap=st.sampled_from([2, 4, 10**9]),
    frame_skip=st.sampled_from([1, 3]),
    horizon=st.integers(1, 12),
    discount=st.sampled_from([0.5, 1.0]),
    still=st.sampled_from([0, 3, 7]),
)
def test_it_searches_as_its_reference_implementation(
    seed, frames, num_values, ends, cap, frame_skip, horizon, discount, still
):
    model = seeing_model(seed, num_values=num_values, ends=ends, cap=cap * frame_skip, frame_skip=frame_skip)
    planner, again = (make(model, frames, discount, horizon_frames=horizon) for _ in range(2))
    planner.still_frames = again.still_frames = still  # memories stand for screens
    nodes = paths(searched(planner, model, np.random.default_rng(seed)))
    rng = np.random.default_rng(seed)
    tried = reference_search(model, START, lambda path: rng.permutation(3).tolist()[::-1], frames, horizon, still)
    assert {path: (node.reward, node.ended) for path, node in nodes.items() if path} == tried
    action, _ = decide(again, model, START, True, np.random.default_rng(seed))
    values = reference_values(tried, discount)
    assert not values or values[action,] == max(values.values())
