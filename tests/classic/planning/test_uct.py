"""UCT on small games: hand-computed trees, a reference implementation, and what it may not depend on."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import START, chain, decide, play, random_model, shape

from arcademark.classic.planning.uct import UCT


def make(model, simulations=30, **parameters):
    settings = {"horizon_frames": 3, "exploration": 1.0, "discount": 0.5, "reward_scale": "none"}
    planner = UCT(model.spec, simulations=simulations, **settings | parameters)
    planner.yield_frames = 0
    return planner


def searched(planner, model, rng=None):
    """Return the root as it is before the decision, which drops it."""
    plan = planner.plan(model, START, True, rng or np.random.default_rng(0))
    for _ in range(planner.simulations):
        next(plan)
    return planner.root


def test_the_first_reward_scales_an_episode():
    plain, scaled = (
        (make(model, 5, reward_scale=scale), model)
        for scale, model in (("none", chain([1, 0, 2])), ("first", chain([4, 0, 8])))
    )
    assert shape(searched(*plain)) == shape(searched(*scaled))
    model = chain([5, 10, 20, 40])
    planner = make(model, 3, reward_scale="first", horizon_frames=1)
    _, state = play(planner, model, 0, 2)
    assert planner.magnitude == 5
    decide(planner, model, state, False, np.random.default_rng(0))
    assert planner.magnitude == 5
    decide(planner, model, state, True, np.random.default_rng(0))
    assert planner.magnitude == 20


def test_simulations_are_visits_of_the_root_reused_ones_included():
    model = random_model(1, ends=0)
    planner = make(model, 30)
    _, state = play(planner, model, 0, 1)
    kept = planner.root
    known = kept.visits
    assert 0 < known < 30
    action, yields = decide(planner, model, state, False, np.random.default_rng(1))
    assert yields == 30 - known
    assert kept.visits == 30
    assert planner.root in kept.children
    assert planner.root.action == action


# A reference implementation: the pseudocode as it stands. Nodes know their parents and keep every return; nothing
# is saved but the start: each state is reached by playing the actions from there.


class ReferenceNode:
    def __init__(self, parent=None, action=None, reward=0.0):
        self.parent, self.action, self.reward = parent, action, reward
        self.children, self.order, self.returns = {}, None, []

    @property
    def path(self):
        return () if self.parent is None else (*self.parent.path, self.action)


class ReferenceSearch:
    def __init__(self, model, state, planner, rng):
        self.model, self.state, self.planner, self.rng = model, state, planner, rng
        self.horizon = math.ceil(planner.horizon_frames / model.spec.protocol.frame_skip)
        self.root = ReferenceNode()

    def place(self, path):
        self.model.restore(self.state)
        for action in path:
            reward = self.model.step(action).reward
        return self.model.at, reward if path else 0.0

    def ended(self, node):
        return self.place(node.path)[0].ended

    def decide(self):
        while len(self.root.returns) < self.planner.simulations:
            self.sample()
        counts = [(len(child.returns), child) for child in self.root.children.values()]
        if not counts:
            return int(self.rng.integers(self.model.num_actions))
        return self.greatest(counts).action

    def greatest(self, pairs):
        best = [child for value, child in pairs if value == max(value for value, _ in pairs)]
        return best[self.rng.integers(len(best))] if len(best) > 1 else best[0]

    def sample(self):
        n = self.root
        while n.returns and not self.ended(n) and len(n.path) < self.horizon:
            if n.order is None:
                n.order = list(self.rng.permutation(self.model.num_actions))[::-1]
            if n.order:
                action = int(n.order.pop(0))
                place, reward = self.place((*n.path, action))
                if self.planner.prune_duplicates and any(
                    place == self.place(sibling.path)[0] for sibling in n.children.values()
                ):
                    continue
                n.children[action] = ReferenceNode(n, action, reward)
                n = n.children[action]
            else:
                n = self.select(n)
        self.update(n, self.rollout(n))

    def select(self, n):
        def bound(c):
            return sum(c.returns) / len(c.returns) + self.planner.exploration * math.sqrt(
                math.log(len(n.returns)) / len(c.returns)
            )

        return self.greatest([(bound(c), c) for c in n.children.values()])

    def rollout(self, n):
        steps = self.horizon - len(n.path)
        if not steps or self.ended(n):
            return 0.0
        path, result = n.path, 0.0
        for i, action in enumerate(self.rng.integers(self.model.num_actions, size=steps)):
            path = (*path, int(action))
            place, reward = self.place(path)
            result += self.planner.discount ** (i + 1) * reward
            if place.ended:
                break
        return result

    def update(self, n, result):
        result += n.reward
        n.returns.append(result)
        if n.parent is not None:
            self.update(n.parent, self.planner.discount * result)


def reference_shape(reference, node):
    children = tuple(reference_shape(reference, child) for child in node.children.values())
    action = -1 if node.action is None else node.action
    return (action, node.reward, reference.ended(node), len(node.returns), sum(node.returns), children)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    num_actions=st.integers(1, 4),
    ends=st.integers(0, 4),
    cap=st.sampled_from([2, 4, 10**9]),
    frame_skip=st.sampled_from([1, 4]),
    simulations=st.integers(1, 50),
    horizon=st.integers(1, 9),
    exploration=st.sampled_from([0.0, 0.5, 2.0]),
    discount=st.sampled_from([0.5, 1.0]),
    prune=st.booleans(),
)
def test_it_searches_as_its_reference_implementation(
    seed, num_actions, ends, cap, frame_skip, simulations, horizon, exploration, discount, prune
):
    model = random_model(seed, num_actions=num_actions, ends=ends, cap=cap * frame_skip, frame_skip=frame_skip)
    planner = make(
        model, simulations, horizon_frames=horizon, exploration=exploration, discount=discount, prune_duplicates=prune
    )
    rng = np.random.default_rng(seed)
    root = searched(planner, model, rng)
    reference = ReferenceSearch(model, START, planner, np.random.default_rng(seed))
    action = reference.decide()
    assert shape(root) == reference_shape(reference, reference.root)
    assert decide(planner, model, START, True, np.random.default_rng(seed))[0] == action
