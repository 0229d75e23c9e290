"""Logs of training made elsewhere, written by the libraries themselves, become runs that say what they are."""

from pathlib import Path

import ale_py
import numpy as np
import pytest

from arcademark.analysis.runs.listing import list_runs
from arcademark.analysis.scoring.analysis import analyse
from arcademark.errors import ArcadeMarkError
from arcademark.metrics.uncertainty.intervals import score_intervals
from arcademark.operations.importing import import_logs
from arcademark.records.reading import read_run
from arcademark.runs.replay.verify import verify


def cleanrl(folder, seed, scores, lengths, *, game="Breakout"):
    """Write what CleanRL's ppo_atari.py writes of its episodes with 8 environments; return the steps of their ends."""
    from torch.utils.tensorboard import SummaryWriter

    log = SummaryWriter(str(folder / f"{game}NoFrameskip-v4__ppo_atari__{seed}__1700000000"))
    steps = [1000 * (place + 1) for place in range(len(scores))]
    for step, score, length in zip(steps, scores, lengths, strict=True):
        log.add_scalar("charts/episodic_return", score, step)
        log.add_scalar("charts/episodic_length", length, step)
        log.add_scalar("losses/value_loss", 0.5, step)
    log.close()
    return steps


def notices(report, kind):
    return " ".join(notice.text for notice in report.notices if notice.kind == kind)


def monitored(folder, *, clipped):
    """Play two games of Phoenix at random through Stable-Baselines3's own Atari wrappers; return its episodes."""
    import gymnasium
    from stable_baselines3.common import atari_wrappers as wrappers
    from stable_baselines3.common import monitor

    gymnasium.register_envs(ale_py)
    folder.mkdir(parents=True)
    env = gymnasium.make("PhoenixNoFrameskip-v4")
    if clipped:  # the mistake: the monitor outside the wrappers
        env = monitor.Monitor(wrappers.AtariWrapper(env), str(folder / "0"))
    else:  # as make_atari_env does it
        env = wrappers.AtariWrapper(monitor.Monitor(env, str(folder / "0")))
    rng, found = np.random.default_rng(0), []
    env.reset(seed=0)
    while len(found) < 2:
        *_, terminated, truncated, info = env.step(int(rng.integers(env.action_space.n)))
        found += [info["episode"]] if "episode" in info else []
        if terminated or truncated:
            env.reset()
    env.close()
    return found


@pytest.mark.needs("stable_baselines3")
def test_a_monitor_below_the_wrappers_has_raw_scores_of_whole_games_and_counts_frames(tmp_path):
    played = monitored(tmp_path / "logs" / "seed_4", clipped=False)
    made = import_logs([tmp_path / "logs"], tmp_path / "run", algorithm="PPO (ours)")
    record = read_run(tmp_path / "run")
    (trial,) = record.trials
    assert (trial.agent, trial.game, trial.seed) == ("PPO (ours) [imported]", "phoenix", 4)
    rows = record.training(trial)
    assert rows.score.tolist() == [episode["r"] for episode in played]
    assert rows.frames.tolist() == [episode["l"] for episode in played]  # NoFrameskip: a step is a frame
    assert made.trials[0].label == trial.agent
    assert notices(analyse([tmp_path / "run"]), "training_log") == ""


@pytest.mark.needs("stable_baselines3")
def test_a_monitor_above_them_has_clipped_ones_and_is_told_by_its_scores(tmp_path):
    monitored(tmp_path / "logs", clipped=True)
    import_logs([tmp_path / "logs"], tmp_path / "run", algorithm="PPO")
    told = notices(analyse([tmp_path / "run"]), "training_log")
    assert "PPO [imported] on Phoenix" in told
    assert "not multiples of 10, as every score of Phoenix is" in told


@pytest.mark.needs("torch")
def test_cleanrl_seeds_become_a_curve_with_a_band(tmp_path):
    for seed in (1, 2, 3):
        scores = [float(2 + place // 4 + seed) for place in range(40)]
        steps = cleanrl(tmp_path / "logs", seed, scores, [800] * 40)
    import_logs([tmp_path / "logs"], tmp_path / "run")
    report = analyse([tmp_path / "run"])
    (item,) = report.algorithms
    assert item.name == "ppo_atari [imported]"
    assert item.training_frames == 4 * steps[-1]
    (score,) = item.scores
    assert len(score.played.episodes) == 3 * 40
    (curve,) = report.learning
    assert (curve.game, curve.finished, [seed.seed for seed in curve.seeds]) == ("breakout", True, [1, 2, 3])
    assert [seed.end_frames[-1] for seed in curve.seeds] == [4 * steps[-1]] * 3
    together = curve.mean(5)
    for place, frame in enumerate(together.frames):
        there = [np.interp(frame, seed.end_frames, seed.scores) for seed in curve.seeds]
        found = together.mean[place], together.low[place], together.high[place]
        assert found == pytest.approx(score_intervals([np.array(there)])[0, :3])
    assert "Assumed: the protocol is world-records" in notices(report, "imported")
    assert "and cannot be verified" in notices(report, "imported")
    assert "not verified" in report.methods[0]


@pytest.mark.needs("torch")
def test_an_imported_run_is_labelled_and_neither_verified_nor_continued(invoke, tmp_path):
    cleanrl(tmp_path / "logs", 1, [3.0] * 30, [700] * 30)
    said = invoke("runs", "import", "logs", "--name", "PPO (ours)", "--out", "runs/ours", "--save", "page.html", code=0)
    assert "imported and not verified" in said.out
    page = Path("page.html").read_text(encoding="utf-8")
    assert "PPO (ours) [imported]" in page
    assert "arcademark verify" not in page
    (listed,) = list_runs([Path("runs")]).runs
    assert (listed.imported, listed.status) == (True, "complete")
    assert "imported, not verified" in invoke("runs", "list").out
    with pytest.raises(ArcadeMarkError, match=r"imported from logs: it cannot be replayed"):
        verify("runs/ours")
    for command in (("verify", "runs/ours"), ("watch", "runs/ours", "--out", "x.gif")):
        refused = invoke(*command)
        assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    again = invoke("run", "random", "--games", "breakout", "--episodes", "1", "--out", "runs/ours", code=2)
    assert "cannot be continued" in again.err
    assert "already exists" in invoke("runs", "import", str(tmp_path / "logs"), "--out", "runs/ours").err
    compared = invoke("compare", "runs/ours", "--with", "catalogue:review-2021", "PPO (ours) [imported]", "Rainbow")
    assert "was imported from logs" in compared.words


def test_logs_that_hold_no_curve_or_pickles_are_refused(tmp_path):
    table = tmp_path / "scores.csv"
    table.write_text("algorithm,game,run,score\nA,pong,0,1\n")
    with pytest.raises(ArcadeMarkError, match="no log of training, but scores"):
        import_logs([table], tmp_path / "run")
    bare = tmp_path / "progress.csv"
    bare.write_text("rollout/ep_rew_mean,loss\n1,2\n")
    with pytest.raises(ArcadeMarkError, match="neither the steps of training nor episodes' lengths"):
        import_logs([bare], tmp_path / "run", algorithm="A", task="pong")
    hostile = tmp_path / "evaluations.npz"
    np.savez(hostile, timesteps=np.arange(2), results=np.array([{}, {}], dtype=object))
    with pytest.raises(ArcadeMarkError, match="pickle"):
        import_logs([hostile], tmp_path / "run", algorithm="A", task="pong")
    monitor = tmp_path / "0.monitor.csv"
    for length in ("-5", "0", "5.5", str(2**50)):
        monitor.write_text(
            f'#{{"t_start": 0.0, "env_id": "PongNoFrameskip-v4"}}\nr,l,t\n-21,3000,1.0\n-21,{length},2.0\n'
        )
        with pytest.raises(ArcadeMarkError, match=r"an episode has length .*expected whole numbers of at least 1"):
            import_logs([monitor], tmp_path / "run", algorithm="A")
    monitor.write_text('#{"t_start": 0.0, "env_id": "PongNoFrameskip-v4"}\nr,l,t\n-21,3000,1.0\n')
    with pytest.raises(ArcadeMarkError, match=r"steers|hidden|control|character"):
        import_logs([monitor], tmp_path / "run", algorithm="A\x1b[31m")
    assert not (tmp_path / "run").exists()


def test_logs_without_scores_are_left_out_and_named(tmp_path):
    header = '#{"t_start": 1.0, "env_id": "PongNoFrameskip-v4"}\nr,l,t\n'
    for number, text in enumerate(("", header, f"{header}-21,800,1\n")):
        (tmp_path / "logs" / f"pong_{number}").mkdir(parents=True)
        (tmp_path / "logs" / f"pong_{number}" / "0.monitor.csv").write_text(text)
    found = import_logs([tmp_path / "logs"], tmp_path / "run", algorithm="A")
    assert [(trial.game, len(trial.training.scores)) for trial in found.trials] == [("pong", 1)]
    assert "1 file left out, empty: pong_0/0.monitor.csv" in " ".join(found.notes)
    assert f"1 log without a score left out: {tmp_path / 'logs' / 'pong_1' / '0.monitor.csv'}" in found.notes
    (tmp_path / "logs" / "pong_2" / "0.monitor.csv").write_text(header)
    with pytest.raises(ArcadeMarkError, match="no score in the log"):
        import_logs([tmp_path / "logs"], tmp_path / "none", algorithm="A")
    assert not (tmp_path / "none").exists()


def trained(folder, *folders, name="PPO", frames=128, env="CartPole-v1"):
    """Train Stable-Baselines3's PPO once for each of these folders, with its TensorBoard logs in it."""
    import stable_baselines3 as sb3

    for seed, place in enumerate(folders):
        model = sb3.PPO("MlpPolicy", env, n_steps=64, n_epochs=1, seed=seed, tensorboard_log=folder / place)
        model.learn(frames, tb_log_name=name.format(seed=seed))


def seeds_of(directory):
    """Return of each trial its agent, game, seed and frames of training."""
    record = read_run(directory)
    return [
        (trial.agent.removesuffix(" [imported]"), trial.game, trial.seed, int(record.training(trial).frames.sum()))
        for trial in record.trials
    ]


@pytest.mark.needs("stable_baselines3")
def test_a_game_that_nothing_names_is_asked_for(tmp_path):
    trained(tmp_path / "tb", ".")
    with pytest.raises(ArcadeMarkError, match=r"PPO_1.*nothing says which game .*--read game=NAME"):
        import_logs([tmp_path / "tb"], tmp_path / "run")


@pytest.mark.needs("stable_baselines3")
@pytest.mark.parametrize(
    ("name", "folders", "given", "trials"),
    [
        ("PPO", (".", "."), {"task": "breakout"}, [("PPO", "breakout", 1), ("PPO", "breakout", 2)]),
        ("PPO", (".",), {"task": "breakout", "algorithm": "Ours"}, [("Ours", "breakout", 1)]),
        ("PPO_seed{seed}", (".", "."), {"task": "pong", "algorithm": "PPO"}, [("PPO", "pong", 0), ("PPO", "pong", 1)]),
        ("breakout-s{seed}", (".",), {"task": "breakout", "algorithm": "PPO"}, [("PPO", "breakout", 0)]),
        ("PPO", ("breakout", "PongNoFrameskip-v4"), {}, [("PPO", "breakout", 1), ("PPO", "pong", 1)]),
    ],
)
def test_tensorboard_folders_name_algorithm_game_and_seed(tmp_path, name, folders, given, trials):
    trained(tmp_path / "tb", *folders, name=name)
    import_logs([tmp_path / "tb"], tmp_path / "run", **given)
    assert sorted(seeds_of(tmp_path / "run")) == [(*trial, 512) for trial in trials]


@pytest.mark.needs("stable_baselines3")
def test_a_training_too_short_for_an_episode_is_left_out_beside_others(tmp_path):
    trained(tmp_path / "tb", "breakout", env="Pendulum-v1")
    with pytest.raises(ArcadeMarkError, match=r"when an episode has ended.*it has time/fps, train/approx_kl"):
        import_logs([tmp_path / "tb"], tmp_path / "run")
    trained(tmp_path / "tb", "breakout")
    made = import_logs([tmp_path / "tb"], tmp_path / "run")
    assert [trial[2] for trial in seeds_of(tmp_path / "run")] == [2]
    assert any(note.startswith("1 file left out, without a series of scores: breakout/PPO_1/") for note in made.notes)


@pytest.mark.needs("stable_baselines3")
def test_all_that_stable_baselines_leaves_of_a_run_is_one_run(tmp_path):
    import stable_baselines3 as sb3
    from stable_baselines3.common import callbacks
    from stable_baselines3.common import env_util as util

    logs = tmp_path / "logs"
    envs = util.make_vec_env("CartPole-v1", 2, monitor_dir=str(logs / "monitor"))
    model = sb3.PPO("MlpPolicy", envs, n_steps=64, n_epochs=1, seed=0, tensorboard_log=logs / "tb")
    test = util.make_vec_env("CartPole-v1")
    model.learn(128, callback=callbacks.EvalCallback(test, log_path=logs / "eval", eval_freq=32, verbose=0))
    envs.close()
    test.close()
    made = import_logs([logs], tmp_path / "run", task="pong", algorithm="PPO")
    assert len(made.trials) == 1
    assert read_run(tmp_path / "run").protocol.reported_episodes == "evaluation"
    assert any("1 file left out, repeating other logs there: tb/PPO_1/events" in note for note in made.notes)
    apart = import_logs([logs / "tb", logs / "eval"], tmp_path / "tb", task="pong", algorithm="PPO")
    assert [trial.seed for trial in apart.trials] == [1]
    import_logs([logs / "tb"], tmp_path / "means", task="pong", tag="eval/mean_reward")
    saved = np.load(logs / "eval" / "evaluations.npz")
    record = read_run(tmp_path / "means")
    assert record.training(record.trials[0]).score == pytest.approx(saved["results"].mean(axis=1))


@pytest.mark.needs("stable_baselines3")
@pytest.mark.parametrize("formats", [["csv", "tensorboard"], ["csv", "json", "tensorboard", "log"]])
def test_a_logger_of_stable_baselines_writes_the_same_in_several_forms(tmp_path, formats):
    import stable_baselines3 as sb3
    from stable_baselines3.common import logger

    for seed in (3, 4):
        model = sb3.PPO("MlpPolicy", "CartPole-v1", n_steps=64, n_epochs=1, seed=seed)
        model.set_logger(logger.configure(str(tmp_path / "ppo" / "breakout" / str(seed)), formats))
        model.learn(128)
        model.logger.close()
    import_logs([tmp_path / "ppo"], tmp_path / "run", algorithm="PPO")
    assert [trial[2:] for trial in seeds_of(tmp_path / "run")] == [(3, 512), (4, 512)]


def test_a_log_of_no_number_is_of_the_only_run_there_is(tmp_path):
    for seed in ("2", "3"):
        (tmp_path / "pong" / seed).mkdir(parents=True)
        (tmp_path / "pong" / seed / "monitor.csv").write_text('#{"t_start": 1.0}\nr,l,t\n-20.0,800,1.0\n')
        np.savez(tmp_path / "evaluations.npz", timesteps=[100], results=[[-19.0]], ep_lengths=[[900]])
        if seed == "2":
            import_logs([tmp_path], tmp_path / "run", algorithm="PPO", task="pong")
            assert [trial[2] for trial in seeds_of(tmp_path / "run")] == [2]
    with pytest.raises(ArcadeMarkError, match=r"evaluations.npz: nothing says of which of the runs 2, 3 of 'PPO'"):
        import_logs([tmp_path / "pong", tmp_path / "evaluations.npz"], tmp_path / "more", algorithm="PPO", task="pong")


@pytest.mark.parametrize(("level", "count", "doubted"), [(0.4, 20, True), (0.4, 19, False), (1.4, 20, False)])
def test_averages_are_held_against_random_play_when_there_are_many(tmp_path, level, count, doubted):
    """Stable-Baselines3's first ones are of a few games, of which the short ones, with low scores, end first."""
    averages = [0.0, *np.linspace(0.2, level, count - 1).tolist()]
    rows = "".join(f"{average},{1024 * (place + 1)}\n" for place, average in enumerate(averages))
    log = tmp_path / "logs" / "breakout" / "PPO_1" / "progress.csv"
    log.parent.mkdir(parents=True)
    log.write_text(f"rollout/ep_rew_mean,time/total_timesteps\n{rows}")
    import_logs([tmp_path / "logs"], tmp_path / "run", algorithm="PPO")
    told = notices(analyse([tmp_path / "run"]), "training_log")
    assert ("its first 20 averages are 0.4 at most, where random play has 1.72" in told) is doubted
    assert bool(told) is doubted
