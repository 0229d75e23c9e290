"""Every agent that comes with the package passes, and agents that break one rule fail by that rule."""

import json
from pathlib import Path

import numpy as np
import pytest

from arcademark.agents.loading import agent_specs, applies, make_agent
from arcademark.environments.registry import environment_spec
from arcademark.suite.protocols import protocol
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


class LearnsOtherwiseAfterEvaluation(Good):
    rate = 1

    def evaluate(self):
        super().evaluate()
        self.rate = 2

    def learn(self, transition, rng):
        self.learnt += self.rate


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
        (NeverForgets, "earlier episodes change|at once differs"),
        (LearnsInEvaluation, "evaluation changed the learner's checkpoint"),
        (LearnsOtherwiseAfterEvaluation, "after evaluation"),
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


# Planners that keep the rules pass, and each broken one fails by the rule it breaks


EXAMPLE = f"{Path(__file__).parents[2]}/examples/my_planner.py:make_planner"


@pytest.fixture(params=[0.0, 0.25])
def toy(request):
    return environment_spec("toy", protocol("ale-2013").override({"repeat_action_probability": request.param}))


class GoodPlanner:
    """Looks a few random steps ahead and remembers what it saw; the broken ones below change one thing."""

    def __init__(self):
        self.memory = 0
        self.tried = 0

    def plan(self, model, state, first, rng):
        if first:
            self.forget()
        while self.tried < 4:
            model.restore(state)
            for action in rng.integers(model.num_actions, size=3).tolist():
                reward, terminated, truncated = model.step(action)
                self.memory = (31 * self.memory + action + 7 * int(reward)) % 10007
                if terminated or truncated:
                    break
            self.tried += 1
            yield self.tried == 2 or None
        self.tried = 0
        return (self.memory + int(rng.integers(5))) % model.num_actions

    def forget(self):
        self.memory = self.tried = 0

    def checkpoint(self):
        return json.dumps([self.memory, self.tried]).encode()

    def restore(self, checkpoint):
        self.memory, self.tried = json.loads(checkpoint)


class PlansAtRandom(GoodPlanner):
    def plan(self, model, state, first, rng):
        chosen = yield from super().plan(model, state, first, rng)
        return (chosen + np.random.randint(9)) % model.num_actions  # noqa: NPY002


class PlannerNeverForgets(GoodPlanner):
    def forget(self):
        self.tried = 0


class ForgetsHowFarItWas(GoodPlanner):
    def checkpoint(self):
        return json.dumps([self.memory, 0]).encode()


class PlannerForgetsToRestore(GoodPlanner):
    def restore(self, checkpoint):
        pass


class ChangesWhenAsked(GoodPlanner):
    def checkpoint(self):
        self.memory += 1
        return super().checkpoint()


class TakesItForGranted(GoodPlanner):
    """Goes on from wherever the model stands, which is not the same after a restart."""

    def plan(self, model, state, first, rng):
        if first:
            model.restore(state)
            self.at = None
        if getattr(self, "at", None) is not None:
            model.restore(self.at)
        model.step(0) if not model.ended else None
        self.at = None if model.ended else model.save()
        return model.frames % model.num_actions


def test_a_planner_that_keeps_the_rules_passes(toy):
    check_agent(GoodPlanner, toy, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("planner", "complaint"),
    [
        (PlansAtRandom, r"two fresh planners differ: decision \d+: action"),
        (PlannerNeverForgets, "earlier episodes change the next one"),
        (ForgetsHowFarItWas, r"after restore\(\) at decision 0"),
        (PlannerForgetsToRestore, r"after restore\(\) at decision"),
        (ChangesWhenAsked, "asking for checkpoints changes the episode"),
        (TakesItForGranted, "earlier episodes change|after restore"),
    ],
)
def test_a_planner_that_breaks_a_rule_fails_by_it(planner, complaint, toy):
    with pytest.raises(AssertionError, match=complaint):
        check_agent(planner, toy, np.random.default_rng(1))


SETTINGS = {
    "uct": {"simulations": 12, "horizon_frames": 60},
    "breadth-first": {"frames_per_decision": 400},
    "best-path": {"frames_per_decision": 400},
    "iw": {"frames_per_decision": 400, "features": "b-prost"},
    "rollout-iw": {"frames_per_decision": 400, "features": "tiles"},
    "go-explore": {"explore_frames": 2000, "width": 4, "height": 4},
    EXAMPLE: {"steps": 3},
}


@pytest.mark.slow
@pytest.mark.parametrize(("game", "sticky"), [("toy", 0.0), ("toy", 0.25), ("yars_revenge", 0.0)])
@pytest.mark.parametrize("name", SETTINGS)
def test_planners_that_come_with_the_package_conform(name, game, sticky):
    """In Yars' Revenge, too, where ale-py emulates frames to restore a state."""
    env = environment_spec(game, protocol("ale-2013").override({"repeat_action_probability": sticky}))
    (spec,) = agent_specs(name, SETTINGS[name])
    if name == "go-explore" and sticky:
        assert "sticky actions" in applies(spec, env)
        return
    check_agent(lambda: make_agent(spec, env), env, np.random.default_rng(0))
