"""Tasks beyond Atari: Gymnasium's environments as ours, their spaces, copies and models."""

import os

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from msgspec.structs import replace

import arcademark
from arcademark.environments import tasks
from arcademark.environments.base import ArrayActions
from arcademark.environments.generative import snapshot
from arcademark.environments.observations.spaces import ObservationView
from arcademark.environments.registry import environment_spec, open_environment, open_model
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import step_protocol
from arcademark.suite.task_suites import load_suite
from arcademark.testing import check_environment
from fakes.spaces import OBSERVED, sampled, spec_of

CLASSIC = "gymnasium:CartPole-v1,Pendulum-v1,FrozenLake-v1,Blackjack-v1,Taxi-v4"


def rules(names=CLASSIC, **changes):
    return step_protocol(load_suite(names)).override(changes)


class Odd(gymnasium.Env):
    """Remembers its last action over a reset, and has parts of every kind in its observations."""

    observation_space = spaces.Dict(
        {
            "at": spaces.Discrete(5),
            "said": spaces.Text(8),
            "both": spaces.Tuple((spaces.Box(-1, 1, (2,)), spaces.MultiBinary(3))),
        }
    )

    def __init__(self, switches=False, says="go", reward=1.0):
        self.action_space = spaces.MultiDiscrete([2, 3]) if switches else spaces.Discrete(3, start=-1)
        self.last, self.says, self.reward = 0, says, reward
        self.drawn = np.random.RandomState(0)

    def _seen(self):
        return {"at": self.last % 5, "said": self.says, "both": (np.full(2, 0.5, "f4"), np.array([1, 0, 1], "i1"))}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.drawn = np.random.RandomState(seed)
        return self._seen(), {}

    def step(self, action):
        self.last = self.last + int(np.sum(action)) + int(self.drawn.randint(3))
        return self._seen(), self.reward, self.last > 30, False, {}


gymnasium.register("Odd-v0", Odd)


@pytest.mark.parametrize("name", ["cartpole_v1", "pendulum_v1", "frozenlake_v1", "blackjack_v1", "odd_v0"])
def test_a_task_keeps_the_contract(name):
    protocol = rules(CLASSIC + ",Odd-v0")
    spec = environment_spec(name, protocol)
    check_environment(lambda: open_environment(spec), np.random.default_rng(0), steps=40)


def test_switches_keep_the_contract(tmp_path):
    path = tmp_path / "odd.toml"
    path.write_text('[tasks.odd]\nenvironment = "Odd-v0"\nkwargs = { switches = true }\nmax_steps = 9\n')
    protocol = rules(str(path))
    spec = environment_spec("odd", protocol)
    assert spec.array_actions.high == (1.0, 2.0)
    check_environment(lambda: open_environment(spec), np.random.default_rng(0), steps=30)


@pytest.mark.parametrize("name", ["cartpole_v1", "pendulum_v1", "blackjack_v1"])
def test_of_a_vector_with_a_wrong_action_none_takes_its_step(name):
    envs = arcademark.make_vec(name, 2, rules())
    envs.reset(seed=5)
    actions = envs.action_space.sample()
    actions[1] = 99
    with pytest.raises(ArcadeMarkError, match=r"is not|has 99"):
        envs.step(actions)
    assert [env.environment.episode_frames for env in envs.envs] == [0, 0]


def test_observations_are_arrays_with_a_field_a_part():
    spec = environment_spec("odd_v0", rules("gymnasium:Odd-v0"))
    environment = open_environment(spec)
    environment.reset(np.random.default_rng(0))
    rows = np.zeros((2, *spec.observation_shape), spec.observation_dtype)
    environment.observe(rows[1, ...])
    assert rows["said"].tolist() == ["", "go"]
    assert rows["both"]["0"].tolist() == [[0, 0], [0.5, 0.5]]
    assert rows["both"]["1"].dtype == np.int8
    assert spec.action_meanings == ("-1", "0", "1")


@pytest.mark.parametrize(
    ("kwargs", "steps", "told"),
    [
        ("says = 'much too long'", 0, "a text of 13 characters"),
        ("reward = 'nan'", 1, "a step's reward is nan"),
        ("reward = 'much'", 1, "did not return Gymnasium's five values"),
        ("colour = 3", 0, "cannot be made .*colour"),
    ],
)
def test_mistakes_of_an_environment_are_one_line(tmp_path, kwargs, steps, told):
    path = tmp_path / "odd.toml"
    path.write_text(f'[tasks.odd]\nenvironment = "Odd-v0"\nkwargs = {{ {kwargs} }}\n')
    with pytest.raises(ArcadeMarkError, match=told):
        play(environment_spec("odd", rules(str(path))), steps)


def play(spec, steps):
    environment = open_environment(spec)
    environment.reset(np.random.default_rng(0))
    for _ in range(steps):
        environment.step(0)
    environment.observe(np.zeros(spec.observation_shape, spec.observation_dtype))


def test_the_cap_of_the_protocol_and_of_the_task_truncate(tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text('[tasks.pendulum]\nenvironment = "Pendulum-v1"\nmax_steps = 7\n')
    for changes, expected in (({}, 7), ({"max_steps_per_episode": 5}, 5), ({"max_steps_per_episode": 50}, 7)):
        protocol = rules(str(path), **changes)
        environment = open_environment(environment_spec("pendulum", protocol))
        environment.reset(np.random.default_rng(1))
        steps = [environment.step(np.zeros(1, "f4")) for _ in range(expected)]
        assert [step.truncated for step in steps] == [False] * (expected - 1) + [True]


def test_a_planner_cannot_foresee_random_numbers():
    """FrozenLake slips: from one place, the same action leads elsewhere as the model's own numbers have it."""
    spec = environment_spec("frozenlake_v1", rules())
    environment, model = open_environment(spec), open_model(spec)
    environment.reset(np.random.default_rng(0))
    state = snapshot(environment)
    model.use(np.random.default_rng(0))
    led = set()
    for _ in range(30):
        model.restore(state)
        model.step(2)
        led.add(model.save().inner.copied().unwrapped.s)
    assert len(led) == 3
    odd = environment_spec("odd_v0", rules("gymnasium:Odd-v0"))
    environment, model = open_environment(odd), open_model(odd)
    environment.reset(np.random.default_rng(0))
    state, led = snapshot(environment), set()
    for _ in range(30):
        model.restore(state)
        model.step(0)
        led.add(model.save().inner.copied().unwrapped.last)
    assert len(led) == 3  # its own RandomState is found, too


class Uncopied(Odd):
    def __deepcopy__(self, memo):
        return type(self)()


class Handle(Odd):
    def __deepcopy__(self, memo):
        raise TypeError("cannot pickle a handle")


gymnasium.register("Uncopied-v0", Uncopied)
gymnasium.register("Handle-v0", Handle)


@pytest.mark.parametrize(
    ("name", "told"),
    [("Uncopied-v0", "copies of it play differently"), ("Handle-v0", r"cannot be copied \(TypeError")],
)
def test_what_is_not_copied_exactly_is_not_planned_in(name, told):
    spec = environment_spec(name.lower().replace("-", "_"), rules(f"gymnasium:{name}"))
    with pytest.raises(ArcadeMarkError, match=told):
        open_model(spec)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([[257, 0]], "has 257 at place 0; expected 0 to 1"),  # as int8 it would be 1
        ([[[1, 0]]], "has shape"),
        ([1, 0], "has shape"),
        (0.5, "has shape"),
        ([[0.5, 0.0]], "type float64"),
    ],
)
def test_actions_that_are_arrays_are_held_to_their_space(given, told):
    switches = ArrayActions((2,), "i1", (0.0, 0.0), (1.0, 1.0))
    assert switches.checked(np.array([[1, 0]]), "it", (1,)).dtype == np.int8
    with pytest.raises(ArcadeMarkError, match=told):
        switches.checked(np.array(given), "it", (1,))


@pytest.mark.parametrize(("dtype", "most"), [("u8", 2.0**64), ("i8", 2.0**63), ("f8", 1.7e308), ("f4", np.inf)])
def test_random_actions_of_any_bounds(dtype, most):
    low = 0.0 if dtype == "u8" else -most
    drawn = ArrayActions((3,), dtype, (low,) * 3, (most,) * 3).sample(np.random.default_rng(0))
    assert drawn.dtype == dtype
    assert len(set(drawn.tolist())) == 3


def test_spaces_that_cannot_be_recorded_are_refused():
    class Graph(Odd):
        observation_space = spaces.Graph(spaces.Box(0, 1, (2,)), None)

    class Many(Odd):
        def __init__(self):
            self.action_space = spaces.Discrete(100_000)

    gymnasium.register("Graph-v0", Graph)

    class Halves(Odd):
        def __init__(self):
            self.action_space = spaces.Box(-1, 1, (2,), np.float16)

    gymnasium.register("Halves-v0", Halves)
    gymnasium.register("Many-v0", Many)
    with pytest.raises(ArcadeMarkError, match="its observations are Graph"):
        environment_spec("graph_v0", rules("gymnasium:Graph-v0"))
    with pytest.raises(ArcadeMarkError, match="100,000 actions"):
        environment_spec("many_v0", rules("gymnasium:Many-v0"))
    with pytest.raises(ArcadeMarkError, match="cannot be recorded"):
        environment_spec("halves_v0", rules("gymnasium:Halves-v0"))
    with pytest.raises(ArcadeMarkError, match="install its package"):
        environment_spec("x_v0", rules("gymnasium:no_such_package:X-v0"))


@pytest.mark.parametrize(
    ("observed", "shape", "first"),
    [
        ("vector", (3,), None),
        ("grid", (32,), None),
        ("later", (5,), [0, 0, 0, 0, 1]),  # 6 of 2 to 6
        ("numbers", (7,), [0, 0, 1, 0, 1, 0, 0]),
        ("switches", (6,), None),
        ("picture", (3, 40, 40), None),
        ("parts", (9,), None),
        ("spoken", (4,), None),
    ],
)
def test_networks_see_pictures_or_numbers(observed, shape, first):
    spec, space = spec_of(observed), OBSERVED[observed]
    shown, rows = ObservationView(spec, channels_first=True), sampled(spec, observed, 5)
    assert shown.observation_space.shape == shape
    seen = shown.rows(rows)
    assert all(shown.observation_space.contains(one) for one in seen)
    assert np.array_equal(shown.one(rows[2]), seen[2])
    if first is not None:
        value = {"later": np.array([6]), "numbers": np.array([[2, 1]])}[observed]
        assert shown.rows(value.astype(spec.observation_dtype))[0].tolist() == first
    elif observed == "picture":
        assert np.array_equal(seen[0], rows[0].transpose(2, 0, 1))
    elif observed == "spoken":
        assert seen[0].tolist() == [*np.eye(2)[rows["both"]["0"][0]], *rows["both"]["1"][0]]
    elif observed != "parts":
        assert np.array_equal(seen, rows.reshape(5, -1).astype("f4"))
    assert space.contains(ObservationView(spec).one(rows[0])) or observed == "spoken"


def test_of_text_alone_networks_see_nothing():
    with pytest.raises(ArcadeMarkError, match="text, which networks cannot use"):
        ObservationView(spec_of("text"), channels_first=True)


def test_the_package_that_defines_a_task_is_named():
    installed = {"minatar": ["MinAtar"], "gymnasium": ["gymnasium"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "_packages", lambda _: installed)
        patch.setattr(tasks.importlib.metadata, "version", lambda name: f"1 of {name}")
        found = {name: tasks.package(next(iter(load_suite(name).tasks.values()))) for name in ("minatar", "minigrid")}
        assert found == {"minatar": "MinAtar 1 of MinAtar", "minigrid": ""}
        assert tasks.package(rules().suite.tasks["cartpole_v1"]) == "gymnasium 1 of gymnasium"


def test_a_package_that_is_installed_meanwhile_is_named(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    task = replace(next(iter(load_suite("minigrid").tasks.values())), environment="later.envs:Later-v0")
    assert not tasks.package(task)
    (tmp_path / "later").mkdir()
    info = tmp_path / "later-2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: later\nVersion: 2\n")
    (info / "top_level.txt").write_text("later\n")
    assert tasks.package(task) == "later 2"


class Drawn(Odd):
    """Its picture is black where SDL is told to look for no screen, and white elsewhere."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, render_mode=None):
        super().__init__()
        self.render_mode = render_mode

    def render(self):
        drivers = {os.environ.get("SDL_VIDEODRIVER"), os.environ.get("SDL_AUDIODRIVER")}
        return np.full((2, 2, 3), 0 if drivers == {"dummy"} else 255, np.uint8)


gymnasium.register("Drawn-v0", Drawn)
gymnasium.register("Drawn-v1", Drawn)


def test_pictures_and_earlier_versions_say_nothing(monkeypatch):
    """Gymnasium warns of Drawn-v0 that there is a later version; here such a warning would be an error."""
    for name in ("SDL_VIDEODRIVER", "SDL_AUDIODRIVER"):
        monkeypatch.delenv(name, raising=False)
    shown = open_environment(environment_spec("drawn_v0", rules("gymnasium:Drawn-v0")), pictures=True)
    shown.reset(np.random.default_rng(0))
    assert not shown.render().any()
    assert "SDL_VIDEODRIVER" not in os.environ
    monkeypatch.setenv("SDL_VIDEODRIVER", "x11")
    assert shown.render().any()
    shown.close()
