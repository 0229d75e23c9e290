"""SARSA(λ): updates by hand, a random walk of known values, the toy game, checkpoints, parameters."""

import dataclasses
import inspect
import json
import tracemalloc
import zlib

import numpy as np
import pytest

from arcademark import docstrings
from arcademark.agents.base import Learner, Transition
from arcademark.agents.loading import agent_specs, applies, make_agent
from arcademark.agents.parameters import declared
from arcademark.classic.features import registry
from arcademark.classic.features.base import Change, Counts
from arcademark.classic.features.registry import FeatureSet
from arcademark.classic.sarsa import Sarsa, choose
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.records.model import EpisodeResult
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.events import TrainingBlock
from arcademark.runs.playing.trial import TrialPlayer
from arcademark.suite.learners import defaults, origin
from arcademark.suite.protocols import protocol
from arcademark.testing import check_agent

STATES = 8


class FirstByte:
    """The first byte of the memory, bit by bit."""

    observed = "ram"
    num_features = STATES

    def __init__(self, env, *, gap: int = 0):
        self.env = env
        self.begin()

    def begin(self):
        self.last = np.zeros(STATES, bool)

    def bits(self, observation):
        return np.unpackbits(observation[:1], bitorder="little").astype(bool)

    def describe(self, feature):
        return f"bit {feature}"

    def picture(self, observation):
        return np.zeros((1, 1, 3), np.uint8)


class Bits(FirstByte):
    """What was set and cleared."""

    def update(self, observation):
        seen, before = self.bits(observation), self.last
        self.last = seen
        return Change(*(np.flatnonzero(x).astype(np.int32) for x in (seen & ~before, before & ~seen)))


class Numbers(FirstByte):
    """The bit of number i, counted i + 1 times."""

    def count(self, observation):
        (features,) = np.nonzero(self.bits(observation))
        return Counts(features.astype(np.int32), (features + 1).astype(np.float32))


@pytest.fixture(autouse=True)
def sets(monkeypatch, tmp_path):
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path))
    for name, factory in (("bits", Bits), ("numbers", Numbers)):
        monkeypatch.setitem(registry._SETS, name, FeatureSet(name, "of a test", "none", "ram", factory))


def spec(actions=2, game="toy"):
    made = environment_spec(game, protocol("ale-2013"))
    return dataclasses.replace(made, action_meanings=made.action_meanings[:actions])


def seen(*bits):
    observation = np.zeros(8, np.uint8)
    observation[0] = sum(1 << bit for bit in bits)
    return observation


class Scripted:
    """A generator that explores as told: each action is a random one."""

    def __init__(self, *actions):
        self.actions = list(actions)

    def random(self):
        return 0.0

    def integers(self, number):
        return self.actions.pop(0)


def play(agent, states, rewards, actions, end="terminated"):
    """Play an episode of given states and actions."""
    rng = Scripted(*actions)
    for t, reward in enumerate(rewards):
        action = int(agent.act(states[t][None], np.array([t == 0]), [rng])[0])
        assert action == actions[t]
        ended = t + 1 == len(rewards)
        ends = (ended and end == kind for kind in ("terminated", "truncated"))
        agent.learn(Transition(states[t], action, reward, states[t + 1], *ends), rng)


def weights(agent):
    return agent._values.weights[:, :2].tolist()


@pytest.mark.parametrize("end", ["terminated", "truncated"])
def test_updates_by_hand(end):
    agent = Sarsa(spec(), features="bits", alpha=0.5, lambda_=0.5, gamma=0.5, epsilon=1.0)
    agent.train()
    play(agent, [seen(0), seen(0, 1), seen(2)], [1.0, 2.0], [1, 1], end)
    # δ = 1: w[0, 1] = 0.5, one feature. Then δ = 2 - 0.5, half of 0.5: traces 1 and 1 of features 0 and 1.
    assert np.allclose(weights(agent)[:3], [[0, 0.5 + 0.25 * 1.5], [0, 0.25 * 1.5], [0, 0]])
    play(agent, [seen(0), seen(1), seen()], [0.0, -1.0], [0, 1], end)
    # Two features were active at once, so the step size stays 0.25, though one is now.
    first = 0.5 * 0.375
    assert np.allclose(weights(agent)[0], [0.25 * first + 0.25 * (-1 - 0.375) * 0.25, 0.875])
    assert np.allclose(weights(agent)[1], [0, 0.375 + 0.25 * (-1 - 0.375)])


def test_updates_of_counts_by_hand():
    agent = Sarsa(spec(), features="numbers", alpha=0.5, lambda_=1.0, gamma=0.5, epsilon=1.0)
    agent.train()
    play(agent, [seen(0, 1), seen(2), seen(0)], [1.0, 1.0], [0, 1])
    # Step sizes are 0.5 over 1² + 2², then over 3², the greatest sum of squares so far.
    assert np.allclose(weights(agent)[:3], [[0.1 + 0.5 * 0.5 / 9, 0], [0.2 + 1.0 * 0.5 / 9, 0], [0, 3 * 0.5 / 9]])


def test_rewards_are_divided_by_the_first_that_is_not_zero():
    one, fifty = (Sarsa(spec(), features="bits", epsilon=1.0) for _ in range(2))
    for agent, unit in ((one, 1.0), (fifty, 50.0)):
        agent.train()
        for _ in range(2):
            play(agent, [seen(0), seen(1), seen(0), seen()], [0.0, -unit, 3 * unit], [1, 0, 1])
    assert weights(one) == weights(fifty)
    assert np.any(weights(one))


@pytest.mark.parametrize(("schedule", "steps"), [("constant", [0.5, 0.5]), ("linear", [0.5, 0.125])])
def test_the_step_size_follows_its_schedule(schedule, steps):
    agent = Sarsa(spec(), features="bits", alpha=0.5, alpha_schedule=schedule, epsilon=1.0)
    agent.train()
    for bit, share in enumerate((0.0, 0.75)):
        agent.set_progress(share)
        play(agent, [seen(bit), seen()], [1.0], [1])
    assert [row[1] for row in weights(agent)[:2]] == steps


@pytest.mark.parametrize("budget", [{"training_episodes": 8}, {"training_frames": 600, "training_episodes": None}])
def test_the_schedule_ends_with_the_training_and_a_restart_changes_nothing(budget):
    trial = dataclasses.replace(toy_trial("bits", None, alpha_schedule="linear"), **budget)
    player = TrialPlayer(trial)
    follow, shares = player.agent.policy.set_progress, []
    player.agent.policy.set_progress = lambda share: shares.append(share) or follow(share)
    *_, last = blocks(player.play([]))
    ends = np.cumsum([0, *(result.record.frames for result in last.results)])
    if trial.training_frames is None:
        assert shares == [number / 8 for number in range(8)]
    else:
        assert shares == [end / 600 for end in ends[:-1].tolist()]
        assert ends[-2] < 600 <= ends[-1]
    stopped, answers = TrialPlayer(trial), iter([False, False, True])
    *_, half = blocks(stopped.play([], stopping=lambda: next(answers, True)))
    assert 0 < half.checkpoint.episodes < last.checkpoint.episodes
    *_, rest = blocks(TrialPlayer(trial).play([], half.checkpoint))
    assert rest.checkpoint == last.checkpoint


def blocks(events):
    return [event for event in events if isinstance(event, TrainingBlock)]


def test_ties_are_broken_evenly_and_only_then_drawn():
    rng = np.random.default_rng(0)
    chosen = [choose([1.0, 3.0, 0.0, 3.0], 0.0, rng) for _ in range(4000)]
    assert set(chosen) == {1, 3}
    assert abs(chosen.count(1) - 2000) < 150
    a, b = np.random.default_rng(5), np.random.default_rng(5)
    assert choose([0.0, 2.0, 1.0], 0.1, a) == 1
    b.random()
    assert a.random() == b.random()


@pytest.mark.parametrize("features", ["numbers", "ram-bits", "lsh"])
def test_it_keeps_what_every_learner_must(features):
    small = {"vectors": 20, "nonzero": 10} if features == "lsh" else {}
    (agent,) = agent_specs("sarsa", {"features": features, **small})
    env = environment_spec("toy", protocol("world-records"))
    made = make_agent(agent, env)
    assert isinstance(made, Learner)
    assert made.observation == ("palette" if features == "lsh" else "ram")
    check_agent(lambda: make_agent(agent, env), env, np.random.default_rng(0))


def toy_trial(features, training_frames, episodes=1, **others):
    tiles = {"rows": 8, "columns": 8, "background_screens": 100} if features == "bass" else {}
    specs = agent_specs("sarsa", {"features": features, **tiles, **others})
    rules = protocol("ale-2013").override({"frame_skip": 1, "max_frames_per_episode": 350, "action_set": "minimal"})
    (trial,) = make_plan(specs, ["toy"], rules, episodes=episodes, frames=training_frames).trials
    return trial


def test_it_learns_to_catch():
    """Random play catches four fruits before it has missed five; an episode has room for 50."""
    trial = toy_trial("bass", 25_000, episodes=5, alpha=1.0, gamma=0.8, evaluation_epsilon=0.0)
    ended = [item.record for item in TrialPlayer(trial).play(range(5)) if isinstance(item, EpisodeResult)]
    assert np.mean([record.score for record in ended]) > 40


@pytest.mark.parametrize("features", ["bits", "numbers"])
def test_the_scale_and_the_most_active_features_are_kept(features):
    """What comes after the checkpoint is smaller than what came before, so that neither can be found anew."""
    undisturbed, restored = (Sarsa(spec(), features=features, epsilon=1.0) for _ in range(2))
    undisturbed.train()
    play(undisturbed, [seen(0, 1, 2), seen(3), seen()], [50.0, 0.0], [1, 0])
    restored.restore(undisturbed.checkpoint())
    restored.train()
    for agent in (undisturbed, restored):
        play(agent, [seen(0), seen(1), seen()], [5.0, 10.0], [1, 0])
    assert weights(restored) == weights(undisturbed)
    assert restored.checkpoint() == undisturbed.checkpoint()


@pytest.mark.parametrize("features", ["bits", "numbers"])
def test_an_episode_that_is_broken_off_leaves_what_was_learnt_and_no_traces(features):
    agent = Sarsa(spec(), features=features, alpha=1.0, epsilon=1.0, evaluation_epsilon=0.0)
    agent.train()
    rng = Scripted(1, 0)
    action = int(agent.act(seen(0)[None], np.array([True]), [rng])[0])
    agent.learn(Transition(seen(0), action, 1.0, seen(1), False, False), rng)
    agent.evaluate()
    learnt = weights(agent)
    assert learnt[0] == [0, 1]
    chosen = {int(agent.act(seen(0)[None], np.array([True]), [np.random.default_rng(i)])[0]) for i in range(20)}
    assert chosen == {1}
    agent.train()
    play(agent, [seen(2), seen()], [1.0], [0])
    assert weights(agent)[:2] == learnt[:2]


LSH = {"features": "lsh", "vectors": 4, "nonzero": 3}


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        (lambda: Sarsa(spec(), features="numbers").checkpoint(), "its features is 'numbers'; expected 'bits'"),
        (lambda: Sarsa(spec(3), features="bits").checkpoint(), "its num_actions is 3; expected 2"),
        (lambda: Sarsa(spec(), **LSH).checkpoint(), "its features is 'lsh'"),
        *((data, "the checkpoint cannot be used") for data in (b"", b"{}", b"{}\n", b"[]\n")),
        (lambda: Sarsa(spec(), features="bits").checkpoint()[:-3], "the checkpoint cannot be used"),
        *(
            (change, "the checkpoint cannot be used")
            for change in (
                *({"rows": rows} for rows in (-1, "1", 10**18)),
                *({"episodes": -1}, {"steps": 1.5}, {"reward_scale": 0.0}, {"reward_scale": "1"}),
                {"deep": json.loads("[" * 100 + "]" * 100)},
                {"long": "x" * 200_000},
            )
        ),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused_and_changes_nothing(kept, message):
    """Of something else, damaged, or with a header that is changed."""
    agent = Sarsa(spec(), features="bits")
    agent.train()
    play(agent, [seen(2), seen(0), seen()], [1.0, 2.0], [0, 1])
    before = agent.checkpoint()
    if isinstance(kept, dict):
        first, _, body = before.partition(b"\n")
        kept = json.dumps(json.loads(first) | kept).encode() + b"\n" + body
    with pytest.raises(ArcadeMarkError, match=f"agent sarsa on toy: .*{message}"):
        agent.restore(kept if isinstance(kept, bytes) else kept())
    assert agent.checkpoint() == before


def test_a_checkpoint_of_other_parameters_is_refused():
    with pytest.raises(ArcadeMarkError, match=r"its feature_parameters is .*'hash_seed': 1"):
        Sarsa(spec(), **LSH).restore(Sarsa(spec(), **LSH, hash_seed=1).checkpoint())


def test_a_checkpoint_inflates_to_no_more_than_its_rows():
    agent = Sarsa(spec(), features="lsh", vectors=2000, nonzero=3)
    header = json.loads(agent.checkpoint().partition(b"\n")[0]) | {"rows": 1_000_000}
    bomb = zlib.compress(bytes(150_000_000))
    tracemalloc.start()
    with pytest.raises(ArcadeMarkError, match="it inflates to more than the 7,600,000 bytes"):
        agent.restore(json.dumps(header).encode() + b"\n" + bomb)
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()


def test_weights_that_grow_beyond_bounds_are_told():
    agent = Sarsa(spec(), features="bits", alpha=1e200, epsilon=1.0)
    agent.train()
    with pytest.raises(ArcadeMarkError, match="agent sarsa on toy: its weights grew beyond all bounds; lower alpha"):
        play(agent, [seen(0)] * 9, [1.0] * 8, [0] * 8)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"features": "basik"}, "unknown feature set 'basik'; did you mean 'basic'"),
        ({"features": "ram", "colours": 8}, "features 'ram' have no parameter 'colours'; it has none"),
        ({"vectors": 5}, "features 'basic' have no parameter 'vectors'; it has rows, columns, colours"),
        ({"alpha": 0}, "parameter 'alpha' is 0: expected float of more than 0"),
        ({"trace_threshold": 0}, "parameter 'trace_threshold' is 0: expected float of more than 0 and at most 1"),
        ({"rows": 0}, "parameter 'rows' is 0: expected int from 1 to 250"),
        ({"trajectory": "nowhere.txt"}, "nowhere.txt: cannot read the file"),
        ({"features": "lsh", "vectors": 60_000, "table_size": 40_000}, "lsh: 60,000 vectors of 1,000 of 8,192 bits"),
        ({"features": "blob-prost", "rows": 250, "columns": 150}, "37,500 tiles: .* take fewer rows or columns"),
        ({"features": "blob-prost", "trajectory": __file__}, "is not an action"),
        ({"features": "disco", "tilings": 0}, "parameter 'tilings' is 0: expected int of at least 1"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_played(settings, complaint):
    with pytest.raises((ArcadeMarkError, UnknownNameError), match=complaint):
        applies(agent_specs("sarsa", settings)[0], environment_spec("toy", protocol("ale-2013")))


def test_every_parameter_of_every_feature_set_can_be_set_and_is_explained():
    own = {parameter.name for parameter in declared(Sarsa)[0]}
    for name, item in registry.feature_sets().items():
        if name not in ("bits", "numbers"):
            assert {parameter.name for parameter in declared(item.factory)[0]} <= own, name
    notes = docstrings.parameter_notes(Sarsa)
    assert {parameter for parameter in inspect.signature(Sarsa).parameters if parameter != "env"} <= set(notes)


def test_what_is_not_set_is_the_feature_sets_own():
    disco, basic, bass, ram, ram_bits = map(defaults, ("disco", "basic", "bass", "ram", "ram-bits"))
    lsh, b_prost = map(defaults, ("lsh", "b-prost"))
    usual = {"alpha": 0.5, "alpha_schedule": "constant", "lambda_": 0.9, "gamma": 0.999, "epsilon": 0.05}
    assert basic == usual | {"alpha": 0.1, "alpha_schedule": "linear"}
    assert bass == usual | {"alpha": 1.0, "alpha_schedule": "linear"}
    assert disco == usual | {"alpha": 1.0, "alpha_schedule": "linear"}
    assert ram == usual | {"alpha": 1.0, "alpha_schedule": "linear"}
    assert ram_bits == usual | {"lambda_": 0.5}
    assert lsh == usual | {"alpha": 0.2, "alpha_schedule": "linear"}
    assert b_prost == usual | {"gamma": 0.99, "epsilon": 0.01}


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (
            {"features": "bass"},
            "alpha 1, which decreases to 0 over training, and lambda 0.9 of bass are ours, tuned by frozen evaluation "
            "on Asterix, Freeway and Space Invaders: the paper's table",
        ),
        ({}, "alpha 0.1, which decreases to 0 over training, and lambda 0.9 of basic are ours"),
        ({"features": "ram-bits"}, "Unconfirmed values of the paper: --set alpha=0.2 --set lambda_=0.5."),
        ({"features": "disco", "alpha": 0.2}, "lambda 0.9 of disco is ours"),
        (
            {"features": "lsh"},
            "alpha 0.2, which decreases to 0 over training, and lambda 0.9 of lsh are ours, tuned by frozen evaluation",
        ),
        ({"features": "lsh"}, "of the paper: --set alpha=0.5 --set lambda_=0.5 --set alpha_schedule=constant."),
        ({"features": "lsh", "alpha": 0.1}, "of the paper: --set lambda_=0.5."),
        ({"alpha_schedule": "constant"}, "alpha 0.1 and lambda 0.9 of basic are ours"),
        ({"features": "disco", "lambda_": None, "alpha": 0.2}, "of the paper: --set lambda_=0.9."),
    ],
)
def test_it_is_said_whose_values_are_used(parameters, said):
    assert said in origin(parameters)


def test_values_are_the_users_or_a_papers_without_a_word():
    assert origin({"features": "ram", "alpha": 0.2, "lambda_": 0.5}) == ""
    assert origin({"features": "b-prost"}) == ""
    assert {name for name in registry.feature_sets() if origin({"features": name})} == {
        "basic", "bass", "lsh", "ram", "ram-bits", "disco"
    }  # fmt: skip
