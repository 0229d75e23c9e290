"""Budgets of frames are kept, in Yars' Revenge too, where ale-py emulates frames to restore a state."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seeing_models import SeeingModel, paths, seeing_model
from small_models import START, decide, play, random_model, shape

from arcademark.agents.loading import agent_specs, applies, make_agent
from arcademark.classic.planning.archive import START as START_CELL
from arcademark.classic.planning.archive import Archive, Trajectory
from arcademark.classic.planning.best_path import BestPath
from arcademark.classic.planning.breadth_first import BreadthFirst
from arcademark.classic.planning.go_explore import GoExplore
from arcademark.classic.planning.iterated_width import IteratedWidth
from arcademark.classic.planning.planner import as_state, pack, unpack
from arcademark.classic.planning.rollout_iw import RolloutIW
from arcademark.classic.planning.uct import UCT
from arcademark.environments.generative import State, snapshot
from arcademark.environments.registry import environment_spec, open_environment, open_model
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import protocol


def small(seed):
    return seeing_model(seed, num_values=6, num_bytes=6, num_nodes=30, ends=0, frame_skip=5)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("planner", "past"),
    [
        (IteratedWidth, 0),
        (RolloutIW, 0),
        (BreadthFirst, 0),
        (lambda env, **frames: BestPath(env, **frames, horizon_frames=30), 30),  # the last trial is finished
    ],
)
def test_budgets_of_frames_are_kept(planner, past, seed):
    model = small(seed)
    rng = np.random.default_rng(seed)
    decide(planner(model.spec, frames_per_decision=400), model, START, True, rng)
    assert 150 < model.frames <= 400 + past


@pytest.mark.parametrize(
    "planner",
    [
        lambda env: BreadthFirst(env, frames_per_decision=60),
        lambda env: UCT(env, simulations=30, horizon_frames=15),
        lambda env: IteratedWidth(env, frames_per_decision=60),
        lambda env: RolloutIW(env, frames_per_decision=60),
    ],
)
@pytest.mark.parametrize(("first", "elsewhere"), [(True, 0), (False, 1)])
def test_nothing_is_kept_where_the_game_stands_elsewhere_or_an_episode_begins(planner, first, elsewhere):
    model = small(1)
    kept, fresh = planner(model.spec), planner(model.spec)
    _, state = play(kept, model, 0, 1)
    state = state._replace(frames=state.frames + elsewhere)
    chosen = []
    for one, begins in ((kept, first), (fresh, True)):
        frames = model.frames
        chosen.append((*decide(one, model, state, begins, np.random.default_rng(7)), model.frames - frames))
    assert chosen[0] == chosen[1]
    assert shape(kept.root) == shape(fresh.root)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("planner", [BreadthFirst, IteratedWidth, RolloutIW])
def test_a_kept_tree_saves_frames(planner, seed):
    """The nodes below the action are there again, as they were, and no frame is emulated for them."""
    model = seeing_model(seed, num_values=1 + seed % 5, ends=seed % 3)
    made, rng = planner(model.spec, frames_per_decision=300), np.random.default_rng(seed)
    action, _ = decide(made, model, START, True, rng)
    model.restore(START)
    if model.step(action).terminated:
        return
    state, kept, frames = model.save(), paths(made.root), model.frames
    made.descend = lambda action: None
    decide(made, model, state, False, rng)
    nodes = paths(made.root)
    assert all(nodes[path] is node for path, node in kept.items())
    assert model.frames - frames == len(nodes) - len(kept)


@pytest.mark.parametrize("frames", [5, 50, 200])
def test_go_explore_ends_within_its_budget(frames):
    model = small(1)
    planner = GoExplore(model.spec, explore_frames=frames, explore_actions=3)
    action, _ = decide(planner, model, START, True, np.random.default_rng(0))
    assert 0 <= action < model.num_actions
    assert model.frames <= frames


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("uct", {"simulations": 0}, "agent uct: parameter 'simulations' is 0: expected int of at least 1"),
        ("uct", {"exploration": -1.0}, "'exploration' is -1.0: expected float of at least 0"),
        ("breadth-first", {"discount": 1.5}, "'discount' is 1.5: expected float from 0 to 1"),
        ("iw", {"frames_per_decision": 3}, "is 3: expected at least 4, the frames of one action"),
        ("iw", {"frames_per_decision": 9, "frames_per_action": 10}, "is 9: expected at least 10"),
        ("rollout-iw", {"frames_per_action": 0}, "'frames_per_action' is 0: expected int of at least 1 or None"),
        ("rollout-iw", {"risk_aversion": 0.5}, "'risk_aversion' is 0.5: expected float of at least 1"),
        ("go-explore", {"explore_frames": 2}, "is 2: expected at least 4, the frames of one action"),
        ("go-explore", {"width": 161}, "'width' is 161: expected 1 to 160"),
        ("go-explore", {"levels": 257}, "'levels' is 257: expected int from 1 to 256"),
    ],
)
def test_parameters_out_of_range_are_refused(name, parameters, message, env):
    with pytest.raises(ArcadeMarkError, match=message):
        applies(agent_specs(name, parameters)[0], env)


# What planners keep is data: it comes back the same, and whatever else is given runs nothing


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


@pytest.mark.parametrize("inner", [None, 3, b"abc", (b"abc", (0, 5))])
def test_states_of_every_kind_come_back(inner):
    state = State("pong", inner, 0, 12, 3, False)
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


# Go-Explore on small games: its archive, its budget, and that the best trajectory is worth what it says


NEVER = 10**9


def shown(model):
    """Give each node of a small game a screen of its own."""
    screens = {i: np.full((210, 160), 20 * i, np.uint8) for i in range(len(model.edges))}
    settings = model.spec.protocol
    return SeeingModel(
        model.edges, model.rewards, [[]] * len(screens), model.ends, model.cap, settings.frame_skip, screens
    )


def small_game(seed, **more):
    return shown(random_model(seed, num_nodes=8, **more))


def make(model, frames=300, **more):
    more = {"explore_actions": 5, "repeat_probability": 0.5, "levels": 256, **more}
    return GoExplore(model.spec, explore_frames=frames, **more)


def score_of(model, actions, start=START):
    model.restore(start)
    score = 0.0
    for action in actions:
        assert not model.ended
        score += model.step(action).reward
    return score


def explored(model, planner, seed=0):
    """Let a planner explore; return its archive as it was at the end."""
    return [planner._archive for _ in planner.plan(model, START, True, np.random.default_rng(seed))][-1]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    frames=st.integers(4, 400),
    frame_skip=st.sampled_from([1, 4]),
    ends=st.integers(0, 3),
    cap=st.sampled_from([8, 40, NEVER]),
)
def test_every_trajectory_is_worth_what_it_says(seed, frames, frame_skip, ends, cap):
    model = small_game(seed, ends=ends, cap=cap, frame_skip=frame_skip)
    planner = make(model, frames)
    archive = explored(model, planner, seed)
    assert model.frames == frames // frame_skip * frame_skip
    for state, way in (archive.at(cell) for cell in range(len(archive))):
        actions = archive.actions_to(way)
        assert score_of(model, actions) == way.score
        assert len(actions) == way.length
        assert model.at == state
        assert not way.beats(archive.best)
    assert list(planner.trajectory) == archive.actions_to(archive.best)
    assert score_of(model, planner.trajectory) == archive.best.score >= 0


def archive_of():
    archive = Archive("start")
    for i, key in enumerate((b"a", b"b")):
        last = archive.write(START_CELL, [i, i])
        archive.put(key, key.decode(), Trajectory(float(i), 2, last))
    return archive


def test_cells_are_chosen_in_proportion_to_their_weights():
    archive = archive_of()
    for _ in range(8):
        archive.see({2})
    rng = np.random.default_rng(0)
    chosen = np.bincount([archive.choose(rng) for _ in range(7000)])
    np.testing.assert_allclose(chosen / 7000, [3 / 7, 3 / 7, 1 / 7], atol=0.02)


def test_the_toy_games_score_is_reached_again():
    spec = environment_spec("toy", protocol("ale-2013").override({"frame_skip": 1, "max_frames_per_episode": 200}))
    environment, model = open_environment(spec), open_model(spec)
    environment.reset(np.random.default_rng(3))
    planner = GoExplore(spec, explore_frames=6000, width=8, height=8)
    rng, first, score, best = np.random.default_rng(0), True, 0.0, None
    ended = False
    while not ended:
        plan = planner.plan(model, snapshot(environment), first, rng)
        action = None
        while action is None:
            try:
                next(plan)
                best = planner._archive.best
            except StopIteration as stop:
                action = stop.value
        reward, terminated, truncated = environment.step(action)
        score, first, ended = score + reward, False, terminated or truncated
    assert score >= best.score >= 8  # what falls into the basket while it rests afterwards comes on top


@pytest.mark.parametrize("life_ends", [False, True])
def test_a_lost_life_may_end_an_exploration(life_ends):
    spec = environment_spec("toy", protocol("ale-2013").override({"frame_skip": 1}))
    environment, model = open_environment(spec), open_model(spec)
    environment.reset(np.random.default_rng(3))
    planner = GoExplore(spec, explore_frames=3000, width=8, life_ends=life_ends)
    archive = [
        planner._archive for _ in planner.plan(model, snapshot(environment), True, np.random.default_rng(0))
    ][-1]  # fmt: skip
    assert {archive.at(cell)[0].lives for cell in range(len(archive))} == ({5} if life_ends else {1, 2, 3, 4, 5})


def test_games_with_randomness_are_refused(make_env):
    reason = GoExplore.supports(make_env(protocol_name="machado-2018"))
    assert reason == (
        "it replays its best trajectory, which sticky actions (repeat_action_probability=0.25) prevent; "
        "choose a protocol without them, or --override repeat_action_probability=0"
    )
    assert GoExplore.supports(make_env(protocol_name="ale-2013")) is None
