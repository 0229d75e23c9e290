"""Tune SARSA on training games by what frozen weights score, and play the published trials with what was chosen.

python results/trials.py RUNS [--sets SET ...] [--until HH:MM]

Plays the queue below, one trial after the other, in run directories under RUNS. A trial that is stopped continues, and
one that is finished is not played again: the same command continues the queue. Several may work at once.

*Tuning.* Trials have seed 100, which no published trial has. Weights are frozen after 80, 85, 90, 95 and 100 % of
training and play the same 20 episodes each (5 of Freeway). A setting is judged by the mean over these snapshots, as the
last moment of training alone can be lucky or unlucky. Also evaluated: the mean of the five snapshots' weights
(`averaged`).
Games are Asterix, Freeway and Space Invaders; Seaquest and Beam Rider, training games of the paper too, have no part.

1. A grid of settings, 1,000 training episodes of Asterix and Space Invaders and 300 of Freeway, which has about as many
   frames; extended by the next value of alpha while the best one is the least or the greatest of its schedule. Freeway
   comes last, without the settings that would not be among the best two even with its best score so far.
2. The best two settings also play 1,000 episodes of Freeway; the better one over the three games at 1,000 is chosen.
3. If the snapshots of its published trial on Freeway, with seed 0, score less than half of those after 1,000 episodes,
   the other one is chosen. (This rule was added after DISCO's first choice, 0.3 % ahead, had done so.)

Settings are compared by the mean logarithm over the games of their score divided by the paper's. The score of a
training whose weights diverged is 0.

*Published trials* play 5,000 training episodes and 500 of evaluation; their snapshots are those that every run has, in
the first 100 of these.

results/tuning.csv has a row per tuning trial, and arcademark.reproduce's data those of published trials.
"""

from __future__ import annotations

import argparse
import csv
import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from arcademark.agents.loading import agent_specs
from arcademark.environments.registry import EmulatorName
from arcademark.pages.render.layout import Console
from arcademark.records.model import Checkpoint, EpisodeRecord, EpisodeResult, RunRecord
from arcademark.records.reading import open_run, read_checkpoint, read_run
from arcademark.reproduce.ale2013 import scores as printed
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.execution import execute
from arcademark.runs.plan import Plan, Trial, make_plan
from arcademark.runs.playing.trial import TrialPlayer
from collect import merge, rows, there

TUNING = Path(__file__).with_name("tuning.csv")
GAMES = ("space_invaders", "asterix", "freeway")
TEST_GAMES = ("seaquest", "beam_rider")
SEED = 100
DIVERGED = "grew beyond all bounds"
"""Part of the error of a training whose weights diverged."""
SNAPSHOTS = (0.8, 0.85, 0.9, 0.95, 1.0)
"""Shares of training after which weights are frozen and evaluated."""
TUNED, BRACKET, PUBLISHED = 1000, 300, 5000
"""Training episodes; those of `BRACKET` are Freeway's in the grid."""
ALPHAS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
LAMBDAS = {"ram": (0.5, 0.9)}
GRID = (
    *(("linear", 0.5), ("linear", 0.2), ("constant", 0.1), ("constant", 0.5)),
    *(("linear", 1.0), ("constant", 0.2), ("constant", 0.05), ("linear", 0.1)),
)
"""Schedules and step sizes to begin with."""
SETS = ("lsh", "basic", "ram", "bass", "disco")
TRIALS = 30


@dataclass(frozen=True)
class Setting:
    """Learning parameters of a feature set."""

    features: str
    alpha: float
    alpha_schedule: str
    lambda_: float


FALLING = tuple(Setting("basic", *given, 0.9) for given in ((0.5, "constant"), (0.5, "linear"), (0.1, "constant")))
"""On Freeway, where with the first of them Basic unlearns over 5,000 episodes."""


@dataclass(frozen=True)
class Training:
    """A trial."""

    setting: Setting
    game: str
    training_episodes: int
    seed: int = SEED

    @property
    def published(self) -> bool:
        """Whether it is of the paper's length."""
        return self.training_episodes == PUBLISHED

    @property
    def episodes(self) -> int:
        """Evaluation episodes of the final weights."""
        return 500 if self.published else 20

    @property
    def snapshot_episodes(self) -> int:
        """Evaluation episodes of the snapshots; those of Freeway are long and much the same."""
        if self.published:
            return self.episodes // 5
        return 5 if self.game == "freeway" else 20

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the agent; LSH's random projections follow the trial's seed."""
        return asdict(self.setting) | ({"hash_seed": self.seed} if self.setting.features == "lsh" else {})

    def snapshots(self, folder: Path) -> Snapshots:
        """Return the files of the weights before the end of training."""
        return Snapshots(folder, self.training_episodes)

    def plan(self) -> Plan:
        """Return what is to be played."""
        (spec,) = agent_specs("sarsa", self.parameters)
        budget = self.training_episodes
        return make_plan(spec, [self.game], "ale-2013", (self.seed,), self.episodes, training_episodes=budget)


Rows = Sequence[dict[str, str]]
Key = tuple[str, ...]


def queue(done: Rows, sets: Sequence[str]) -> Iterator[Training]:
    """Yield the trials of feature sets in order, as far as `done` decides which they are."""
    for features in sets:
        yield from tuning(features, done)
        if setting := chosen(features, done):
            for game in (*reversed(GAMES), *TEST_GAMES):
                yield Training(setting, game, PUBLISHED, 0)
        if features == SETS[0]:
            yield from (Training(setting, "freeway", TUNED) for setting in FALLING)
    for seed in range(1, TRIALS):
        for features in sets:
            if setting := chosen(features, done):
                yield Training(setting, "asterix", PUBLISHED, seed)


def tuning(features: str, done: Rows) -> Iterator[Training]:
    """Yield a feature set's tuning trials: the grid, its extension, the finalists."""
    settings = grid(features, done)
    for setting in settings:
        for game in GAMES[:-1]:
            yield Training(setting, game, TUNED)
    for setting, known in zip(settings, merits(settings, done), strict=True):
        if known is None:
            yield Training(setting, GAMES[-1], BRACKET)
    for setting in finalists(features, done):
        for game in GAMES:
            yield Training(setting, game, TUNED)


def grid(features: str, done: Rows) -> list[Setting]:
    """Return the settings to be tried, with the next alpha where the best one is at the end of its schedule's."""
    tried = [
        Setting(features, alpha, schedule, lambda_)
        for schedule, alpha in GRID
        for lambda_ in LAMBDAS.get(features, (0.9,))
    ]
    while leader := best(tried, done):
        places = [ALPHAS.index(one.alpha) for one in tried if replace(one, alpha=0) == replace(leader, alpha=0)]
        beyond = {min(places): min(places) - 1, max(places): max(places) + 1}.get(ALPHAS.index(leader.alpha), -1)
        if not 0 <= beyond < len(ALPHAS):
            break
        tried.append(replace(leader, alpha=ALPHAS[beyond]))
    return tried


def finalists(features: str, done: Rows) -> list[Setting]:
    """Return the best two settings of the grid, none before all of it is played."""
    tried = grid(features, done)
    known = dict(zip(tried, merits(tried, done), strict=True))
    return [] if None in known.values() else sorted(tried, key=lambda one: -(known[one] or 0.0))[:2]


def chosen(features: str, done: Rows) -> Setting | None:
    """Return the better finalist that does not forget Freeway, None before this is known or if both do."""
    return best([setting for setting in finalists(features, done) if not forgets(setting, done)], done, TUNED)


def forgets(setting: Setting, done: Rows) -> bool:
    """Return True if the published trial of Freeway scores less than half of the tuning trial."""
    long = frozen_score(Training(setting, GAMES[-1], PUBLISHED, 0), done)
    short = frozen_score(Training(setting, GAMES[-1], TUNED), done)
    return long is not None and short is not None and long < short / 2


def best(settings: Sequence[Setting], done: Rows, freeway: int = BRACKET) -> Setting | None:
    """Return the setting that scores best, None before this is known or if there are none."""
    known = merits(settings, done, freeway)
    if not known or None in known:
        return None
    return settings[int(np.argmax(np.array(known, np.float64)))]


def merits(settings: Sequence[Setting], done: Rows, freeway: int = BRACKET) -> list[float | None]:
    """Return each setting's merit, None if a trial that can decide on the best two is missing.

    A missing score of Freeway decides nothing if, with the best one of all settings in its place, two others are ahead:
    the setting then has this merit.
    """
    played = [merit(setting, done, freeway) for setting in settings]
    leading = sorted(value for value in played if value is not None)[-2:]
    if len(leading) < 2:
        return played
    trials = [Training(setting, GAMES[-1], freeway) for setting in settings]
    highest = max(score for trial in trials if (score := frozen_score(trial, done)) is not None)
    hopes = [merit(setting, done, freeway, highest) for setting in settings]
    return [
        hope if hope is not None and hope < leading[0] else value for value, hope in zip(played, hopes, strict=True)
    ]


def merit(setting: Setting, done: Rows, freeway: int = BRACKET, missing: float | None = None) -> float | None:
    """Return the geometric mean over games of the score divided by the paper's.

    None if a game is missing; `missing` takes the place of Freeway's score.
    """
    ratios = []
    for game in GAMES:
        score = frozen_score(Training(setting, game, freeway if game == GAMES[-1] else TUNED), done)
        if score is None and game == GAMES[-1]:
            score = missing
        if score is None:
            return None
        ratios.append(score / from_paper(setting.features, game))
    return float(np.exp(np.mean(np.log(np.maximum(ratios, 0.01)))))


def frozen_score(training: Training, done: Rows) -> float | None:
    """Return the mean score of the snapshots, None if the trial was not played."""
    key = key_of(training)
    return next((float(row["frozen"]) for row in done if key_of(row) == key), None)


def from_paper(features: str, game: str) -> float:
    """Return the paper's score."""
    name = next(one for one in printed.LEARNERS if one.lower() == features)
    return float(printed.raw((name,))[0, printed.place(game)])


def key_of(what: Training | dict[str, str]) -> Key:
    """Return what tells a trial, or its row, from others."""
    values: dict[str, Any] = dict(what) if isinstance(what, dict) else {**vars(what.setting), **vars(what)}
    columns = (*(field.name for field in fields(Setting)), "game", "training_episodes", "seed")
    return tuple(str(values[column]) for column in columns)


class Snapshots:
    """Files of a learner's weights at shares of its training.

    Parameters
    ----------
    folder : Path
        Where they are.
    episodes : int
        Of the training.
    """

    def __init__(self, folder: Path, episodes: int) -> None:
        self._files = {round(share * episodes): folder / f"weights-{share:g}" for share in SNAPSHOTS[:-1]}
        self._episodes = episodes

    def player(self, trial: Trial, emulator: EmulatorName | None) -> TrialPlayer:
        """Make a player whose learner writes them before the training episode that follows each."""
        player = TrialPlayer(trial, emulator)
        checked: Any = player.agent
        learner = checked.policy
        follow = learner.set_progress

        def set_progress(share: float) -> None:
            follow(share)
            if file := self._files.get(round(share * self._episodes)):
                file.write_bytes(learner.checkpoint())

        learner.set_progress = set_progress
        return player

    def read(self) -> list[bytes]:
        """Return them in order, but for the last, which the run has."""
        return [file.read_bytes() for file in self._files.values()]

    def remove(self) -> None:
        """Remove the files."""
        for file in self._files.values():
            file.unlink(missing_ok=True)


def play(training: Training, folder: Path) -> RunRecord | None:
    """Play what is left of a trial; None if it was stopped."""
    plan = training.plan()
    make = TrialPlayer if training.published else training.snapshots(folder).player
    engine: Callable[..., Any] = partial(InProcessEngine, make_player=make)
    return None if execute(plan, folder / "run", make=engine).interrupted else read_run(folder / "run")


@dataclass(frozen=True)
class Frozen:
    """Evaluations of frozen weights.

    means: Mean scores of the snapshots, in order; none if the weights diverged.
    averaged: Mean score of the mean of their weights; None if they were not evaluated.
    frames: Frames of all these episodes.
    """

    means: list[float]
    averaged: float | None
    frames: int


def evaluated(training: Training, folder: Path) -> Frozen:
    """Evaluate the snapshots of a finished trial, and the mean of their weights."""
    (trial,) = training.plan().trials
    with open_run(folder / "run") as (database, *_):
        last = read_checkpoint(folder / "run", database, trial.id)
    assert last is not None
    weights = [*training.snapshots(folder).read(), last.data]
    player = TrialPlayer(trial)
    learner: Any = player.agent
    values, total = learner.policy._values, np.zeros(())
    for data in weights:
        learner.restore(data)
        total = total + values.weights.astype(np.float64)
    values.weights[:] = total / len(weights)
    weights.append(learner.checkpoint())
    played = [frozen(trial, data, training.snapshot_episodes) for data in weights]
    *means, averaged = (float(np.mean([record.score for record in records])) for records in played)
    return Frozen(means, averaged, sum(record.frames for records in played for record in records))


def frozen(trial: Trial, weights: bytes, episodes: int) -> list[EpisodeRecord]:
    """Play the first evaluation episodes with frozen weights."""
    events = TrialPlayer(trial).play(range(episodes), Checkpoint(0, 0, True, weights))
    return [event.record for event in events if isinstance(event, EpisodeResult)]


def tuned(training: Training, run: RunRecord, found: Frozen) -> dict[str, object]:
    """Return the row of a tuning trial."""
    played = run.training(run.trials[0])
    means = found.means or [0.0] * len(SNAPSHOTS)
    tenths = np.array_split(played.score, 10) if found.means else []
    return {
        **asdict(training.setting),
        "game": training.game,
        "training_episodes": training.training_episodes,
        "seed": training.seed,
        "evaluation_episodes": training.snapshot_episodes,
        "last_100": f"{played.score[-100:].mean():.6g}" if found.means else "0",
        "frozen": f"{np.mean(means):.6g}",
        "deviation": f"{np.std(means, ddof=1):.6g}",
        "averaged": "" if found.averaged is None else f"{found.averaged:.6g}",
        "snapshots": words(found.means),
        "tenths": words([float(part.mean()) for part in tenths]),
        "frames": int(played.frames.sum()) + found.frames,
    }


def words(numbers: Sequence[float]) -> str:
    """Return numbers as one cell."""
    return " ".join(f"{number:.6g}" for number in numbers)


def publish(training: Training, run: RunRecord) -> str:
    """Add a published trial to the project's data, and return its snapshots' scores."""
    ((row, points),) = rows(run)
    ((_, early),) = run.manifest["agents"][0]["snapshots"].items()
    scores = [score for _, score, _ in early]
    snapshots = words([*scores, float(run.evaluation(run.trials[0]).score[: early[0][2]].mean())])
    named = {"agent": agent(training.setting.features)}
    more = {"learning": learning(training), "snapshots": snapshots}
    merge("sarsa", [(row | named | more, [point | named for point in points])])
    return snapshots


def agent(features: str) -> str:
    """Return what the project's data call a learner; what else was set they have in a column of its own."""
    return "sarsa" if features == "basic" else f"sarsa(features={features})"


def learning(training: Training) -> str:
    """Return that column."""
    return " ".join(f"{name}={value}" for name, value in training.parameters.items() if name != "features")


def table() -> list[dict[str, str]]:
    """Return the rows of the tuning."""
    if not TUNING.exists():
        return []
    with TUNING.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@contextmanager
def claimed(path: Path) -> Iterator[bool]:
    """Claim what a file stands for, for as long as this lasts; False if another process has."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def work(training: Training, folder: Path) -> bool:
    """Play a trial and add its row; False if it was stopped."""
    run = play(training, folder)
    if run is None:
        return False
    diverged = DIVERGED in (run.trials[0].error or "")
    found = None if training.published else Frozen([], 0.0, 0) if diverged else evaluated(training, folder)
    with (folder.parent / "writing").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if found is None:
            snapshots = publish(training, run)
            if (training.game, training.seed) == (GAMES[-1], 0):  # decides on the setting, too
                found = Frozen([float(mean) for mean in snapshots.split()], None, 0)
        else:
            snapshots = words(found.means)
        if found is not None:
            row = tuned(training, run, found)
            new = not TUNING.exists()
            with TUNING.open("a", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                if new:
                    writer.writeheader()
                writer.writerow(row)
    training.snapshots(folder).remove()
    Console(width=200).print(time.strftime("%H:%M"), folder.name, snapshots)
    return True


def following(runs: Path, sets: Sequence[str]) -> Iterator[tuple[Training, Path]]:
    """Yield what is to be played, and where, until nothing is left or other processes play all of it."""
    going = True
    while going:
        going = False
        done = table()
        for training in queue(done, sets):
            if recorded(training, done):
                continue
            folder = runs / training.plan().trials[0].id
            folder.mkdir(parents=True, exist_ok=True)
            with claimed(folder / "claim") as mine:
                if mine:
                    yield training, folder
                    going = True
                    break


def recorded(training: Training, done: Rows) -> bool:
    """Say whether a trial has its row."""
    if not training.published:
        return key_of(training) in map(key_of, done)
    named = {"agent": agent(training.setting.features), "game": training.game, "seed": str(training.seed)}
    wanted = named | {"learning": learning(training)}
    return any(wanted.items() <= row.items() for row in there("sarsa.csv"))


def main() -> None:
    """Play what is left of the queue."""
    parser = argparse.ArgumentParser(description="Tune SARSA and play the published trials.")
    parser.add_argument("runs", type=Path)
    parser.add_argument("--until", metavar="HH:MM", help="when to stop, within 24 hours; Ctrl-C stops, too")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="play trials of these, in this order")
    given = parser.parse_args()
    if given.until:
        hour, minute = map(int, given.until.split(":"))
        now = time.localtime()
        left = (3600 * hour + 60 * minute - 3600 * now.tm_hour - 60 * now.tm_min - now.tm_sec) % 86_400
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
        signal.alarm(left)
    with suppress(KeyboardInterrupt):
        for training, folder in following(given.runs, given.sets):
            if not work(training, folder):
                break


if __name__ == "__main__":
    main()
