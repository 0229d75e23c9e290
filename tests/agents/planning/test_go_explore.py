"""Go-Explore on small games: its archive, its budget, and that the best trajectory is worth what it says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seeing_models import SeeingModel
from small_models import decide, place, play, random_model

from arcademark.agents.planning.archive import START as START_CELL
from arcademark.agents.planning.archive import Archive, Trajectory
from arcademark.agents.planning.go_explore import GoExplore
from arcademark.environments.emulation.generative import snapshot
from arcademark.environments.registry import environment_spec, open_environment, open_model
from arcademark.suite.protocols import protocol

START = place(0, 0, False)
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


def long_way(length):
    """Make a game in which one of two actions leads on, the other back to the start; the last node gives 7."""
    edges = [[i + 1, 0] for i in range(length)] + [[length, length]]
    rewards = [[0, 0]] * (length - 1) + [[7, 0], [0, 0]]
    return SeeingModel(edges, rewards, [[]] * (length + 1), screens=dict(enumerate(grey_ramp(length + 1))))


def grey_ramp(count):
    """Return screens of different brightness."""
    return [np.full((210, 160), 2 * byte, np.uint8) for byte in range(count)]


def test_it_finds_what_random_play_does_not():
    model = long_way(18)
    planner = make(model, 6000)
    decide(planner, model, START, True, np.random.default_rng(0))
    assert planner.trajectory == (0,) * 18
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(6000 // 40):
        model.restore(START)
        scores.append(sum(model.step(int(action)).reward for action in rng.integers(2, size=40)))
    assert max(scores) == 0


def test_the_shortest_of_the_best_is_played_and_then_nothing_is_done():
    """Three ways to a single point, of one, two and three steps; action 3 of the spec is the one that does nothing."""
    model = SeeingModel(
        [[1, 2, 3, 0], [4, 4, 4, 4], [1, 1, 1, 1], [2, 2, 2, 2], [4, 4, 4, 4]],
        [[0, 0, 0, 0], [1, 1, 1, 1], [0] * 4, [0] * 4, [0] * 4],
        [[]] * 5,
        screens=dict(enumerate(grey_ramp(5))),
    )
    model.spec = replace(model.spec, action_meanings=("UP", "LEFT", "RIGHT", "NOOP"))
    planner = make(model, 400)
    actions, _ = play(planner, model, 0, 6)
    assert actions[0] == 0
    assert actions[2:] == [3, 3, 3, 3]
    assert len(planner.trajectory) == 2


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    frames=st.integers(4, 400),
    frame_skip=st.sampled_from([1, 4]),
    ends=st.integers(0, 3),
    cap=st.sampled_from([8, 40, NEVER]),
    weights=st.sampled_from([(1.0, 0.0, 0.0), (0.3, 0.1, 0.0), (0.0, 0.0, 2.0)]),
)
def test_every_trajectory_is_worth_what_it_says(seed, frames, frame_skip, ends, cap, weights):
    model = small_game(seed, ends=ends, cap=cap, frame_skip=frame_skip)
    names = "seen_weight", "chosen_weight", "chosen_since_new_weight"
    planner = make(model, frames, **dict(zip(names, weights, strict=True)))
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


def test_actions_are_repeated_with_the_probability_and_drawn_from_all():
    model = SeeingModel([[0, 0, 0]], [[0, 0, 0]], [[]])
    planner = GoExplore(model.spec, explore_frames=10**6, explore_actions=40_000, repeat_probability=0.9)
    actions = np.array(planner._draw(model, np.random.default_rng(0)))
    assert np.mean(actions[1:] == actions[:-1]) == pytest.approx(0.9 + 0.1 / 3, abs=0.005)
    np.testing.assert_allclose(np.bincount(actions) / 40_000, 1 / 3, atol=0.05)


# The archive.


def archive_of(weights=(1.0, 0.0, 0.0)):
    archive = Archive("start", weights)
    for i, key in enumerate((b"a", b"b")):
        last = archive.write(START_CELL, [i, i])
        archive.put(key, key.decode(), Trajectory(float(i), 2, last))
    return archive


def test_cells_are_weighed_by_how_often_they_were_seen():
    archive = archive_of()
    assert archive.cell_weights().tolist() == [1, 1, 1]
    archive.see({1, 2})
    archive.see({1})
    np.testing.assert_allclose(archive.cell_weights(), [1, 3**-0.5, 2**-0.5])
    archive.put(b"a", "better", Trajectory(5.0, 2, 2))
    np.testing.assert_allclose(archive.cell_weights(), [1, 1, 2**-0.5])


def test_cells_are_weighed_by_how_often_they_were_chosen():
    archive = archive_of((0.0, 2.0, 1.0))
    rng = np.random.default_rng(0)
    chosen = np.bincount([archive.choose(rng) for _ in range(10)], minlength=3)
    np.testing.assert_allclose(archive.cell_weights(), 3 * (chosen + 1) ** -0.5)
    archive.found_new_from(1)
    assert archive.cell_weights()[1] == pytest.approx(2 * (chosen[1] + 1) ** -0.5 + 1)


def test_cells_are_chosen_in_proportion_to_their_weights():
    archive = archive_of()
    for _ in range(8):
        archive.see({2})
    rng = np.random.default_rng(0)
    chosen = np.bincount([archive.choose(rng) for _ in range(7000)])
    np.testing.assert_allclose(chosen / 7000, [3 / 7, 3 / 7, 1 / 7], atol=0.02)


def test_a_way_is_better_with_a_higher_score_or_fewer_actions():
    archive = archive_of()
    cell = archive.find(b"b")
    assert archive.find(b"c") is None
    assert archive.improves(None, -5.0, 900)
    for score, length, better in ((1, 2, False), (1, 1, True), (0, 1, False), (2, 900, True), (1, 3, False)):
        assert archive.improves(cell, score, length) == better


def test_trajectories_share_their_beginnings():
    archive = archive_of()
    last = archive.write(archive.at(2)[1].last, [7, 8, 9])
    assert archive.actions_to(Trajectory(0.0, 5, last)) == [1, 1, 7, 8, 9]
    assert archive.actions_to(archive.at(1)[1]) == [0, 0]
    assert archive.actions_to(archive.at(0)[1]) == []


# Real games.


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


def test_the_emulators_score_is_reached_again():
    spec = environment_spec("space_invaders", protocol("ale-2013").override({"max_frames_per_episode": 1500}))
    environment, model = open_environment(spec), open_model(spec)
    environment.reset(np.random.default_rng(0))
    planner, rng = GoExplore(spec, explore_frames=12_000), np.random.default_rng(1)
    plan = planner.plan(model, snapshot(environment), True, rng)
    best = [planner._archive.best for _ in plan][-1]
    rewards = [environment.step(action).reward for action in planner.trajectory]
    assert sum(rewards) == best.score > 0
    assert rewards[-1] > 0  # it is the shortest
    assert 11_990 < model.frames <= 12_001  # one frame before the first restore


def test_games_with_randomness_are_refused(make_env):
    reason = GoExplore.supports(make_env(protocol_name="machado-2018"))
    assert reason == (
        "it plays again what it found, which sticky actions (repeat_action_probability=0.25) forbid; choose a "
        "protocol without them, or --override repeat_action_probability=0"
    )
    assert GoExplore.supports(make_env(protocol_name="ale-2013")) is None
