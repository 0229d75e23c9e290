"""Planners that keep the rules pass, and each broken one fails by the rule it breaks."""

import json
from pathlib import Path

import numpy as np
import pytest

from arcademark.agents.loading import agent_specs, applies, make_agent
from arcademark.environments.registry import environment_spec
from arcademark.suite.protocols import protocol
from arcademark.testing import check_agent

EXAMPLE = f"{Path(__file__).parents[2]}/examples/my_planner.py:make_planner"


@pytest.fixture(params=[0.0, 0.25])
def toy(request):
    return environment_spec("toy", protocol("ale-2013").override({"repeat_action_probability": request.param}))


class Good:
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


class OwnRandomness(Good):
    def plan(self, model, state, first, rng):
        chosen = yield from super().plan(model, state, first, rng)
        return (chosen + np.random.randint(9)) % model.num_actions  # noqa: NPY002


class NeverForgets(Good):
    def forget(self):
        self.tried = 0


class ForgetsHowFarItWas(Good):
    def checkpoint(self):
        return json.dumps([self.memory, 0]).encode()


class ForgetsToRestore(Good):
    def restore(self, checkpoint):
        pass


class ChangesWhenAsked(Good):
    def checkpoint(self):
        self.memory += 1
        return super().checkpoint()


class TakesItForGranted(Good):
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
    check_agent(Good, toy, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("planner", "complaint"),
    [
        (OwnRandomness, r"two fresh planners differ: decision \d+: action"),
        (NeverForgets, "what was played before shows in the next episode"),
        (ForgetsHowFarItWas, r"after restore\(\) at decision 0"),
        (ForgetsToRestore, r"after restore\(\) at decision"),
        (ChangesWhenAsked, "asking for checkpoints changes the episode"),
        (TakesItForGranted, "what was played before shows|after restore"),
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
