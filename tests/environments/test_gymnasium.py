"""The Gymnasium environments: checked by Gymnasium, the same alone and in a vector, training as the protocol says."""

import copy
import pickle
import warnings
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from test_tasks import CLASSIC, rules

import arcademark
from arcademark.errors import ArcadeMarkError
from arcademark.suite.tasks import canonical_game, games


@pytest.mark.parametrize("render_mode", [None, "rgb_array"])
@pytest.mark.parametrize(
    ("game", "name"), [("toy", "world-records"), ("pong", "world-records"), ("breakout", "ale-v5"), ("toy", "dqn-2015")]
)
def test_gymnasiums_checker_has_nothing_to_say(game, name, render_mode):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = arcademark.make(game, name, render_mode=render_mode)
        check_env(env)
        env.close()


def test_an_environment_can_be_made_again_from_its_gymnasium_spec():
    env = arcademark.make("pong", "saber", training=True, frame_skip=5)
    again = gymnasium.make(env.spec).unwrapped
    assert again.environment_spec == env.environment_spec
    assert again.clips_rewards == env.clips_rewards


def test_infos_have_the_names_and_values_of_ale():
    env = arcademark.make("breakout", "ale-v5", repeat_action_probability=0)
    theirs = gymnasium.make("ALE/Breakout-v5", repeat_action_probability=0.0).unwrapped
    (_, info), (_, expected) = env.reset(seed=0), theirs.reset(seed=0)
    assert info == {name: expected[name] for name in info}
    for action in (1, 0, 3):
        *_, info = env.step(action)
        assert info == theirs.step(action)[-1]


def test_seeds_begin_a_series_of_episodes():
    env = arcademark.make("toy", repeat_action_probability=0.5)

    def series(seed):
        env.reset(seed=seed)
        scores = []
        for _ in range(6):
            score, ended = 0, False
            while not ended:
                _, reward, terminated, truncated, _ = env.step(3)
                score, ended = score + reward, terminated or truncated
            scores.append((score, env.info()["frame_number"]))
            env.reset()
        return scores

    first = series(1)
    assert len(set(first)) > 1
    assert series(1) == first != series(2)


def test_training_clips_rewards_and_ends_with_a_life():
    scores, lives = {}, {}
    for training in (False, True):
        env = arcademark.make("breakout", "dqn-2015", training=training)
        env.reset(seed=0)
        assert env.given(-7.0) == (-1.0 if training else -7.0)
        scores[training], ended = [], False
        while not ended:
            _, reward, terminated, truncated, info = env.step(env.action_space.sample())
            scores[training].append(reward)
            ended = terminated or truncated
        lives[training] = info["lives"]
    assert lives == {False: 0, True: 4}
    assert set(scores[True]) <= {0.0, 1.0}


TOY = {"protocol": "world-records", "max_frames_per_episode": 61, "training": True}
LIVES = {"protocol": "dqn-2015", "training": True, "max_frames_per_episode": 115, "repeat_action_probability": 0.25}
"""Ends come in most steps' midst: the caps are odd, and a lost life ends an episode."""
MEMORY = {"observation": "ram", "screen_size": None, "max_pool": False, "frame_stack": 1}
FIRE = {"protocol": "dqn-2015", "fire_reset": True, "max_frames_per_episode": 300, "padding_type": "zero"}
FIRED = (("same_step", False), ("next_step", True))
TASKS = {"protocol": rules(f"{CLASSIC},Odd-v0", max_steps_per_episode=12)}
TOY_FIRE = {
    "action_set": "full",
    "frame_skip": 3,
    "repeat_action_probability": 0,
    "frame_stack": 3,
    "screen_size": None,
}


@pytest.mark.parametrize(
    ("games", "count", "how", "settings"),
    [
        *(("toy", 3, {"autoreset_mode": mode, "copy": copy}, TOY) for mode in AutoresetMode for copy in (False, True)),
        *(("breakout,pong,space_invaders", 5, {"threads": n}, LIVES | {"action_set": "full"}) for n in (1, 2, 5)),
        ("breakout,pong,space_invaders", 5, {"threads": 2}, LIVES | MEMORY | {"action_set": "full"}),
        *((name, 2, {}, TASKS) for name in ("cartpole_v1", "pendulum_v1", "blackjack_v1", "odd_v0")),
        *(("toy", 3, {"autoreset_mode": mode}, FIRE | TOY_FIRE | {"training": on}) for mode, on in FIRED),
        *(("breakout", 9, {"threads": 3, "autoreset_mode": mode}, FIRE | {"training": on}) for mode, on in FIRED),
    ],
)
def test_a_vector_plays_what_single_environments_play(games, count, how, settings):
    """Gymnasium's own vector of single environments is the oracle, infos included."""
    ours, names = arcademark.make_vec(games, count, **how, **settings), games.split(",")
    mode = ours.autoreset_mode
    makers = [partial(arcademark.make, names[i % len(names)], **settings) for i in range(count)]
    theirs = gymnasium.vector.SyncVectorEnv(makers, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"] == mode
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert_same(ours.reset(seed=5), theirs.reset(seed=5))
    ours.action_space.seed(0)
    ends = 0
    for _ in range(120):
        actions = ours.action_space.sample()
        result, expected = ours.step(actions), theirs.step(actions)
        assert_same(result, expected)
        ended = result[2] | result[3]
        ends += np.count_nonzero(ended)
        if mode is AutoresetMode.DISABLED and ended.any():
            assert_same(ours.reset(options={"reset_mask": ended}), theirs.reset(options={"reset_mask": ended.copy()}))
    assert ends > 5
    ours.close()


def assert_same(result, expected):
    """Compare observations, rewards and so on, and infos, whatever they hold."""
    for ours, theirs in zip(result[:-1], expected[:-1], strict=True):
        assert data_equivalence(ours, theirs, exact=True)
    assert_same_infos(result[-1], expected[-1])


def assert_same_infos(ours, theirs):
    """Seconds differ; games that ended are told twice with "same_step", and that none has where a life was lost."""
    if "r" in theirs:
        assert ours.keys() >= {"r", "l", "t"}
        ours, theirs = ({name: infos[name] for name in ("r", "l")} for infos in (ours, theirs))
    if "_episode" in ours.keys() - theirs.keys() and ("final_info" in theirs or not ours["_episode"].any()):
        ours = {name: value for name, value in ours.items() if name not in {"episode", "_episode"}}
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        if isinstance(value, dict):
            assert_same_infos(ours[name], value)
        elif value.dtype == object:
            for a, b in zip(ours[name], value, strict=True):
                np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_array_equal(ours[name], value)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_ended_games_are_told_as_gymnasiums_wrapper_tells_them(mode):
    envs = arcademark.make_vec("toy", 3, autoreset_mode=mode, max_frames_per_episode=200)
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs, stats_key="theirs")
    envs.reset(seed=0)
    told = 0
    for step in range(300):
        *_, infos = envs.step(np.full(3, step % 18))
        assert ("_episode" in infos) == ("_theirs" in infos)
        if "_episode" in infos:
            told += np.count_nonzero(infos["_episode"])
            np.testing.assert_array_equal(infos["_episode"], infos["_theirs"])
            assert infos["episode"].keys() == infos["theirs"].keys()
            for name in ("r", "l"):
                np.testing.assert_array_equal(infos["episode"][name], infos["theirs"][name])
    assert told > 10


def test_the_score_of_a_whole_game_is_told_whatever_training_clips_and_ends():
    """The game without training, played by the same actions, is the oracle; a life's end is a step of no action."""
    rules = {"protocol": "dqn-2015", "start": "reset", "noop_max": 0}
    trained, whole = (arcademark.make("asterix", training=training, **rules) for training in (True, False))
    trained.reset(seed=0)
    whole.reset(seed=0)
    rng, given, score, lives, told = np.random.default_rng(0), 0.0, 0.0, 0, None
    while told is None:
        action = int(rng.integers(9))
        _, reward, terminated, _, info = trained.step(action)
        given += reward
        score += whole.step(action)[1]
        lives += terminated
        told = info.get("episode")
        if terminated and told is None:
            trained.reset()
            score += whole.step(0)[1]
    assert told["r"] == score > given
    assert lives == 3


def test_copied_observations_stay_as_they_were():
    envs = arcademark.make_vec("toy", 2)
    kept = [envs.reset(seed=0)[0]]
    before = [kept[0].copy()]
    for _ in range(30):
        kept.append(envs.step(np.array([3, 4]))[0])
        before.append(kept[-1].copy())
    kept.append(envs.reset(seed=1)[0])
    for a, b in zip(kept, before, strict=False):
        np.testing.assert_array_equal(a, b)


def test_several_games_share_a_vector():
    envs = arcademark.make_vec("pong,qbert", 3)
    assert [env.environment_spec.game for env in envs.envs] == ["pong", "qbert", "pong"]
    assert envs.reset(seed=0)[0].shape == (3, 4, 84, 84)
    with pytest.raises(ArcadeMarkError, match=r"cannot share a vector: .*Discrete\(6\).*Discrete\(4\)"):
        arcademark.make_vec("pong,breakout", action_set="minimal")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: arcademark.make("pongg"), "unknown game 'pongg'"),
        (lambda: arcademark.make("pong", "world-recods"), "unknown protocol"),
        (lambda: arcademark.make("pong", frameskip=3), "frameskip"),
        (lambda: arcademark.make("pong", render_mode="human"), "render_mode 'human'"),
        (lambda: arcademark.make_vec("pong", 0), "0 environments"),
        (lambda: arcademark.make_vec("toy", 2).step(np.array([0])), "1 actions for 2"),
        (lambda: arcademark.make_vec("toy", 2).reset(seed=[1]), "1 seeds for 2"),
    ],
)
def test_mistakes_are_told_in_one_line(call, message):
    with pytest.raises(ArcadeMarkError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("action", [1, np.int64(1), np.array(1), np.array([1])])
def test_an_action_may_come_as_any_integer(action):
    env = arcademark.make("toy")
    env.reset(seed=0)
    env.step(action)


def test_every_game_is_registered():
    name = "arcademark.environments.interfaces.gymnasium:arcademark/pong-v0"
    single = gymnasium.make(name, protocol="saber", training=True)
    assert single.unwrapped.environment_spec.protocol.name == "saber"
    same = arcademark.make("pong", protocol="saber", training=True)
    assert np.array_equal(single.reset(seed=3)[0], same.reset(seed=3)[0])
    vector = gymnasium.make_vec(name, num_envs=2, protocol="saber")
    assert vector.reset(seed=3)[0].shape == (2, *single.observation_space.shape)
    assert {f"arcademark/{game}-v0" for game in games()} <= gymnasium.registry.keys()
    assert canonical_game("arcademark/pong-v0") == "pong"


def test_settings_are_changed_by_name_or_as_run_takes_them():
    by_name = arcademark.make("pong", frame_skip=5)
    assert arcademark.make("pong", overrides={"frame_skip": 5}).environment_spec == by_name.environment_spec
    assert arcademark.make_vec("pong", 1, overrides={"frame_skip": 5}).num_envs == 1
    for given, message in (
        ({"frame_skip": 5, "overrides": {"frame_skip": 4}}, "given twice"),
        ({"overrides": 5}, "overrides 5: expected a dictionary"),
    ):
        with pytest.raises(ArcadeMarkError, match=message):
            arcademark.make("pong", **given)


@pytest.mark.parametrize("make", [arcademark.make, arcademark.make_vec])
def test_a_protocol_that_is_named_counts_beside_a_suite_whichever_it_is(make):
    for protocol in ("world-records", "dqn-2015", arcademark.protocol("world-records")):
        with pytest.raises(ArcadeMarkError, match="a suite has its own protocol"):
            make("cart_pole", protocol=protocol, suite="classic-control")
    make("cart_pole", suite="classic-control").close()


def test_environments_are_pickled_and_copied_as_new_ones():
    env = arcademark.make("pong", render_mode="rgb_array", channels_first=True, frame_skip=3)
    first = env.reset(seed=1)[0]
    env.step(2)
    vector = arcademark.make_vec("pong", 2, autoreset_mode="same_step", threads=1, frame_skip=3)
    several = vector.reset(seed=1)[0]
    for copied in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        one = copied(env)
        assert (one.render_mode, one.environment_spec) == ("rgb_array", env.environment_spec)
        with pytest.raises(ArcadeMarkError, match="call reset first"):
            one.step(0)
        assert np.array_equal(one.reset(seed=1)[0], first)
        all_of_them = copied(vector)
        assert all_of_them.metadata == vector.metadata
        assert np.array_equal(all_of_them.reset(seed=1)[0], several)
    env.step(2)  # and the first one goes on
    vector.step([0, 0])


def begun():
    env = arcademark.make("pong")
    env.reset(seed=0)
    return env


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *((lambda game=game: arcademark.make(game), "game .*: expected text") for game in (None, 5, ["pong"], b"pong")),
        *(
            (
                lambda rules=rules: arcademark.make("pong", rules),
                "protocol .*: expected text, AtariProtocol, StepProtocol",
            )
            for rules in (5, {"frame_skip": 3}, [])
        ),
        *(
            (lambda game=game: arcademark.make_vec(game, 2), "expected a name, or several")
            for game in (None, 5, np.array(5), b"pong")
        ),
        *(
            (lambda make=make, kind=kind: make("pong", **{kind: []}), f"{kind} .*expected")
            for make in (arcademark.make, arcademark.make_vec)
            for kind in ("render_mode", "padding_type", "suite")
        ),
        (lambda: arcademark.make("pong", overrides={1: 2}), "overrides, key 1: expected text"),
        *((lambda n=n: arcademark.make_vec("pong", n), "expected a whole number") for n in ("2", 2.5, [2])),
        (lambda: arcademark.make_vec("pong", 10**7), "at most 16,384"),
        *((lambda n=n: arcademark.make_vec("pong", 2, threads=n), "expected a whole number") for n in ("2", 2.5)),
        *(
            (lambda seed=seed: arcademark.make_vec("pong", 2).reset(seed=seed), "expected a whole number")
            for seed in (3.0, "12", {1, 2}, [1.5, 2], ["1", "2"])
        ),
        *(
            (lambda mask=mask: arcademark.make_vec("pong", 2).reset(options={"reset_mask": mask}), "2 truth values")
            for mask in (np.ones(3, bool), [1, 0], True)
        ),
        *(
            (lambda options=options: arcademark.make_vec("pong", 2).reset(options=options), "expected a dictionary")
            for options in (5, [1], "reset_mask")
        ),
        (lambda: arcademark.make_vec("pong", 2).reset(options={"reset_mask": [[True], True]}), "expected an array"),
        (lambda: arcademark.make_vec("pong", 2).step([[1], 1]), "actions .*expected an array"),
        *((lambda action=action: begun().step(action), "is not an integer") for action in ([], [1, 2], [[1], 2])),
        (lambda: arcademark.make_vec("pong", 2).step(1), "1 actions for 2 environments"),
    ],
)
def test_what_makes_no_sense_is_one_clear_error(call, message):
    with pytest.raises(ArcadeMarkError, match=message):
        call()


@pytest.mark.parametrize(
    ("seed", "same"),
    [(np.array([3, 5], np.uint8), [3, 5]), ([np.int64(3), np.uint8(5)], [3, 5]), (np.array(3), 3), (np.int64(3), 3)],
)
def test_seeds_may_be_numbers_and_arrays_of_numpy(seed, same):
    vector = arcademark.make_vec("pong", np.int64(2))
    expected = vector.reset(seed=same)[0]
    assert np.array_equal(vector.reset(seed=seed)[0], expected)


def test_a_suite_may_be_a_path(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('[tasks.cart_pole]\nenvironment = "CartPole-v1"\n')
    assert arcademark.make("cart_pole", suite=file).observation_space.shape == (4,)
