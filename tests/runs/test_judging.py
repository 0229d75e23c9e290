"""Judging during training: beside a loop that it does not disturb, within its share of time, into one run."""

import json
import random
from types import SimpleNamespace

import numpy as np
import pytest

import arcademark
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
from arcademark.operations import judging
from arcademark.runs.replay.verify import verify

RULES = arcademark.protocol("dqn-2015").override({"max_frames_per_episode": 1200, "action_set": "minimal"})
HOW = {"episodes": 2, "name": "mine", "max_share": None}


class Constant:
    """Plays one action, after drawing from everybody's generators."""

    def __init__(self, action):
        self.action = action

    def predict(self, observation, state=None, episode_start=None):
        random.random()
        np.random.random()  # noqa: NPY002
        return self.action, state


def judged(tmp_path, action, frames, **more):
    return arcademark.judge(Constant(action), "freeway", RULES, frames=frames, out=tmp_path / "run", **HOW | more)


def test_evaluations_become_one_run_with_a_curve_and_runs_that_can_be_verified(tmp_path):
    results = [judged(tmp_path, action, frames) for action, frames in ((0, 1000), (1, 5000), (0, 9000))]
    scores = [result.scores["freeway"] for result in results]
    assert scores[0] == scores[2] < scores[1]
    assert [result.best for result in results] == [True, True, False]
    report = arcademark.report(tmp_path / "run")
    assert report.algorithms[0].name == "mine [judged]"
    assert report.algorithms[0].scores[0].score.value == scores[2]
    (curve,) = report.learning
    assert curve.seeds[0].end_frames == (1000, 5000, 9000)
    assert curve.seeds[0].scores == tuple(scores)
    assert "evaluated during training" in str(report)
    for frames in (1000, 5000):
        run = tmp_path / f"run/evaluations/{frames:012}"
        assert verify(run, workers=1).confirmed == 2


def test_states_of_random_numbers_stay(tmp_path):
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    judged(tmp_path, 1, 100)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


def test_what_would_take_more_than_its_share_is_skipped_and_says_so(tmp_path, caplog, monkeypatch):
    clock, play = SimpleNamespace(now=0.0, monotonic=lambda: clock.now), judging.execute

    def evaluation(plan, directory, on_event):
        for _ in range(20):
            clock.now += 0.5
            on_event(None)
        return play(plan, directory)

    monkeypatch.setattr(judging, "time", clock)
    monkeypatch.setattr(judging, "execute", evaluation)
    judge = judging.Judge("freeway", RULES, out=tmp_path / "run", episodes=2, name="mine", max_share=0.2)
    clock.now = 1.0
    judge.begin()
    trained, clock.now = 0.5, 1.5
    assert "abandoned after 0.5 s" in judge(Constant(1), 100).skipped  # as little was trained yet
    assert not (tmp_path / "run/evaluations/000000000100").exists()
    while not judge.evaluations:
        trained, clock.now = trained + 0.5, clock.now + 0.5
        judge(Constant(1), int(200 + 2 * trained))
    seconds = clock.now - 1.0 - trained  # that judging took
    assert 10 < seconds <= 0.2 * (clock.now - 1.0)
    assert 1 < sum("abandoned" in one.skipped for one in judge.skipped) < 10
    assert judge(Constant(1), 10_000).skipped.startswith("evaluation after 10,000 frames skipped: it takes 10.0 s or")
    assert "max_share=0.2" in caplog.text


def test_the_first_evaluation_has_all_the_time_and_none_of_the_share(tmp_path):
    judge = judging.Judge("freeway", RULES, out=tmp_path / "run", episodes=2, name="mine", max_share=0.9)
    assert judge(Constant(1), 100).scores
    assert judge._seconds_left(judge._begun + 10.0) == pytest.approx(90.0)


def test_rules_of_a_training_stay_and_unknown_ones_are_refused(tmp_path):
    judged(tmp_path, 1, 100)
    for changed in ({"episodes": 3}, {"name": "other"}, {"max_share": 0.1}):
        with pytest.raises(ArcadeMarkError, match=rf"{next(iter(changed))} changed"):
            judged(tmp_path, 1, 200, **changed)
    with pytest.raises(ArcadeMarkError, match="unknown parameter of judge 'episods'; did you mean 'episodes'"):
        judged(tmp_path, 1, 200, episods=1)
    assert judged(tmp_path, 1, 200, save=lambda path: path.write_bytes(b"")).scores


def test_what_a_killed_process_left_is_judged_again(tmp_path):
    judged(tmp_path, 1, 100)
    partial = tmp_path / "run/evaluations/000000000200"
    with pytest.raises(judging._OverTimeError):
        judging.Judge("freeway", RULES, out=tmp_path / "none", **HOW)._play(
            judging.Judge("freeway", RULES, out=tmp_path / "none", **HOW)._plan(Constant(1)), partial, -1.0
        )
    assert (partial / "manifest.json").exists()
    (tmp_path / "run/.draft-0").mkdir()
    again = judging.Judge("freeway", RULES, out=tmp_path / "run", **HOW)
    assert [*again.evaluations] == [100]
    assert again(Constant(1), 200).scores["freeway"] == again.evaluations[100].scores["freeway"]
    assert sorted(path.name for path in (tmp_path / "run").iterdir() if path.name.startswith(".draft")) == []


def test_folders_of_others_beside_evaluations_stay(tmp_path):
    notes = tmp_path / "run" / "evaluations" / "2026" / "notes.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("mine")
    assert judging.Judge("freeway", RULES, out=tmp_path / "run", **HOW).evaluations == {}
    assert notes.read_text() == "mine"


def test_a_game_without_references_is_not_averaged_with_normalised_ones():
    pong, other = {"pong": 21.0, "mine": 5000.0}, {"pong": -21.0, "mine": 5100.0}
    assert judging._mean_score(judging.Judgement(1, pong)) == pytest.approx(2510.5)
    assert judging._mean_score(judging.Judgement(1, other)) == pytest.approx(2539.5)
    assert judging._mean_score(judging.Judgement(1, {"pong": 14.6, "breakout": 30.5})) == pytest.approx(100.0, abs=1.0)


def test_directory_of_something_else_or_another_training_is_refused(tmp_path):
    judged(tmp_path, 1, 100)
    with pytest.raises(ArcadeMarkError, match="was already judged after 100 frames"):
        judged(tmp_path, 1, 100)
    again = judging.Judge("freeway", RULES, out=tmp_path / "run", **HOW)  # of another process
    assert again(Constant(1), 200).best is False
    assert sorted(again.evaluations) == [100, 200]
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").write_text("x")
    with pytest.raises(ArcadeMarkError, match="File name too long"):
        judging.Judge("freeway", RULES, out=tmp_path / ("x" * 10_000))
    with pytest.raises(ArcadeMarkError, match="other files than a judged training"):
        judging.Judge("freeway", RULES, out=tmp_path / "other")


def test_what_fails_says_why_and_leaves_nothing(tmp_path):
    with pytest.raises(ArcadeMarkError, match="7"):
        judged(tmp_path, 7, 100)
    assert not (tmp_path / "run/evaluations/000000000100").exists()


def test_options_that_change_nothing_are_refused(tmp_path):
    for name, value in (("deterministic", False), ("scale", 255.0)):
        with pytest.raises(ArcadeMarkError, match=f"{name}.* changes nothing"):
            judged(tmp_path, 1, 100, **{name: value})


@pytest.mark.needs("torch")
def test_a_modules_actions_are_drawn_where_asked(tmp_path):
    import torch

    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4 * 84 * 84, 3))
    with torch.no_grad():
        network[1].weight.zero_()
        network[1].bias.copy_(torch.tensor([0.0, 0.01, 0.0]))
    best, drawn = (
        arcademark.judge(network, "freeway", RULES, frames=1, out=tmp_path / str(how), deterministic=how, **HOW)
        for how in (True, False)
    )
    assert drawn.scores["freeway"] < best.scores["freeway"]  # always up, or a third each


@pytest.mark.needs("torch")
def test_a_module_is_judged_by_a_copy_and_the_best_is_kept(tmp_path):
    import torch

    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Dropout(), torch.nn.Linear(4 * 84 * 84, 3))
    with torch.no_grad():
        network[2].weight.zero_()
        network[2].bias.copy_(torch.tensor([0.0, 1.0, 0.0]))
    network.train()
    torch.manual_seed(3)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    out = tmp_path / "run"
    first = arcademark.judge(network, "freeway", RULES, frames=100, out=out, **HOW)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert all(module.training for module in network.modules())
    with torch.no_grad():
        network[2].bias.copy_(torch.tensor([1.0, 0.0, 0.0]))
    assert not arcademark.judge(network, "freeway", RULES, frames=200, out=out, **HOW).best
    kept = torch.load(out / "best.pt", weights_only=True)
    assert kept["2.bias"].tolist() == [0, 1, 0]
    assert json.loads((tmp_path / "run/best.json").read_text()) == {
        "frames": 100,
        "scores": dict(first.scores),
        "network": "best.pt",
    }


@pytest.mark.needs("stable_baselines3")
@pytest.mark.parametrize("every", [0, -1])
def test_evaluations_are_at_least_a_timestep_apart(every, tmp_path):
    import arcademark.sb3

    with pytest.raises(ArcadeMarkError, match="at least 1 timestep"):
        arcademark.sb3.JudgeCallback("freeway", RULES, every=every, out=tmp_path / "run")


@pytest.mark.slow
@pytest.mark.needs("stable_baselines3")
@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
def test_training_gives_the_same_weights_with_the_callback_and_without(algorithm, tmp_path):
    import stable_baselines3
    import torch
    from stable_baselines3.common import logger

    import arcademark.sb3
    from arcademark.agents.checkpoints.policy import check

    rules = RULES.override({"max_frames_per_episode": 200})
    how = {"PPO": {"n_steps": 16, "batch_size": 16, "n_epochs": 1}, "DQN": {"buffer_size": 100, "learning_starts": 8}}

    def trained(callback=None):
        envs = arcademark.sb3.make_vec("freeway", 2, rules)
        model = getattr(stable_baselines3, algorithm)("CnnPolicy", envs, seed=5, **how[algorithm])
        model.set_logger(logger.configure(str(tmp_path / f"log-{callback is None}"), ["json"]))
        model.learn(32, callback=callback)
        model.logger.close()
        return model

    plain = trained()
    callback = arcademark.sb3.JudgeCallback(
        "freeway", rules, every=24, out=tmp_path / "run", episodes=1, max_share=0.99
    )
    model = trained(callback)
    assert sorted(callback.judge.evaluations) == [96, 128]
    logged = [json.loads(line) for line in (tmp_path / "log-False/progress.json").read_text().splitlines()]
    assert len(logged) == {"PPO": 2, "DQN": 1}[algorithm]  # one at the end
    assert logged[-1]["judge/freeway"] == callback.judge.evaluations[128].scores["freeway"]
    for name, value in plain.policy.state_dict().items():
        assert torch.equal(value, model.policy.state_dict()[name]), name
    assert json.loads((tmp_path / "run/best.json").read_text())["frames"] in callback.judge.evaluations
    check("best", [(tmp_path / "run/best.zip", environment_spec("freeway", rules))], {})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        *(({"frames": frames}, "frames .*: expected a whole number") for frames in (None, "1000", 10.5, float("nan"))),
        ({"frames": -1}, "frames -1: expected"),
        *(({"episodes": episodes}, "episodes .*: expected a whole number") for episodes in (1.5, [1])),
        *(({"protocol": rules}, "protocol .*: expected text, AtariProtocol") for rules in (5, {"frame_skip": 3})),
        ({"max_share": "x"}, "max_share 'x': expected a number"),
    ],
)
def test_arguments_that_make_no_sense_are_one_clear_error(changed, message, tmp_path):
    arguments = {"games": "freeway", "protocol": RULES, "frames": 100, "out": tmp_path / "run", **HOW} | changed
    with pytest.raises(ArcadeMarkError, match=message):
        arcademark.judge(Constant(0), **arguments)


def test_numbers_may_be_of_numpys_types_or_written_with_an_exponent(tmp_path):
    assert [*judged(tmp_path, 0, 1e3, episodes=np.int64(1)).scores] == ["freeway"]
    assert judged(tmp_path, 0, np.int32(2000), episodes=np.int64(1)).frames == 2000


@pytest.mark.needs("torch")
@pytest.mark.parametrize("kind", ["float64", "float16", "bfloat16"])
def test_a_module_sees_observations_in_the_precision_of_its_weights(kind, tmp_path):
    import torch

    dtype, nn = getattr(torch, kind), torch.nn
    module = nn.Sequential(nn.Conv2d(4, 2, 8, 8), nn.Flatten(), nn.Linear(200, 3)).to(dtype)
    result = arcademark.judge(module, "freeway", RULES, frames=100, out=tmp_path / "run", scale=255.0, **HOW)
    assert [*result.scores] == ["freeway"]
    assert next(module.parameters()).dtype is dtype
