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


def grown(planner, model, state, seed=0):
    """Return the root as it is when the search is over, and the action."""
    roots = []
    planner.descend = lambda action: roots.append(planner.root)
    action, _ = decide(planner, model, state, True, np.random.default_rng(seed))
    del planner.descend
    planner.descend(action)
    return roots[0], action


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
