"""Every agent that comes with the package passes, and agents that break one rule fail by that rule."""

import numpy as np
import pytest

from arcademark.agents.loading import agent_specs, make_agent
from arcademark.testing import agents as conformance
from arcademark.testing import check_agent

BUILTIN = agent_specs("baselines")


@pytest.mark.parametrize("spec", [BUILTIN[0], BUILTIN[2], BUILTIN[-1]], ids=lambda spec: spec.label)
def test_the_baselines_conform(spec, env):
    check_agent(lambda: make_agent(spec, env), env, np.random.default_rng(0))


class Good:
    """A learner with memory that keeps every rule; the broken ones below change one thing."""

    def __init__(self):
        self.memory = {}
        self.learnt = 0
        self.training = True

    def act(self, observations, first, rngs):
        return np.array([self.one(i, o, first[i], rngs[i]) for i, o in enumerate(observations)])

    def one(self, i, observation, first, rng):
        self.memory[i] = 0 if first else self.memory[i] + int(observation.flat[0])
        return (self.memory[i] + self.learnt + int(rng.integers(3))) % 3

    def train(self):
        self.training = True

    def evaluate(self):
        self.training = False

    def learn(self, transition, rng):
        self.learnt += transition.action + 1

    def checkpoint(self):
        return b"%d" % self.learnt

    def restore(self, checkpoint):
        self.learnt = int(checkpoint)


class OutOfRange(Good):
    def one(self, i, observation, first, rng):
        return super().one(i, observation, first, rng) + 1


class OwnRandomness(Good):
    def one(self, i, observation, first, rng):
        return np.random.randint(3)  # noqa: NPY002


class SharedGenerator(Good):
    def act(self, observations, first, rngs):
        return np.array([self.one(i, o, first[i], rngs[0]) for i, o in enumerate(observations)])


class SharedMemory(Good):
    def one(self, i, observation, first, rng):
        return super().one(0, observation, first, rng)


class NeverForgets(Good):
    def one(self, i, observation, first, rng):
        return super().one(i, observation, first and i not in self.memory, rng)


class LearnsInEvaluation(Good):
    def act(self, observations, first, rngs):
        if not self.training and len(self.memory) == 1:
            self.learnt += 3  # a multiple of 3 leaves the actions as they are
        return super().act(observations, first, rngs)


class ForgetsToRestore(Good):
    def restore(self, checkpoint):
        pass


class KeepsObservations(Good):
    def one(self, i, observation, first, rng):
        before = self.memory.get(i)
        self.memory[i] = observation
        return 0 if first else int(before.flat[0]) % 3


class CopiesObservations(KeepsObservations):
    def one(self, i, observation, first, rng):
        return super().one(i, observation.copy(), first, rng)


@pytest.mark.parametrize("agent", [Good, CopiesObservations])
def test_an_agent_that_keeps_the_rules_passes(agent, small_env):
    check_agent(agent, small_env, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("agent", "complaint"),
    [
        (OutOfRange, "are not all in 0 to 2"),
        (OwnRandomness, "two fresh agents differ"),
        (SharedGenerator, "playing 2 at once differs from one by one"),
        (SharedMemory, "playing 2 at once differs from one by one"),
        (NeverForgets, "what was played before shows|at once differs"),
        (LearnsInEvaluation, "evaluation changed the learner's checkpoint"),
        (ForgetsToRestore, r"after restore\(\)"),
    ],
)
def test_an_agent_that_breaks_a_rule_fails_by_it(agent, complaint, small_env):
    with pytest.raises(AssertionError, match=complaint):
        check_agent(agent, small_env, np.random.default_rng(1))


def test_observations_are_valid_during_the_call_only(small_env):
    rng = np.random.default_rng(1)
    episodes = conformance.fake_episodes(small_env, rng)
    assert conformance.play(KeepsObservations(), episodes) != conformance.play(CopiesObservations(), episodes)
