"""A generative model is exact: whatever was restored before, the same actions from a state give the same future."""

import gc
import pickle
import tracemalloc
from typing import NamedTuple

import numpy as np
import pytest

from arcademark.emulator import build
from arcademark.environments.emulation import facts
from arcademark.environments.generative import State, snapshot
from arcademark.environments.registry import open_environment, open_model
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import protocols
from arcademark.suite.tasks import games

RUNNABLE = [name for name, protocol in protocols().items() if protocol.runnable]
SOME = ["toy", "pong", "qbert", "seaquest", "yars_revenge"]
"""Among them one whose start needs a reset, and one whose frames leave traces that no saved state holds."""


class Edge(NamedTuple):
    """A step of the model from a state, and all that it gave."""

    begin: State
    action: int
    step: tuple
    ram: bytes
    screen: bytes
    frames: int
    lives: int
    end: State


def take(model, action):
    """Step, and return what was seen."""
    begin, frames = model.save(), model.frames
    step = model.step(action)
    ram, screen = np.empty(model.ram_size, np.uint8), np.empty(model.screen_shape, np.uint8)
    model.ram(ram)
    model.screen(screen)
    seen = ram.tobytes(), screen.tobytes(), model.frames - frames, model.lives
    return Edge(begin, action, tuple(step), *seen, model.save())


def grow(model, root, rng, size, depth=12):
    """Return a random tree's edges: branches of random length, each from a random node, as a search does."""
    edges, nodes = [], [root]
    while len(edges) < size:
        model.restore(nodes[int(rng.integers(len(nodes)))])
        for _ in range(int(rng.integers(1, depth))):
            if model.ended:
                break
            edges.append(take(model, int(rng.integers(model.num_actions))))
            nodes.append(edges[-1].end)
    return edges


def begin(spec, steps, rng, emulator=None):
    """Return where an episode stands after some random steps, or at its last step before the end."""
    env = open_environment(spec, emulator=emulator)
    env.reset(rng)
    state = snapshot(env)
    for action in rng.integers(spec.num_actions, size=steps).tolist():
        if any(env.step(action)[1:]):
            break
        state = snapshot(env)
    return state


LOOKS = 60
"""Moments of a real game at which the model is put."""


def check_exact(spec, rng, size, steps):
    """Grow trees from the start and from later; each edge is the same again, in any order, here and elsewhere."""
    model, other = open_model(spec), open_model(spec)
    for root in (begin(spec, 0, rng), begin(spec, steps, rng)):
        edges = grow(model, root, rng, size)
        for i in rng.permutation(len(edges)).tolist():
            edge = edges[i]
            for where in (model, other):
                where.restore(edge.begin)
                assert where.here == edge.begin
                assert take(where, edge.action) == edge
        assert len({edge.end for edge in edges}) > 1


def check_as_played(spec, rng, steps):
    """A state of the real game, taken at any moment, goes on in the model as the real game does."""
    env, model, ram = open_environment(spec), open_model(spec), np.empty(facts.ram_size(spec.game), np.uint8)
    env.reset(rng)
    moments, ended = [], False
    for action in np.repeat(rng.integers(spec.num_actions, size=steps), 3).tolist():
        if ended:
            break
        state = snapshot(env)
        step = env.step(action)
        env.observe(ram)
        moments.append((state, action, tuple(step), ram.tobytes(), snapshot(env)))
        ended = step.terminated or step.truncated
    for i in rng.permutation(len(moments))[:LOOKS].tolist():
        model.restore(moments[i][0])
        for state, action, step, memory, after in moments[i : i + 4]:
            assert model.save() == state
            edge = take(model, action)
            assert (edge.step, edge.ram, edge.end) == (step, memory, after)


@pytest.fixture
def planning_spec(make_spec):
    """Give a game's spec under the protocol of the planning benchmark, with memory to observe."""
    return lambda game, **changes: make_spec(game, "ale-2013", observation="ram", **changes)


STEPS = [(game, {}) for game in SOME] + [
    (game, {"frame_skip": 1}) for game in ("qbert", "tetris", "miniature_golf", "pitfall2", "video_chess")
]
"""A frame after the start, Q*bert and Tetris still show what no state holds."""


@pytest.mark.parametrize(("game", "changes"), STEPS)
def test_restoring_and_replaying_is_exact(planning_spec, game, changes):
    check_exact(planning_spec(game, **changes), np.random.default_rng(0), 60, 40)


@pytest.mark.parametrize("game", SOME)
def test_the_model_plays_as_the_real_game(planning_spec, game):
    check_as_played(planning_spec(game, max_frames_per_episode=600), np.random.default_rng(1), 50)


@pytest.mark.slow
@pytest.mark.parametrize("game", sorted(games()))
def test_every_game_is_exact(planning_spec, game):
    rng = np.random.default_rng(2)
    check_exact(planning_spec(game, frame_skip=1), rng, 40, 400)
    check_exact(planning_spec(game), rng, 60, 150)
    check_as_played(planning_spec(game), rng, 60)


FIRE = {"fire_reset": True, "action_set": "full", "training_episode_end": "episodic_life"}


@pytest.mark.parametrize(
    ("name", "changes"), [*((name, {"frame_skip": skip}) for name in RUNNABLE for skip in (1, 4)), ("sb3-atari", FIRE)]
)
def test_the_toy_game_under_every_protocol(make_spec, name, changes):
    """With the same generator, the model draws the same sticky actions as the environment; FIRE is pressed in both."""
    spec = make_spec("toy", name, **changes)
    env, model = open_environment(spec), open_model(spec)
    for seed in range(5):
        env.reset(np.random.default_rng(seed))
        model.restore(snapshot(env))
        rng = np.random.default_rng(seed)
        rng.bit_generator.state = env._rng.bit_generator.state
        model.use(rng)
        ended = False
        while not ended:
            action = int(np.random.default_rng(env.episode_frames).integers(spec.num_actions))
            step = env.step(action)
            assert model.step(action) == step
            assert (model.episode_frames, model.lives) == (env.episode_frames, env.lives)
            assert model.save() == snapshot(env)
            ended = step.terminated or step.truncated or env.episode_frames > 500


@pytest.mark.parametrize("cap", [7, 8, 11])
def test_the_frame_cap_holds_wherever_a_state_is_restored(planning_spec, cap):
    spec = planning_spec("toy", max_frames_per_episode=cap, frame_skip=4)
    model = open_model(spec)
    state = begin(spec, 1, np.random.default_rng(0))
    for _ in range(3):
        model.restore(state)
        frames = model.frames
        steps = [model.step(0)]
        while not model.ended:
            steps.append(model.step(0))
        assert [step.truncated for step in steps] == [False] * (len(steps) - 1) + [True]
        assert (model.episode_frames, model.frames - frames) == (cap, cap - 4)
    ended = model.save()
    assert ended.ended
    model.restore(state)
    assert not model.ended
    model.restore(ended)
    with pytest.raises(ArcadeMarkError, match="call restore first"):
        model.step(0)


def test_paths_that_meet_give_equal_states(planning_spec):
    """In the toy game, right and left is left and right; in Pong, the stick's up and down do nothing."""
    spec = planning_spec("toy", frame_skip=1)
    model, root = open_model(spec), begin(spec, 0, np.random.default_rng(0))
    meeting = [run(model, root, path) for path in ((3, 4), (4, 3), (0, 0))]
    assert len(set(meeting)) == 1
    assert run(model, root, (3, 3)) not in meeting
    spec = planning_spec("pong")
    model, root = open_model(spec), begin(spec, 30, np.random.default_rng(0))
    assert run(model, root, (2,)) == run(model, root, (5,)) != run(model, root, (3,))
    assert hash(run(model, root, (2,))) == hash(run(model, root, (5,)))


def run(model, root, path):
    """Return the state at the end of a path."""
    model.restore(root)
    for action in path:
        model.step(action)
    return model.save()


def test_a_model_draws_its_own_sticky_actions(make_spec):
    """The generator in use decides, whatever was drawn in advance from the one before; the state holds nothing."""
    spec = make_spec("toy", repeat_action_probability=0.5)
    model, root = open_model(spec), begin(spec, 0, np.random.default_rng(0))
    model.restore(root)
    with pytest.raises(ArcadeMarkError, match="call use first"):
        model.step(1)
    outcomes = []
    for seed in (1, 2, 1, 2):
        model.use(np.random.default_rng(seed))
        outcomes.append(run(model, root, (3, 4, 3, 3)))
    assert outcomes[0] == outcomes[2] != outcomes[1] == outcomes[3]
    model.use(np.random.default_rng(1))
    assert len({run(model, root, (3, 4, 3, 3)) for _ in range(20)}) > 1


@pytest.mark.parametrize(
    ("game", "emulator"),
    [("toy", "ale"), ("pong", "ale"), ("qbert", "ale"), ("qbert", "console"), ("video_chess", "console")],
)
def test_the_frames_of_steps_count_and_nothing_else(planning_spec, game, emulator):
    """What an emulator plays in order to restore a state is no part of a search; early ends are."""
    if emulator == "console" and build.compiler() is None:
        pytest.skip("no C compiler: the emulator cannot be compiled")
    spec = planning_spec(game, max_frames_per_episode=33)
    rng = np.random.default_rng(0)
    model = open_model(spec, emulator=emulator)
    roots = [begin(spec, steps, np.random.default_rng(0), emulator=emulator) for steps in (0, 3)]
    played = 0
    assert model.frames == played
    for turn in range(20):
        model.restore(roots[turn % 2])
        for _ in range(int(rng.integers(9))):
            if not model.ended:
                before = model.save().frames
                model.step(int(rng.integers(18)))
                played += model.save().frames - before
        assert model.frames == played
    assert played > 100


def test_standing_somewhere_already_is_no_work(planning_spec):
    spec = planning_spec("yars_revenge")
    model, root = open_model(spec), begin(spec, 3, np.random.default_rng(0))
    with pytest.raises(ArcadeMarkError, match="call restore first"):
        model.save()
    model.restore(root)
    assert model.here is model.save() is root
    model.step(1)
    assert model.here is None
    state, frames = model.save(), model.frames
    model.restore(pickle.loads(pickle.dumps(state)))
    assert (model.frames, model.save()) == (frames, state)


def test_refusals(make_spec, planning_spec):
    with pytest.raises(ArcadeMarkError, match=r"tic_tac_toe_3d.*: planners cannot play it on ale-py") as caught:
        open_model(make_spec("tic_tac_toe_3d", "ale-2013"), emulator="ale")
    assert "\n" not in str(caught.value)
    model = open_model(planning_spec("toy"))
    with pytest.raises(ArcadeMarkError, match="call restore first"):
        model.step(0)
    with pytest.raises(ArcadeMarkError, match="state of 'pong' in game 'toy'"):
        model.restore(begin(planning_spec("pong"), 0, np.random.default_rng(0)))
    model.restore(begin(planning_spec("toy"), 0, np.random.default_rng(0)))
    with pytest.raises(ArcadeMarkError, match="not an integer from 0 to 17"):
        model.step(18)
    with pytest.raises(ArcadeMarkError, match="cannot plan in a str"):
        snapshot("toy")


@pytest.mark.parametrize("game", ["pong", "seaquest", "pitfall2"])
def test_a_million_states_fit_in_two_gigabytes(planning_spec, game):
    spec, rng = planning_spec(game, frame_skip=1), np.random.default_rng(5)
    model, root = open_model(spec), begin(spec, 20, rng)
    model.restore(root)
    gc.collect()
    tracemalloc.start()
    states = []
    for action in rng.integers(18, size=600).tolist():
        if model.ended:
            model.restore(root)
        model.step(action)
        states.append(model.save())
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(set(states)) > 500
    assert max(size, len(pickle.dumps(states))) / len(states) < 1100
