"""A recorded run is confirmed; whatever is changed in it is found."""

import dataclasses
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import altering
from altering import alter
from arcademark.agents.loading import made_spec
from arcademark.errors import ArcadeMarkError
from arcademark.records.model import decode_actions, encode_actions
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.replay import video
from arcademark.runs.replay.verify import verify
from arcademark.runs.replay.watch import play, watch
from arcademark.suite.protocols import protocol

pytestmark = pytest.mark.usefixtures("in_this_process")

RANDOM_PARTS = {"repeat_action_probability": 0.25, "start": "noop", "noop_max": 5, "training_episode_end": "life_lost"}
TRAINING_FRAMES = 400


@pytest.fixture(scope="module")
def finished(tmp_path_factory, toy_plan):
    """A run of the toy game with every source of chance, played by two baselines and a learner, two seeds each."""
    directory = tmp_path_factory.mktemp("runs") / "toy"
    learner = f"{Path(__file__).parents[1]}/fakes/learner.py:make_learner"
    plan = toy_plan("random", "perturb", learner, seeds=(0, 5), override=RANDOM_PARTS, frames=TRAINING_FRAMES)
    fewer = [agent for agent in plan.agents if "perturb" not in agent.label or "=RIGHT)" in agent.label]
    plan = make_plan(fewer, ["toy"], plan.protocol, seeds=(0, 5), episodes=3, frames=TRAINING_FRAMES)
    assert execute(plan, directory, workers=2).complete
    return directory


def first_trial(directory):
    return read_run(directory, whole=False).trials[0].id


WHERE = "WHERE phase = 'evaluation' AND episode = 1 AND trial LIKE 'random-toy-s0%'"


def only_problem(run, **choice):
    """Return the one finding that is not confirmed; all others must be."""
    found = verify(run, workers=1, **choice)
    assert not found.ok
    (problem,) = found.problems
    assert found.confirmed == len(found.findings) - 1
    assert (problem.trial_id, problem.phase, problem.episode) == (first_trial(run), "evaluation", 1)
    return problem


def test_an_honest_run_is_confirmed_episode_by_episode(finished):
    told = []
    found = verify(finished, workers=1, on_finding=lambda finding, total: told.append((finding, total)))
    stored = read_run(finished)
    training = [row for row in stored.episodes if row.phase == "training"]
    assert len(training) > 4
    assert found.ok
    assert (found.confirmed, found.differing, found.unverifiable) == (len(stored.episodes), 0, 0)
    assert len(stored.episodes) == 3 * 2 * 3 + len(training)
    assert [(f.trial_id, f.phase, f.episode) for f in found.findings] == [
        (row.trial_id, row.phase, row.episode) for row in stored.episodes
    ]
    assert (found.warnings, found.notes, found.problems) == ((), (), ())
    assert told == [(finding, len(found.findings)) for finding in found.findings]


def actions_of(run):
    with altering.database(run) as database:
        (blob,) = database.execute(f"SELECT actions FROM episode {WHERE}").fetchone()
    return decode_actions(blob)


def test_a_forged_score_is_caught_by_any_number_of_processes(run):
    honest = next(row.score for row in read_run(run).episodes if row.episode == 1 and row.phase == "evaluation")
    alter(run, f"UPDATE episode SET score = score + 100 {WHERE}")
    problem = only_problem(run)
    assert (problem.outcome, problem.detail) == ("differs", f"score {honest + 100:g} recorded, {honest:g} on replay")
    assert str(problem) == f"trial {first_trial(run)}, evaluation episode 1: {problem.detail}"
    assert verify(run, workers=2).problems == (problem,)


ACTIONS = {
    "cut short": (lambda there: there[:-2], "differs", r"but continues after all \d+ actions on replay"),
    "beyond the end": (lambda there: [*there, 0], "differs", r"at step \d+, but \d+ actions are recorded"),
    "others": (lambda there: np.full(len(there), 3), "differs", " on replay"),
    "none of the game's": (lambda there: [*there[:4], 18, *there[5:]], "differs", "step 5 cannot be replayed: "),
    "missing": (b"", "unverifiable", "damaged"),
    "rubbish": (b"\x01rubbish", "unverifiable", "damaged"),
    "of no encoding": (b"\x07", "unverifiable", "damaged"),
}


@pytest.mark.parametrize(("actions", "outcome", "detail"), ACTIONS.values(), ids=ACTIONS)
def test_forged_actions_are_caught_and_the_step_named(run, actions, outcome, detail):
    blob = actions if isinstance(actions, bytes) else encode_actions(actions(actions_of(run)))
    alter(run, f"UPDATE episode SET actions = ? {WHERE}", values=(blob,))
    problem = only_problem(run)
    assert problem.outcome == outcome
    assert re.search(detail, problem.detail)


@pytest.mark.parametrize(
    "forgery", ["frames = frames - 1", "steps = steps - 1", "end = iif(end = 'terminated', 'truncated', 'terminated')"]
)
def test_a_forged_length_or_end_is_caught(run, forgery):
    alter(run, f"UPDATE episode SET {forgery} {WHERE}")
    problem = only_problem(run)
    assert problem.detail.startswith((forgery.partition("=")[0], "it is "))
    assert "on replay" in problem.detail


def test_another_seed_is_caught(run, rename):
    alter(run, "UPDATE trial SET seed = 6 WHERE id LIKE 'random-toy-s0%'")
    with pytest.raises(ArcadeMarkError, match=r"is not part of the plan in manifest\.json: it has no seed 6"):
        verify(run, workers=1)
    with altering.manifest(run) as document:
        document["seeds"] = [0, 5, 6]
    with pytest.raises(ArcadeMarkError, match="the trial's id should be random-toy-s6-"):
        verify(run, workers=1)
    rename(run)
    found = verify(run, workers=1, agent="random", seed=6)
    assert found.differing == len(found.findings) == 3


def test_an_episode_recorded_twice_is_caught(run):
    alter(run, "CREATE TABLE copy AS SELECT * FROM episode", "DROP TABLE episode")
    alter(run, "ALTER TABLE copy RENAME TO episode", f"INSERT INTO episode SELECT * FROM episode {WHERE}")
    found = verify(run, workers=1)
    assert [finding.detail for finding in found.problems] == ["is recorded 2 times"] * 2


def test_episodes_that_are_missing_are_named(run):
    alter(run, f"DELETE FROM episode {WHERE}")
    found = verify(run, workers=1)
    assert found.ok
    assert found.notes == (f"trial {first_trial(run)}: 1 of 3 evaluation episodes are missing: 1",)


@pytest.mark.parametrize("taken_away", [(0, 2), (-1,)])
def test_training_episodes_taken_away_are_caught(run, taken_away):
    recorded = read_run(run)
    learner = next(trial.id for trial in recorded.trials if trial.learns)
    count = sum(row.trial_id == learner and row.phase == "training" for row in recorded.episodes)
    numbers = [number % count for number in taken_away]
    for number in numbers:
        missing = "phase = 'training' AND trial = ? AND episode = ?"
        alter(run, f"DELETE FROM episode WHERE {missing}", values=(learner, number))
    problems = verify(run, workers=1).problems
    assert [(problem.trial_id, problem.phase, problem.episode) for problem in problems] == [
        (learner, "training", number) for number in numbers
    ]
    assert {problem.outcome for problem in problems} == {"differs"}


def test_a_failed_trial_is_told_and_what_it_played_is_verified(tmp_path, toy_plan, fake):
    summary = execute(toy_plan(fake("raising"), "random"), tmp_path / "run", workers=1)
    assert len(summary.failed) == 1
    found = verify(tmp_path / "run", workers=1)
    assert found.ok
    assert found.confirmed == 3
    assert "failed: agent raising.py:make_agent on toy: act raised ZeroDivisionError" in found.notes[0]
    assert "3 of 3 evaluation episodes are missing: 0, 1, 2" in found.notes[1]


def test_another_version_or_rom_is_named(run):
    with altering.manifest(run) as document:
        document["versions"]["ale-py"] = "0.9.0"
        document["games"]["toy"] = "abc"
    found = verify(run, workers=1)
    assert found.ok
    assert found.warnings[0].startswith("recorded with ale-py 0.9.0, replayed with ")
    assert found.warnings[1] == "the ROM of toy has another checksum: abc recorded,  here"
    assert len(found.warnings) == 2


def test_episodes_are_chosen(finished):
    def count(**choice):
        return len(verify(finished, workers=1, **choice).findings)

    assert count(agent="random") == 6
    assert count(agent="random", seed=5) == 3
    assert count(agent="random", seed=5, episode=2) == 1
    assert count(game="TOY", phase="evaluation") == 18
    assert count(trial=first_trial(finished)[:14]) == 3
    assert verify(finished, workers=1, agent="random", episode=1).notes == ()


@pytest.mark.parametrize(
    ("choice", "complaint"),
    [
        ({"agent": "randm"}, "unknown agent of .*; did you mean 'random'"),
        ({"game": "pong"}, "unknown game of .*; known: toy"),
        ({"seed": 3}, "unknown seed of .*; known: 0, 5"),
        ({"trial": ""}, "the trial's id is empty"),
        ({"trial": "perturb-toy-s9"}, "unknown trial of .*; did you mean 'perturb"),
        ({"episode": 700}, "no episode 700 is recorded for any of 6 trials"),
        ({"agent": "random", "phase": "training"}, "no training episode is recorded for any of 2 trials"),
        ({"agent": "random", "trial": "perturb"}, "no trial matches all of these"),
    ],
)
def test_a_choice_that_fits_nothing_is_refused(finished, choice, complaint):
    with pytest.raises(ArcadeMarkError, match=complaint):
        verify(finished, workers=1, **choice)


def test_a_process_that_dies_is_told(finished, monkeypatch):
    monkeypatch.setattr("sys.executable", shutil.which("false"))
    with pytest.raises(ArcadeMarkError, match="a process that replays died"):
        verify(finished, workers=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ale-2013", "machado-2018", "dqn-2015"])
def test_the_emulators_runs_are_confirmed(tmp_path, name):
    """Under ale-2013 random acts each frame, machado-2018 has sticky actions, dqn-2015 no-op starts."""
    rules = protocol(name).override({"max_frames_per_episode": 1000})
    execute(make_plan("random", ["qbert", "seaquest"], rules, episodes=2), tmp_path / "run", workers=1)
    stored = read_run(tmp_path / "run")
    assert {trial.frames_per_action for trial in stored.trials} == ({1} if name == "ale-2013" else {None})
    assert verify(tmp_path / "run", workers=1).confirmed == 4


# Episodes become moving pictures that show what was recorded, at the right speed


@pytest.fixture(scope="module")
def toy_run(tmp_path_factory, toy_plan):
    """Two agents, two seeds, sticky actions."""
    directory = tmp_path_factory.mktemp("runs") / "toy"
    plan = toy_plan("baselines", seeds=(0, 1), override={"repeat_action_probability": 0.25})
    agents = [agent for agent in plan.agents if agent.label in ("random", "const(action=RIGHT)")]
    execute(make_plan(agents, ["toy"], plan.protocol, seeds=(0, 1), episodes=2), directory, workers=1)
    return directory


def read_gif(path):
    """Return every picture in colour, and the hundredths of a second that each is shown."""
    with Image.open(path) as image:
        pictures, ticks = [], []
        for number in range(image.n_frames):
            image.seek(number)
            pictures.append(np.array(image.convert("RGB")))
            ticks.append(image.info["duration"] // 10)
    return pictures, ticks


ONE = {"agent": "random", "seed": 1, "episode": 1}


def record(directory, agent="random", seed=1, episode=1):
    stored = read_run(directory)
    trial = next(trial for trial in stored.trials if (trial.agent, trial.seed) == (agent, seed))
    return next(row for row in stored.episodes if (row.trial_id, row.episode) == (trial.id, episode))


def test_a_gif_takes_the_time_of_the_episode_and_its_score_runs_along(toy_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = []
    captioned, notes, noted = video.captioned, set(), video.noted
    monkeypatch.setattr(video, "captioned", lambda *shown: texts.append(shown[-2:]) or captioned(*shown))
    monkeypatch.setattr(video, "noted", lambda picture, note: notes.add(note) or noted(picture, note))
    assert str(watch(toy_run, **ONE)) == "toy-seed1-episode1.gif"
    pictures, ticks = read_gif("toy-seed1-episode1.gif")
    row = record(toy_run)
    assert texts[0] == ("toy · episode 1", "0:00   score 0")
    assert notes == {"random · seed 1"}
    assert texts[-1][1] == f"0:0{row.frames // 60}   score {row.score:g}"
    frames = row.frames
    assert set(ticks) == {5}
    assert len(pictures) == pytest.approx(frames / 3, abs=1)
    assert sum(ticks) / 100 == pytest.approx(frames / 60, abs=0.06)
    assert [path.name for path in tmp_path.iterdir()] == ["toy-seed1-episode1.gif"]


def test_a_gif_holds_every_picture_exactly(tmp_path):
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 256, (9, 13, 3), dtype=np.uint8)]
    for _ in range(30):
        following = pictures[-1].copy()
        top, left = rng.integers(0, 8, 2)
        following[top : top + rng.integers(0, 4), left : left + rng.integers(0, 4)] = rng.integers(0, 256, 3)
        pictures.append(following)
    video.write(tmp_path / "a.gif", iter(pictures), 20)
    found, ticks = read_gif(tmp_path / "a.gif")
    assert ticks == [5] * 31
    np.testing.assert_array_equal(found, pictures)


@pytest.mark.parametrize(
    ("out", "settings", "complaint"),
    [
        ("a.avi", {}, r"a\.avi: expected a name that ends in \.gif, \.mp4 or \.png"),
        ("none/a.gif", {}, "there is no folder .*none; make it, or choose another --out"),
        ("a.gif", {"scale": 0}, "scale 0, 12 pictures: expected whole numbers of at least 1"),
        ("a.gif", {"episode": 9}, "no episode 9 is recorded for random-toy-s1"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(toy_run, tmp_path, out, settings, complaint):
    with pytest.raises(ArcadeMarkError, match=complaint):
        watch(toy_run, out=tmp_path / out, **{**ONE, **settings})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["gif", "png"])
def test_a_film_replaces_its_like_and_nothing_else(toy_run, tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    watch(toy_run, out=path, **ONE)
    ours = path.read_bytes()
    watch(toy_run, out=path, **ONE)
    theirs = ours.replace(b"ArcadeMark", b"Somebody's")
    path.write_bytes(theirs)
    with pytest.raises(ArcadeMarkError, match=rf"a\.{kind}: was not written by ArcadeMark .* or remove it first"):
        watch(toy_run, out=path, **ONE)
    assert path.read_bytes() == theirs
    path.unlink()
    path.mkdir()
    with pytest.raises(ArcadeMarkError, match=rf"a\.{kind}: is a folder, .*choose another --out"):
        watch(toy_run, out=path, **ONE)


def test_an_episode_that_replays_otherwise_is_not_shown(tmp_path, toy_plan):
    execute(toy_plan("random"), tmp_path / "run", workers=1)
    alter(tmp_path / "run", "UPDATE episode SET score = 77 WHERE episode = 0")
    with pytest.raises(ArcadeMarkError, match=r"does not replay as recorded: score .*, recorded 77 in .* verify"):
        watch(tmp_path / "run", out=tmp_path / "a.gif")
    assert not (tmp_path / "a.gif").exists()


def test_mp4_without_its_extra_says_what_to_install(toy_run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ArcadeMarkError, match=r"pip install '\.\[video\]', or choose a name that ends in \.gif"):
        watch(toy_run, out=tmp_path / "b.mp4", **ONE)
    assert not (tmp_path / "b.mp4").exists()


def test_two_episodes_stand_side_by_side_and_the_shorter_one_stays(toy_run, tmp_path):
    watch(toy_run, out=tmp_path / "a.gif", beside=(toy_run, {**ONE, "seed": 0, "episode": 0}), **ONE)
    pictures, ticks = read_gif(tmp_path / "a.gif")
    frames = [record(toy_run, seed=seed, episode=seed).frames for seed in (1, 0)]
    assert sum(ticks) / 100 == pytest.approx(max(frames) / 60, abs=0.06)
    height = 16 + 2 * video.BAR_HEIGHT
    assert pictures[0].shape == (height, 2 * 16 + video.GAP, 3)  # whose an episode is stands below it
    assert not np.array_equal(pictures[-1][:, :16], pictures[-1][:, 16 + video.GAP :])
    alone, _ = read_gif(watch(toy_run, out=tmp_path / "b.gif", **ONE))
    np.testing.assert_array_equal(pictures[-1][:, :16], alone[-1])


def test_a_sheet_shows_so_many_pictures_and_the_end(toy_run, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(video, "captioned", lambda *seen: drawn.append(seen) or np.full((10, 600, 3), len(drawn)))
    path = watch(toy_run, out=tmp_path / "a.png", pictures=5, **ONE)
    with Image.open(path) as image:
        sheet = np.array(image)
    each = 10 + video.BAR_HEIGHT + video.GAP
    assert sheet.shape == (3 * each - video.GAP, 2 * 600 + video.GAP, 3)
    kept = [sheet[row * each, column * (600 + video.GAP), 0] for row in range(3) for column in range(2)]
    row = record(toy_run)
    assert kept == [1, 2, 3, 4, 5, video.BAR_COLOUR[0]]
    assert drawn[-1][-1].endswith(f"score {row.score:g}")
    watch(toy_run, out=path, pictures=1, **ONE)  # it knows its own
    assert len(drawn) == 6


def test_the_action_is_named_below(toy_run, tmp_path, monkeypatch):
    seen = []
    real = video.action_bar
    monkeypatch.setattr(video, "action_bar", lambda *asked: seen.append(asked) or real(*asked))
    asked = {"agent": "const(action=RIGHT)", "seed": 0}
    pictures, _ = read_gif(watch(toy_run, out=tmp_path / "a.gif", actions=True, scale=8, **asked))
    assert {(action, values) for _, action, _, values in seen} == {("RIGHT", ())}
    assert pictures[0].shape[0] == 8 * 8 + 3 * video.BAR_HEIGHT
    assert (pictures[0][-2 * video.BAR_HEIGHT : -video.BAR_HEIGHT] == video.TEXT_COLOUR).all(axis=2).any()


class Telling:
    """Tells what it expects of each action."""

    def __init__(self, env):
        self.num_actions = env.num_actions

    def act(self, observations, first, rngs):
        self.action_values = np.tile(np.arange(self.num_actions), (len(rngs), 1))
        return [int(rng.integers(self.num_actions)) for rng in rngs]


def test_a_learner_whose_training_is_scored_has_no_episode_to_watch(fake, toy_plan):
    plan = toy_plan(
        fake("learner").replace("make_agent", "make_learner"), override={"reported_episodes": "training_last_k"}
    )
    with pytest.raises(ArcadeMarkError, match="scores a learner's training, with no episode after it"):
        play(plan.trials[0], lambda picture: True)


def test_an_agent_plays_live_what_it_plays_in_a_run(toy_plan, tmp_path, monkeypatch):
    plan = toy_plan("random", override={"repeat_action_probability": 0.25})
    execute(plan, tmp_path / "run", workers=1)
    row = record(tmp_path / "run", seed=0, episode=1)
    frames, pictures = [], []
    captioned = video.captioned
    monkeypatch.setattr(video, "captioned", lambda *seen: frames.append(seen[-1]) or captioned(*seen))
    assert play(plan.trials[0], lambda picture: pictures.append(picture) or True, episode=1) == row.score
    assert frames[-1].endswith(f"score {row.score:g}")
    assert len(pictures) == row.frames
    assert play(plan.trials[0], lambda picture: pictures.append(picture) or False) is None
    assert len(pictures) == row.frames + 1


def test_values_are_shown_where_an_agent_tells_them(toy_plan, monkeypatch):
    seen = []
    real = video.action_bar
    monkeypatch.setattr(video, "action_bar", lambda *asked: seen.append(asked) or real(*asked))
    trial = dataclasses.replace(toy_plan("random").trials[0], agent=made_spec(Telling))
    play(trial, lambda _: True)
    assert {values for *_, values in seen} == {tuple(map(float, range(len(seen[0][-1]))))}
    monkeypatch.setattr(Telling, "act", lambda self, *_: setattr(self, "action_values", ["?"]) or [0])
    with pytest.raises(ArcadeMarkError, match="action_values is list of shape"):
        play(trial, lambda _: True)


@pytest.mark.needs("imageio_ffmpeg")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the library does not close its pipes
def test_a_real_mp4_has_every_frame(toy_run, tmp_path):
    import imageio_ffmpeg as ffmpeg

    path = watch(toy_run, out=tmp_path / "a.mp4", scale=8, **ONE)
    reader = ffmpeg.read_frames(str(path))
    told = next(reader)
    size = told["size"]
    pictures = [np.frombuffer(data, np.uint8).reshape(size[1], size[0], 3) for data in reader]
    assert (len(pictures), told["fps"]) == (record(toy_run).frames, 60)
    assert not np.array_equal(pictures[0], pictures[-1])
    watch(toy_run, out=path, scale=8, **ONE)  # it knows its own
