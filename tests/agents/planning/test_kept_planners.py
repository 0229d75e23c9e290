"""What planners keep is data: it comes back the same, and whatever else is given runs nothing."""

import numpy as np
import pytest

from arcademark.agents.loading import agent_specs, make_agent
from arcademark.agents.planning.planner import as_state, pack, unpack
from arcademark.environments.emulation.generative import State, snapshot
from arcademark.environments.registry import environment_spec, open_environment, open_model
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import protocol

PLANNERS = {
    "uct": {"simulations": "60", "horizon_frames": "40"},
    "breadth-first": {"frames_per_decision": "1200"},
    "iw": {"frames_per_decision": "1200"},
    "rollout-iw": {"frames_per_decision": "1200"},
    "go-explore": {"explore_frames": "3000"},
    "best-path": {"frames_per_decision": "1200"},
}


def kept(name, game="seaquest"):
    """Return a planner in the middle of a decision, and another that knows nothing."""
    spec = environment_spec(game, protocol("ale-2013"))
    model, environment = open_model(spec), open_environment(spec)
    environment.reset(np.random.default_rng(0))
    for _ in range(60):
        environment.step(0)
    (agent,) = agent_specs(name, PLANNERS[name])
    planner, other = make_agent(agent, spec), make_agent(agent, spec)
    planner.planner.yield_frames = 50
    planning = planner.plan(model, snapshot(environment), True, np.random.default_rng(1))
    next(planning)
    return planner, other


@pytest.mark.parametrize("console", [None, 3, b"abc", (b"abc", (0, 5))])
def test_states_of_every_kind_come_back(console):
    state = State("pong", console, 0, 12, 3, False)
    again = as_state(unpack(pack([state]))[0])
    assert (again, hash(again)) == (state, hash(state))


@pytest.mark.parametrize("name", PLANNERS)
def test_a_planner_is_kept_as_the_same_bytes(name):
    planner, other = kept(name)
    data = planner.checkpoint()
    other.restore(data)
    assert other.checkpoint() == data == planner.checkpoint()


@pytest.mark.parametrize("name", ["rollout-iw", "go-explore"])
def test_a_damaged_checkpoint_is_refused_or_harmless(name):
    planner, _ = kept(name)
    data = planner.checkpoint()
    rng, refused = np.random.default_rng(0), 0
    for trial in range(60):
        damaged = bytearray(data)
        where = int(rng.integers(200 if trial % 2 else len(data)))
        damaged[where] = int(rng.integers(256))
        try:
            planner.restore(bytes(damaged[: where if trial % 10 == 0 else len(data)]))
        except ArcadeMarkError:
            refused += 1
    assert refused > 6


ARRAY = pack([np.zeros(2)])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "truncated"),
        (pack([b"abc"])[:-1], "truncated"),
        (pack([b"abc"]) + b"d", "trailing"),
        (ARRAY.replace(b"<f8", b"|O8"), "an array of object"),
        (ARRAY.replace(b"\x91\x02", b"\x91\x09"), "reshape"),
        (b"\x91" * (1 << 20), "recursion"),
    ],
)
def test_what_is_no_such_data(data, why):
    _, planner = kept("uct")
    with pytest.raises(ArcadeMarkError, match=why):
        planner.restore(data)
