"""Runs on tasks beyond Atari: recorded exactly, continued, replayed, shown, and safe to open."""

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from msgspec.structs import replace

import altering
from arcademark.agents.loading import made_spec
from arcademark.analysis.scoring import analysis
from arcademark.environments.tasks import trusted
from arcademark.errors import ArcadeMarkError
from arcademark.records.model import decode_actions, encode_actions
from arcademark.records.reading import read_actions, read_run
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.replay import watch as watching
from arcademark.runs.replay.suite_check import check_suite
from arcademark.runs.replay.verify import verify
from arcademark.suite.protocols import step_protocol
from arcademark.suite.task_suites import load_suite, read_suite, task_suites
from fakes import spaces  # noqa: F401 - Gymnasium makes what it registers

FILE = """
[protocol]
evaluation_episodes = 3
max_steps_per_episode = 40

[tasks.cartpole]
environment = "CartPole-v1"
low = { score = 20, source = "random play" }
high = { score = 475, source = "Gymnasium's registry" }

[tasks.pendulum]
environment = "Pendulum-v1"
low = { score = -1200, source = "random play" }
high = { score = -150, source = "a guess" }

[subsets]
poles = ["cartpole"]
"""


LAKE = '[tasks.lake]\nenvironment = "FrozenLake-v1"\n'


@pytest.fixture
def rules():
    return step_protocol(read_suite(FILE, "two.toml", "two"))


def play(directory, rules, agent="random", **asked):
    execute(make_plan(agent, "all", rules, **asked), directory, make=InProcessEngine)


@pytest.mark.slow
def test_a_run_is_recorded_continued_and_replayed(tmp_path, rules):
    play(tmp_path / "run", rules)
    run = read_run(tmp_path / "run")
    pendulum = next(trial for trial in run.trials if trial.game == "pendulum")
    actions = read_actions(run.directory, pendulum.id, 0, "evaluation")
    assert (actions.dtype, actions.shape) == (np.float32, (40, 1))
    assert len(np.unique(actions)) > 30
    assert verify(run.directory).ok
    play(tmp_path / "run", rules, seeds=2, episodes=4)  # it grows, and nothing is played twice
    grown = read_run(tmp_path / "run")
    assert len(grown.episodes) == 16
    assert grown.evaluation(pendulum).score[:3].tolist() == run.evaluation(pendulum).score.tolist()
    assert verify(grown.directory).ok
    execute(make_plan("random", "all", rules, seeds=2, episodes=4), tmp_path / "whole", workers=2)
    assert read_run(tmp_path / "whole").episodes.score.tolist() == grown.episodes.score.tolist()


class Holding:
    """An agent that asks for games with an action every 5 frames, and plays any task."""

    frames_per_action = 5

    def act(self, observations, first, rngs):
        return np.zeros(len(first), np.int64)


def test_a_step_of_a_task_is_one_whatever_an_agent_asks_for(tmp_path):
    rules = step_protocol(read_suite(LAKE, "lake.toml", "lake"))
    execute(make_plan([made_spec(Holding)], "all", rules, episodes=1), tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert run.trials[0].frames_per_action is None
    assert run.episodes[0].frames == run.episodes[0].steps


@pytest.mark.slow
def test_other_tasks_may_be_added_and_none_changed(tmp_path, rules):
    play(tmp_path / "run", rules)
    more = FILE + LAKE
    play(tmp_path / "run", step_protocol(read_suite(more, "two.toml", "two")))
    assert [trial.game for trial in read_run(tmp_path / "run").trials] == ["cartpole", "pendulum", "lake"]
    other = more.replace('"Pendulum-v1"', '"Pendulum-v1"\nkwargs = { g = 9.0 }')
    with pytest.raises(ArcadeMarkError, match="kwargs of task pendulum"):
        play(tmp_path / "run", step_protocol(read_suite(other, "two.toml", "two")))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i1", ">f4"])
def test_arrays_of_actions_are_kept_bit_for_bit(dtype):
    actions = np.random.default_rng(0).standard_normal((7, 2, 3)).astype(dtype)
    again = decode_actions(encode_actions(actions))
    assert again.shape == actions.shape
    assert again.astype(dtype).tobytes() == actions.tobytes()
    assert decode_actions(encode_actions(np.array([], "f4"))).size == 0


def test_a_report_is_of_the_tasks_and_their_references(tmp_path, rules):
    play(tmp_path / "run", rules, seeds=2)
    report = analysis.analyse(tmp_path / "run")
    assert report.benchmark.name == "two"
    assert [(game.id, game.references["high"]) for game in report.games] == [("cartpole", 475.0), ("pendulum", -150.0)]
    score = report.algorithms[0].scores[0]
    assert score.normalised["normalised"].value == pytest.approx(100 * (score.score.value - 20) / 455)
    assert [game.id for game in analysis.analyse(tmp_path / "run", games="poles").games] == ["cartpole"]
    assert "40 steps" in report.methods[0]
    assert not report.methods[0].count("frame")
    more = step_protocol(read_suite(FILE + LAKE, "two.toml", "two"))
    play(tmp_path / "run", more)
    coverage = analysis.analyse(tmp_path / "run").algorithms[0].coverage
    assert (coverage.games, coverage.median, coverage.refused) == (3, None, "1 task has no reference scores")
    with pytest.raises(ArcadeMarkError, match="report them separately"):
        analysis.analyse([tmp_path / "run", "catalogue:review-2021"])
    other = step_protocol(read_suite(FILE.replace("CartPole-v1", "Acrobot-v1"), "two.toml", "two"))
    play(tmp_path / "other", other)
    with pytest.raises(ArcadeMarkError, match="task 'cartpole' differs between these runs"):
        analysis.analyse([tmp_path / "run", tmp_path / "other"])


HOSTILE = [
    {"environment": "evil:CartPole-v1"},
    {"environment": "Evil-v0"},
    {"environment": "GymV26Environment-v0", "kwargs": {"env_id": "evil:CartPole-v1"}},
    {"environment": "Ant-v5", "kwargs": {"xml_file": "/dev/zero"}},
    {"kwargs": {"render_mode": "human"}},
    {"environment": "FrozenLake-v1", "kwargs": {"desc": [["S"], ["G"]]}},
    {"environment": "minigrid:MiniGrid-Empty-5x5-v0", "kwargs": {"size": 10**9}},
]


def test_a_strangers_run_makes_nothing_by_itself(tmp_path, rules, monkeypatch, rename):
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(gymnasium.registry, "Evil-v0", EnvSpec("Evil-v0", "evil:Environment"))
    play(tmp_path / "run", rules, episodes=1)
    monkeypatch.setattr("arcademark.environments.tasks.make", lambda *_: pytest.fail("it was made"))
    for task in HOSTILE:
        with altering.manifest(tmp_path / "run") as document:
            document["protocol"]["suite"]["tasks"]["cartpole"] = {"environment": "CartPole-v1", "kwargs": {}, **task}
        rename(tmp_path / "run")
        with pytest.raises(ArcadeMarkError, match="is never made for a run alone"):
            verify(tmp_path / "run", suite="classic-control")
    assert analysis.analyse(tmp_path / "run").algorithms  # which only reads


def test_what_a_run_may_have_made(rules):
    pole = rules.suite.tasks["pendulum"]
    assert trusted(replace(pole, kwargs={"heavy": False}), ())
    heavier = replace(pole, kwargs={"g": 19.0})
    assert not trusted(heavier, [rules.suite])
    suite = replace(rules.suite, tasks={"it": replace(heavier, max_steps=7)}, subsets={})
    assert trusted(heavier, [suite])
    shipped = load_suite("minigrid").tasks["empty_5x5"]
    assert trusted(replace(shipped, id="other", max_steps=7), task_suites().values())
    assert not trusted(shipped, ())


def test_a_damaged_suite_in_a_manifest_is_one_line(tmp_path, rules):
    play(tmp_path / "run", rules, episodes=1)
    with altering.manifest(tmp_path / "run") as document:
        document["games"]["else"] = "gymnasium 1"
    with pytest.raises(ArcadeMarkError, match=r"manifest.json: damaged \('else'\)"):
        read_run(tmp_path / "run")
    with altering.manifest(tmp_path / "run") as document:
        document["protocol"]["suite"]["tasks"]["cartpole"]["max_steps"] = "many"
    with pytest.raises(ArcadeMarkError, match=r"damaged .*tasks.cartpole: .*max_steps"):
        read_run(tmp_path / "run")


@pytest.mark.slow
def test_a_learner_learns_for_its_steps(tmp_path, fake):
    rules = step_protocol(read_suite(LAKE, "lake.toml", "lake"))
    play(tmp_path / "run", rules, fake("learner").replace("make_agent", "make_learner"), frames=6_000, episodes=5)
    run = read_run(tmp_path / "run")
    assert 6_000 <= run.training(run.trials[0]).frames.sum() < 6_100
    assert verify(run.directory, episode=3).ok
    assert "trained on each task for 6,000 steps" in analysis.analyse(run.directory).methods[0]


TRAINER = """
import numpy as np
from arcademark.environments.tasks import random_action

class Draws:
    num_envs, checkpoint_frames = 3, 40

    def __init__(self, env):
        self.env, self.rng = env, np.random.default_rng(env.seed)

    def fit(self, envs, frames):
        seen, _ = envs.reset()
        while envs.frames < frames:
            assert envs.observation_space.contains(seen), seen
            actions = np.array([random_action(self.env, self.rng) for _ in range(3)])
            seen, rewards, terminated, truncated, infos = envs.step(actions)
            for row in np.flatnonzero(terminated | truncated):
                assert envs.single_observation_space.contains(infos["final_obs"][row])
            yield

    def act(self, observations, first, rngs):
        return np.array([random_action(self.env, rng) for rng in rngs])

    def evaluate(self):
        pass

    def checkpoint(self):
        return b""

    def restore(self, checkpoint):
        pass
"""


@pytest.mark.slow
def test_a_trainer_trains_on_several_at_once(tmp_path):
    (tmp_path / "draws.py").write_text(TRAINER)
    made = [f'[tasks.{name}]\nenvironment = "{name.title()}-v1"\n' for name in ("blackjack", "pendulum")]
    kwargs = 'kwargs = { observed = "parts", taken = "buttons" }\n'
    suite = read_suite("".join([*made, '[tasks.made]\nenvironment = "Spaces-v0"\n', kwargs]), "s.toml", "s")
    rules = step_protocol(suite).override({"max_steps_per_episode": 30})
    plan = make_plan(f"{tmp_path / 'draws.py'}:Draws", "all", rules, frames=200, episodes=2)
    execute(plan, tmp_path / "run", make=InProcessEngine)
    run = read_run(tmp_path / "run")
    assert [trial.status for trial in run.trials] == ["done"] * 3, [trial.error for trial in run.trials]
    assert all(200 <= run.training(trial).frames.sum() < 300 for trial in run.trials)
    assert read_actions(run.directory, run.trials[1].id, 0, "training").shape == (30, 1)
    play(
        tmp_path / "two", step_protocol(read_suite("".join(made), "s.toml", "s")), plan.agents[0], frames=60, episodes=1
    )
    assert verify(tmp_path / "two").ok


def test_atari_agents_are_left_out(tmp_path, rules):
    with pytest.raises(ArcadeMarkError, match="on cartpole: it plays Atari games only"):
        make_plan("sarsa", "all", rules)


@pytest.mark.slow
def test_a_suite_is_checked(rules, tmp_path):
    told = []
    found = check_suite(rules, 2, workers=1, follow=lambda *done: told.append(done))
    assert told == [(number, 10) for number in range(1, 11)]  # two tasks: two episodes, again, and a look at each
    assert found.ok
    assert [(task.task, task.planned, task.actions) for task in found.tasks] == [
        ("cartpole", True, "2"),
        ("pendulum", False, "float32 (1,), -2 to 2"),
    ]
    gone = FILE + '[tasks.gone]\nenvironment = "Gone-v7"\n[tasks.shy]\nenvironment = "no_such_package:Shy-v0"\n'
    found = check_suite(step_protocol(read_suite(gone, "two.toml", "two")), 1, workers=1)
    assert not found.ok
    assert [task.repeatable for task in found.tasks] == [True, True, False, False]
    assert "install its package" in found.tasks[3].difference


@pytest.mark.slow
def test_an_episode_is_shown(tmp_path, rules):
    import pygame

    play(tmp_path / "run", rules)
    path = watching.watch(
        tmp_path / "run", game="pendulum", out=tmp_path / "film.png", actions=True, pictures=4, scale=1
    )
    assert path.read_bytes().startswith(b"\x89PNG")
    pictures = []
    for trial in make_plan("random", "all", rules).trials:  # an agent that plays meanwhile
        score = watching.play(trial, lambda picture: pictures.append(picture) or True, scale=1)
        run = read_run(tmp_path / "run")
        assert score == run.evaluation(next(one for one in run.trials if one.game == trial.game)).score[0]
    assert len(pictures) == sum(run.episodes[run.episodes.episode == 0].steps)
    pygame.quit()  # Gymnasium began it, with whatever display there is
