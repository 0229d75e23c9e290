from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium import spaces

from arcademark.agents.adapters import CheckedLearner, adapt
from arcademark.agents.base import Learner, Transition
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import protocol, step_protocol
from arcademark.suite.task_suites import load_suite


def call(policy, env, first=(True,)):
    """Each episode's observation is filled with its row's number."""
    observations = np.zeros((len(first), *env.observation_shape), np.uint8)
    observations += np.arange(len(first), dtype=np.uint8).reshape(-1, 1, 1, 1)
    return policy.act(observations, np.array(first), [np.random.default_rng(i) for i in range(len(first))])


class Answers:
    def __init__(self, answer):
        self.answer = answer

    def act(self, observations, first, rngs):
        return self.answer


class Predicts:
    def predict(self, observation):
        return [1, 2]


@pytest.mark.parametrize(
    ("made", "complaint"),
    [
        (Answers(np.array([18])), "act chose action 18; expected 0 to 17"),
        (Answers(np.array([-1])), "act chose action -1; expected 0 to 17"),
        (Answers(np.array([1.0])), "act returned float64 actions; expected integers"),
        (
            Answers(np.array([[1]])),
            "act returned an array of shape (1, 1); expected (1,), one action per episode in play",
        ),
        (Answers(3), "act returned an array of shape (); expected (1,), one action per episode in play"),
        (Answers([[1], [1, 2]]), "act raised ValueError: setting an array element with a sequence."),
        (Predicts(), "predict returned"),
        (lambda x: 99, "its function"),
    ],
)
def test_a_wrong_answer_is_told_with_the_agent_the_game_and_what_was_expected(env, made, complaint):
    with pytest.raises(ArcadeMarkError) as caught:
        call(adapt(made, "my.py:make", env), env)
    assert str(caught.value).startswith(f"agent my.py:make on pong: {complaint}")


@pytest.mark.parametrize(
    ("attribute", "given", "wrong"),
    [
        ("frames_per_action", 2, (0, "4", 1.5, True, 10_001, 2**70)),
        ("batch_size", np.int64(8), (0, 2**62)),
        ("trained_frames", 7, (2**62,)),
        ("observation", "ram", ("rgb",)),
    ],
)
def test_what_the_agent_declares_is_read_and_checked(env, attribute, given, wrong):
    agent = Answers([0])
    assert (adapt(agent, "a", env).frames_per_action, adapt(agent, "a", env).batch_size) == (None, 1)
    setattr(agent, attribute, given)
    assert getattr(adapt(agent, "a", env), attribute) == given
    for value in wrong:
        setattr(agent, attribute, value)
        with pytest.raises(ArcadeMarkError, match=f"its {attribute} is .*; "):
            adapt(agent, "a", env)


def test_what_an_adapted_agent_is_given_is_its_own_to_keep(env):
    kept = []
    policy = adapt(lambda observation: kept.append(observation) or 0, "a", env)
    observations = np.full((1, *env.observation_shape), 7, np.uint8)
    policy.act(observations, np.array([True]), [None])
    observations[:] = 0
    assert (kept[0] == 7).all()


class Recurrent:
    """As Stable-Baselines3's: counts the steps since the episode began, in a state it returns."""

    batch_size = 64  # of its training, nothing that concerns playing

    def __init__(self):
        self.calls = []

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        self.calls.append((episode_start.tolist(), state is None, deterministic, observation.shape))
        steps = 0 if state is None or episode_start[0] else state[0] + 1
        return np.array([steps]), (steps,)


def test_predict_carries_the_state_of_each_episode(env):
    agent = Recurrent()
    policy = adapt(agent, "a", env)
    assert policy.batch_size == 1
    assert call(policy, env, (True, True)).tolist() == [0, 0]
    assert call(policy, env, (False, False)).tolist() == [1, 1]
    assert call(policy, env, (True, False)).tolist() == [0, 2]
    assert call(policy, env, (False, False)).tolist() == [1, 3]
    assert agent.calls[0] == ([True], True, True, env.observation_shape)
    assert agent.calls[2] == ([False], False, True, env.observation_shape)


@pytest.mark.parametrize("answer", [2, np.int64(2), np.array(2), np.array([2]), (2, None), (np.array([2]), None)])
def test_predict_may_answer_in_any_usual_form(env, answer):
    class Agent:
        def predict(self, observation):
            return answer

    assert call(adapt(Agent(), "a", env), env, (True, True)).tolist() == [2, 2]


class Teachable(Answers):
    checkpoint_frames = 500
    saved: object = b"x"

    def train(self): ...

    def evaluate(self): ...

    def learn(self, transition, rng):
        raise KeyError("no such state")

    def checkpoint(self):
        return self.saved

    def restore(self, checkpoint):
        self.saved = checkpoint


def test_a_learner_stays_one_and_its_mistakes_are_told(env):
    policy = adapt(Teachable([0]), "a", env)
    assert isinstance(policy, Learner)
    assert isinstance(policy, CheckedLearner)
    assert policy.checkpoint_frames == 500
    policy.restore(b"y")
    assert policy.checkpoint() == b"y"
    blank = np.zeros(env.observation_shape, np.uint8)
    with pytest.raises(ArcadeMarkError, match="agent a on pong: learn raised KeyError: 'no such state'"):
        policy.learn(Transition(blank, 0, 0.0, blank, False, False), np.random.default_rng(0))


def test_ctrl_c_is_not_the_agents_mistake(env):
    def interrupted(observation):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(adapt(interrupted, "a", env), env)


# An agent that says what it was made for is not played with anything else


SCREENS = spaces.Box(0, 255, (4, 84, 84), np.uint8)


class Model:
    """As Stable-Baselines3's: it plays whatever it is shown."""

    def __init__(self, actions=None, observations=None):
        self.action_space, self.observation_space = actions, observations

    def predict(self, observation):
        return 0


def pong(**changes):
    return environment_spec("pong", protocol("machado-2018").override(changes))


@pytest.mark.parametrize(
    ("actions", "observations"),
    [
        (None, None),
        (spaces.Discrete(18), SCREENS),
        (SimpleNamespace(n=np.int64(18)), SimpleNamespace(shape=(4, 84, 84), dtype=np.dtype("uint8"))),
        (18, "screens"),
        (list(range(18)), None),
    ],
)
def test_what_fits_or_says_nothing_plays(actions, observations):
    assert adapt(Model(actions, observations), "a", pong()).where == "agent a on pong"


def box(*shape, dtype=np.uint8):
    return spaces.Box(0, 1 if dtype == np.float32 else 255, shape, dtype)


def test_a_model_that_turns_colour_pictures_itself_plays():
    env = pong(observation="rgb", screen_size="none", frame_stack=1)
    assert adapt(Model(None, box(3, 210, 160)), "a", env).where == "agent a on pong"


@pytest.mark.parametrize(
    ("actions", "observations", "message"),
    [
        (spaces.Discrete(4), None, "the game has 18 actions under machado-2018; load the model for this game"),
        (spaces.Discrete(6), None, "18 actions .*; try --override action_set=minimal, which has 6"),
        (spaces.Discrete(18, start=1), None, "18 actions .*; expected a discrete one"),
        (spaces.Box(-1, 1, (18,)), None, r"made for Box\(.*; expected a discrete one, of actions from 0 to 17"),
        (None, box(84, 84, 4), r"puts the screens last: np\.moveaxis\(observation, 0, -1\)"),
        (None, box(84, 84), "try --override frame_stack=1"),
        (None, box(4, 96, 80), "try --override screen_size=96x80"),
        (None, box(210, 160, 3), "--override observation=rgb --override frame_stack=1 --override screen_size=none"),
        (None, box(5, 5, 5, 5, 5), "wrap it in an agent that reshapes them"),
        (None, box(4, 84, 84, dtype=np.float32), "float32.* and uint8 under machado-2018; wrap it in an agent that"),
        (None, spaces.Dict(screen=SCREENS), r"made for Dict\(.*; expected arrays of shape"),
    ],
)
def test_others_are_refused_with_the_remedy(actions, observations, message):
    with pytest.raises(ArcadeMarkError, match=f"^agent a on pong: .*{message}"):
        adapt(Model(actions, observations), "a", pong())


def test_the_observation_that_it_asks_for_counts():
    agent = SimpleNamespace(act=lambda observations, first, rngs: [0], observation="ram", observation_space=box(128))
    assert adapt(agent, "a", pong()).observation == "ram"
    agent.observation = "palette"
    with pytest.raises(ArcadeMarkError, match=r"\(128,\).* the game gives \(210, 160\)"):
        adapt(agent, "a", pong())


@pytest.mark.parametrize(
    ("task", "actions", "told"),
    [
        ("cartpole_v1", spaces.Discrete(2), ""),
        ("cartpole_v1", spaces.Discrete(3), "expected 2 actions"),
        ("pendulum_v1", spaces.Box(-2, 2, (1,)), ""),
        ("pendulum_v1", spaces.MultiBinary(1), ""),  # its n is no number of actions
        ("pendulum_v1", spaces.Box(-2, 2, (2,)), "expected arrays of shape"),
    ],
)
def test_spaces_of_other_tasks(task, actions, told):
    env = environment_spec(task, step_protocol(load_suite("gymnasium:CartPole-v1,Pendulum-v1")))
    if not told:
        assert adapt(Model(actions), "model", env)
        return
    with pytest.raises(ArcadeMarkError, match=told):
        adapt(Model(actions), "model", env)


# Objects with `plan` become checked planners, whose mistakes are told in one line


class Chooses:
    """A planner that answers with what it was given."""

    def __init__(self, answer, **attributes):
        self.answer = answer
        vars(self).update(attributes)

    def plan(self, model, state, first, rng):
        return self.answer


class Yields(Chooses):
    def plan(self, model, state, first, rng):
        yield from self.answer[:-1]
        return self.answer[-1]


class Keeping(Yields):
    def checkpoint(self):
        return bytearray(b"abc")

    def restore(self, checkpoint):
        self.answer = [len(checkpoint)]


def ask(planner, env):
    """Return what it yields and what it chooses."""
    yielded = []
    planning = adapt(planner, "mine", env).plan(None, None, True, None)
    while True:
        try:
            yielded.append(next(planning))
        except StopIteration as end:
            return yielded, end.value


@pytest.mark.parametrize("answer", [0, 17, np.int64(4), np.array(4), np.uint8(9)])
def test_a_plain_answer_and_a_generator_are_both_fine(env, answer):
    assert ask(Chooses(answer), env) == ([], int(answer))
    assert ask(Yields([None, None, answer]), env) == ([False, False], int(answer))
    assert type(ask(Chooses(answer), env)[1]) is int


def test_a_decision_can_be_kept_only_by_who_keeps(env):
    assert ask(Keeping([None, True, 3]), env) == ([False, True], 3)
    assert ask(Yields([None, True, 3]), env) == ([False, False], 3)


@pytest.mark.parametrize(
    ("planner", "message"),
    [
        (Chooses(18), "plan chose action 18; expected 0 to 17"),
        (Chooses(-1), "plan chose action -1; expected 0 to 17"),
        (Chooses(2.0), "plan returned float; expected an integer, the action"),
        (Chooses(True), "plan returned bool; expected an integer, the action"),
        (Chooses(np.array([1, 2])), "plan returned ndarray; expected an integer, the action"),
        (Yields([None]), "plan returned NoneType; expected an integer, the action"),
        (Yields([7, 7]), "plan yielded 7; expected None or True, and the action to be returned"),
    ],
)
def test_an_answer_that_is_no_action(env, planner, message):
    with pytest.raises(ArcadeMarkError, match=f"^agent mine on pong: {message}$"):
        ask(planner, env)


def test_what_it_keeps_is_bytes(env):
    planner = adapt(Keeping([3]), "mine", env)
    assert planner.checkpoint() == b"abc"
    assert type(planner.checkpoint()) is bytes
    planner.restore(b"12345")
    assert planner.planner.answer == [5]


@pytest.mark.parametrize(
    ("planner", "message"),
    [
        (Chooses(0, plan=lambda *_: 1 / 0), r"agent mine on pong: plan raised ZeroDivisionError: .* \(.*line"),
        (Keeping([3], checkpoint=lambda: "text"), "checkpoint returned str; expected bytes"),
        (Keeping([3], restore=lambda data: data["x"]), "restore raised TypeError"),
        (Chooses(1, checkpoint=bytes), r"it has only checkpoint\(\); a planner needs both"),
        (Chooses(1, restore=bytes), r"it has only restore\(\); a planner needs both"),
    ],
)
def test_its_mistakes_are_told_in_one_line(env, planner, message):
    def use():
        ask(planner, env)
        kept = adapt(planner, "mine", env)
        kept.checkpoint()
        kept.restore(b"")

    with pytest.raises(ArcadeMarkError, match=message):
        use()
