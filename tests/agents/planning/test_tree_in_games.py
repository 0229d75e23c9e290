"""Breadth-first search and UCT in the toy game, where all can be computed by hand, and in the emulator.

With seven frames an action each action lasts as long as a fruit falls. The basket, three columns wide, starts in column
4 and then stands at 4, 7 or 0: RIGHT moves it to 7, LEFT to 0, NOOP leaves it. So 4 catches columns 3 to 5, 7 catches 6
and 7, 0 catches 0 and 1, and column 2 is lost. The episode of `COLUMNS` drops fruits in columns 4, 7, 1, …
"""

import pickle

import numpy as np
import pytest
from small_models import decide, shape

from arcademark.agents.planning.breadth_first import BreadthFirst
from arcademark.agents.planning.uct import UCT
from arcademark.environments.emulation.generative import snapshot
from arcademark.environments.registry import environment_spec, open_environment, open_model
from arcademark.suite.protocols import protocol

NOOP, RIGHT, LEFT = range(3)
COLUMNS = (4, 7, 1)


def toy_spec(**override):
    settings = {"action_set": "minimal", "frame_skip": 7}
    return environment_spec("toy", protocol("ale-2013").override(settings | override))


def fruits(number, count):
    """Return the first columns of the episode whose random state begins with `number`."""
    columns = []
    for _ in range(count):
        number = (number * 1140671485 + 12820163) % (1 << 24)
        columns.append((number >> 16) % 8)
    return tuple(columns)


def opened(spec):
    """Return the real game at the start of an episode with the fruits of `COLUMNS`, and a model."""
    seed = next(s for s in range(10_000) if fruits(int(np.random.default_rng(s).integers(1 << 24)), 3) == COLUMNS)
    environment = open_environment(spec)
    environment.reset(np.random.default_rng(seed))
    return environment, open_model(spec)


def values(node):
    return {child.action: (child.reward, child.value) for child in node.children}


def grown(planner, model, state, seed=0):
    """Return the root as it is when the search is over, and the action."""
    roots = []
    planner.descend = lambda action: roots.append(planner.root)
    action, _ = decide(planner, model, state, True, np.random.default_rng(seed))
    del planner.descend
    planner.descend(action)
    return roots[0], action


def test_breadth_first_values_over_two_fruits():
    """Two whole levels, γ = 1/2: column 4 is caught by staying; then column 7 by RIGHT from anywhere."""
    spec = toy_spec()
    environment, model = opened(spec)
    root, action = grown(BreadthFirst(spec, frames_per_decision=12 * 7, discount=0.5), model, snapshot(environment))
    assert model.frames == 12 * 7
    assert values(root) == {NOOP: (1.0, 1.0), RIGHT: (0.0, 1.0), LEFT: (0.0, 1.0)}
    assert [[child.reward for child in node.children] for node in root.children] == [[0, 1, 0], [1, 1, 0], [0, 1, 0]]
    assert action == NOOP  # 1 + 1/2 against 1/2


def test_breadth_first_looks_three_fruits_ahead_after_reuse():
    """The subtree of NOOP is kept: one level of it. 12 more steps make another level, and a part of the next."""
    spec = toy_spec()
    environment, model = opened(spec)
    planner = BreadthFirst(spec, frames_per_decision=12 * 7, discount=0.5)
    _, action = grown(planner, model, snapshot(environment))
    assert shape(planner.root) == (
        NOOP, 1.0, False, 0, 1.0, tuple((a, float(a == RIGHT), False, 0, 0.0, ()) for a in (NOOP, RIGHT, LEFT)),
    )  # fmt: skip
    environment.step(action)
    assert planner.root.state == snapshot(environment)
    before, root = model.frames, planner.root
    action, _ = decide(planner, model, snapshot(environment), False, np.random.default_rng(0))
    assert model.frames - before == 12 * 7
    # Column 7 and then column 1: RIGHT then LEFT gives 1 + 1/2, LEFT first gives 0 + 1/2; one node below NOOP is grown.
    assert {a: v[0] + 0.5 * v[1] for a, v in values(root).items()}[RIGHT] >= 1.5
    assert [len(node.children) for node in root.children] == [3, 3, 3]
    assert [len(node.children) for node in root.children[NOOP].children] == [3, 0, 0]
    assert action == RIGHT


def test_duplicates_in_the_toy_game_are_pruned_by_hand():
    """At 7 RIGHT is NOOP, at 0 LEFT is NOOP: of such a pair the first is considered."""
    spec = toy_spec()
    environment, model = opened(spec)
    root, _ = grown(
        BreadthFirst(spec, frames_per_decision=12 * 7, discount=0.5, prune_duplicates=True),
        model, snapshot(environment),
    )  # fmt: skip
    assert [[child.action for child in node.children] for node in root.children] == [
        [NOOP, RIGHT, LEFT], [NOOP, LEFT], [NOOP, RIGHT],
    ]  # fmt: skip


@pytest.mark.parametrize(("simulations", "visits"), [(4, [1, 1, 1]), (11, [8, 1, 1]), (12, [8, 1, 2]), (13, [8, 2, 2])])
def test_uct_visits_over_one_fruit(simulations, visits):
    """One action deep, NOOP gives 1 and the others 0; C = 1.

    With n visits of NOOP and n + 3 of the root, another is tried once √log(n + 3) > 1 + √(log(n + 3) / n): at n = 8,
    where 1.5485 > 1.5475. Then the third has the greatest bound.
    """
    spec = toy_spec()
    environment, model = opened(spec)
    planner = UCT(spec, simulations=simulations, horizon_frames=7, exploration=1.0)
    root, action = grown(planner, model, snapshot(environment))
    by_action = {child.action: child for child in root.children}
    assert by_action[NOOP].visits == visits[0]
    assert sorted(by_action[a].visits for a in (RIGHT, LEFT)) == visits[1:]
    assert by_action[NOOP].value == visits[0]
    assert by_action[RIGHT].value == by_action[LEFT].value == 0
    assert root.visits == simulations
    if simulations > 4:
        assert action == NOOP
    assert model.frames == 4 * 7  # a rollout and three children; nothing more within the horizon


def test_uct_keeps_the_visits_below_its_action():
    spec = toy_spec()
    environment, model = opened(spec)
    planner = UCT(spec, simulations=11, horizon_frames=7, exploration=1.0)
    _, action = grown(planner, model, snapshot(environment))
    environment.step(action)
    assert (planner.root.action, planner.root.visits, planner.root.value) == (NOOP, 8, 8.0)
    root = planner.root
    before = model.frames
    decide(planner, model, snapshot(environment), False, np.random.default_rng(1))
    assert root.visits == 11
    assert sum(child.visits for child in root.children) == 3  # three simulations: each action once
    assert model.frames - before == 3 * 7


def test_uct_prunes_the_duplicates_of_the_toy_game():
    """At 7 RIGHT is NOOP, at 0 LEFT is NOOP, whichever of the two was tried first."""
    spec = toy_spec()
    environment, model = opened(spec)
    planner = UCT(spec, simulations=40, horizon_frames=21, exploration=5.0)
    root, _ = grown(planner, model, snapshot(environment))
    below = {child.action: [c.action for c in child.children] for child in root.children}
    assert sorted(below[NOOP]) == [NOOP, RIGHT, LEFT]
    assert sorted(below[RIGHT]) in ([NOOP, LEFT], [RIGHT, LEFT])
    assert sorted(below[LEFT]) in ([NOOP, RIGHT], [RIGHT, LEFT])
    for node in root.walk():
        if node.children:
            assert node.visits == 1 + sum(child.visits for child in node.children)


def test_uct_catches_nearly_all_where_all_can_be_caught():
    """At a frame an action the basket reaches any column in time; doing nothing catches 3 of 8 columns."""
    spec = toy_spec(frame_skip=1, max_frames_per_episode=7 * 12)
    environment, model = opened(spec)
    planner, rng, score = UCT(spec, simulations=40, horizon_frames=9), np.random.default_rng(0), 0.0
    for i in range(7 * 12):
        action, _ = decide(planner, model, snapshot(environment), i == 0, rng)
        score += environment.step(action).reward
    assert score >= 11


def test_breadth_first_stays_where_more_can_be_caught_later():
    """The fruits fall in 4, 7, 1, 5, 2, 4, 5, 5, …: leaving column 4 catches 7 and 1, and then four are lost."""
    spec = toy_spec()
    environment, model = opened(spec)
    planner, rng = BreadthFirst(spec, frames_per_decision=7 * 3 * 1_100), np.random.default_rng(0)
    actions = []
    for i in range(4):
        action, _ = decide(planner, model, snapshot(environment), i == 0, rng)
        actions.append(action)
        environment.step(action)
    assert actions == [NOOP] * 4


class Copies:
    """A model whose states are kept as text, so that none is ever the one that was saved."""

    keeps = True

    def __init__(self, model):
        self.model, self.spec, self.num_actions, self.step = model, model.spec, model.num_actions, model.step

    @property
    def frames(self):
        return self.model.frames

    def save(self):
        return pickle.loads(pickle.dumps(self.model.save()))

    def restore(self, state):
        self.model.restore(pickle.loads(pickle.dumps(state)))


class Restless(Copies):
    """A model that plays elsewhere before every restore, in frames that do not count."""

    elsewhere = 0

    @property
    def frames(self):
        return self.model.frames - self.elsewhere

    def restore(self, state):
        if not self.model.ended:
            before = self.model.frames
            self.model.step(0)
            self.elsewhere += self.model.frames - before
        self.model.restore(state)


@pytest.mark.parametrize("game", ["toy", "seaquest", "breakout"])
@pytest.mark.parametrize("name", ["breadth-first", "uct"])
def test_a_search_does_not_depend_on_how_states_are_stored(game, name):
    spec = toy_spec() if game == "toy" else environment_spec(game, protocol("ale-2013"))
    environment = open_environment(spec)
    environment.reset(np.random.default_rng(0))
    for action in np.random.default_rng(1).integers(spec.num_actions, size=10 if game == "toy" else 60).tolist():
        if environment.step(action).terminated:
            environment.reset(np.random.default_rng(0))
    state = snapshot(environment)
    found = []
    for wrap in (lambda model: model, Copies, Restless):
        model = open_model(spec)
        model.restore(state)
        planner = (
            UCT(spec, simulations=25, horizon_frames=60)
            if name == "uct"
            else BreadthFirst(spec, frames_per_decision=500)
        )
        found.append(shape(grown(planner, wrap(model), state)[0]))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", ["breadth-first", "uct"])
def test_under_sticky_actions_episodes_are_repeatable_and_reuse_only_what_holds(name):
    spec = toy_spec(frame_skip=2, repeat_action_probability=0.25, max_frames_per_episode=120)

    def episode():
        environment, model = opened(spec)
        planner = UCT(spec, simulations=12) if name == "uct" else BreadthFirst(spec, frames_per_decision=60)
        rng, actions, held = np.random.default_rng(5), [], []
        while True:
            state = snapshot(environment)
            held.append(planner.root is not None and planner.root.state == state)
            model.restore(state)
            model.use(rng)
            action, _ = decide(planner, model, state, not actions, rng)
            actions.append(action)
            step = environment.step(action)
            if step.terminated or step.truncated:
                return actions, held

    actions, held = episode()
    assert (actions, held) == episode()
    assert {True, False} <= set(held[1:])
