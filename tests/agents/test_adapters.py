import numpy as np
import pytest

from arcademark.agents.adapters import CheckedLearner, adapt
from arcademark.agents.base import Learner, Transition
from arcademark.errors import ArcadeMarkError


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
            "act returned an array of shape (1, 1); expected (1,), an action an episode in play",
        ),
        (Answers(3), "act returned an array of shape (); expected (1,), an action an episode in play"),
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


def test_a_learner_needs_all_its_methods(env):
    class Half(Answers):
        def learn(self, transition, rng): ...

        def train(self): ...

    with pytest.raises(ArcadeMarkError, match=r"it has learn\(\) but not evaluate, checkpoint, restore"):
        adapt(Half([0]), "a", env)


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
    made = Teachable([0])
    policy = adapt(made, "a", env)
    assert isinstance(policy, Learner)
    assert isinstance(policy, CheckedLearner)
    assert policy.checkpoint_frames == 500
    policy.restore(b"y")
    assert policy.checkpoint() == b"y"
    blank = np.zeros(env.observation_shape, np.uint8)
    with pytest.raises(ArcadeMarkError, match="agent a on pong: learn raised KeyError: 'no such state'"):
        policy.learn(Transition(blank, 0, 0.0, blank, False, False), np.random.default_rng(0))
    made.saved = "text"
    with pytest.raises(ArcadeMarkError, match="checkpoint returned str; expected bytes"):
        policy.checkpoint()


def test_ctrl_c_is_not_the_agents_mistake(env):
    def interrupted(observation):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(adapt(interrupted, "a", env), env)
