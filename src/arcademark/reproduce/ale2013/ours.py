"""Our own runs of the 2013 paper's agents, compared with the paper's columns.

Conventions
-----------
* For Const and Perturb the paper prints on each game the best of 18 agents, one per action; so do we.
* A printed mean agrees if it is a rounding of ours, or within `NOISE` standard errors of it. The paper's number of
  episodes is not known, so its own noise is not included.
* For learners and planners we have one trial, or few episodes, per game; these are shown without a verdict.
* Const is deterministic, so it agrees only if it is equal. If it is not, or Random differs, the same agents with starts
  like those of the emulator of 2013 (``results/starts.py``) show whether the start is the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from arcademark.reproduce.ale2013 import scores as data
from arcademark.reproduce.comparison import PrintedComparison, Reproduction, decided
from arcademark.suite import tasks
from arcademark.suite.tables import read_records


@dataclass(frozen=True)
class TrialResult:
    """A trial's score.

    episodes: Number of scored episodes: of evaluation, or the last of training if that is the score.
    least, mean, most: Raw scores in game points.
    low, high, standard_error: 95 % interval and standard error of the mean; None for under 3 episodes or equal scores.
    frames: Frames of all episodes, training included.
    seconds: Duration of playing and learning in seconds.
    versions: Versions of the player, and of the emulator.
    checksum: Checksum of all episodes' numbers, scores, frames and actions, training first: SHA-256, 16 digits.
    budget: Requested training frames; 0 without training, or if training is counted in episodes. A trial with fewer
        `frames` was interrupted.
    simulated_frames: Frames emulated while planning, beyond `frames`.
    learning: Parameters of a learner besides those of `agent`, such as "alpha=0.5".
    snapshots: Mean scores over the same episodes of weights frozen before and, last, at the end of training.
    """

    agent: str
    game: str
    seed: int
    episodes: int
    least: float
    mean: float
    most: float
    low: float | None = None
    high: float | None = None
    standard_error: float | None = None
    frames: int = 0
    seconds: float = 0.0
    versions: str = ""
    checksum: str = ""
    budget: int = 0
    simulated_frames: int = 0
    learning: tuple[str, ...] = ()
    snapshots: tuple[float, ...] = ()

    @property
    def whole(self) -> bool:
        """True if it was not interrupted."""
        return self.frames >= self.budget


@dataclass(frozen=True)
class CurvePoint:
    """A trial's training so far: mean scores of the last 5, 10, … episodes, or of all if there are fewer.

    frames: Training frames at the end of the last episode.
    episodes: Number of finished episodes.
    """

    agent: str
    game: str
    seed: int
    frames: int
    episodes: int
    last_5: float
    last_10: float
    last_20: float
    last_50: float
    last_100: float
    last_200: float
    last_500: float
    last_1000: float

    def last(self, k: int) -> float:
        """Return the mean of the last k episodes, one of `LAST`."""
        return float(getattr(self, f"last_{k}"))


@dataclass(frozen=True)
class Forecast:
    """Forecast of `plan` for an agent's episode.

    frames: Frames of an episode until the frame cap.
    simulated_frames: Frames emulated while planning.
    core_hours: Core hours on the machine that played it.
    """

    agent: str
    game: str
    frames: float
    simulated_frames: float
    core_hours: float


LAST = (5, 10, 20, 50, 100, 200, 500, 1000)


@cache
def results(study: str) -> tuple[TrialResult, ...]:
    """Return a study's trials."""
    return read_records(f"{study}.csv", TrialResult, files("arcademark.reproduce") / "data")


@cache
def curves(study: str) -> tuple[CurvePoint, ...]:
    """Return a study's learning curves, ten points per trial, the last at its end."""
    return read_records(f"{study}-curves.csv", CurvePoint, files("arcademark.reproduce") / "data")


@cache
def forecasts(study: str) -> tuple[Forecast, ...]:
    """Return a study's forecasts."""
    return read_records(f"{study}-forecasts.csv", Forecast, files("arcademark.reproduce") / "data")


STUDY, STARTS = "baselines", "starts-2013"
SINGLE = {
    **{name: ("sarsa", f"sarsa(features={name.lower()})") for name in data.LEARNERS},
    "Basic": ("sarsa", "sarsa"),
    "Breadth-first search": ("planners", "breadth-first"),
    "UCT": ("planners", "uct"),
}
"""Our study, and its name for the agent, for each of the paper's other columns."""
NOISE = 3.0
OTHER_START = "another start"


def columns() -> tuple[Reproduction, ...]:
    """Compare each of the paper's columns for which we have runs with ours, game by game."""
    parts = [("4", name, tuple(_column(name))) for name in data.BASELINES]
    parts += [("5" if name in data.SEARCH else "4", name, tuple(_single(name, *SINGLE[name]))) for name in SINGLE]
    return tuple(
        Reproduction(data.PAPER, f"Table {number} and our own runs: {name}", None, column)
        for number, name, column in parts
        if column
    )


def _single(name: str, study: str, agent: str) -> Iterator[PrintedComparison]:
    for game, printed in zip(data.games(), data.raw((name,))[0].tolist(), strict=True):
        for trial in results(study):
            if (trial.agent, trial.game, trial.seed) == (agent, game, 0):
                text = f"{trial.mean:,.1f}".removesuffix(".0")
                played = "One episode" if trial.episodes == 1 else f"{trial.episodes} episodes"
                why = f"{played if name in data.SEARCH else 'One trial'} of ours: too few for a test."
                yield PrintedComparison(tasks.game_name(game), f"{printed:,g}", text, "not available", why)


def _column(name: str) -> Iterator[PrintedComparison]:
    for game, printed in zip(data.games(), data.raw((name,))[0].tolist(), strict=True):
        where, text = tasks.game_name(game), f"{printed:,g}"
        played = _trials(STUDY, name, game)
        agents = 1 if name == "Random" else max(1, len(_trials(STUDY, "Const", game)))  # the game may lack actions
        if len(played) < agents:
            yield PrintedComparison(where, text, "", "not available", f"{len(played)} of {agents} agents are played.")
            continue
        best = max(played, key=lambda trial: trial.mean)
        error = best.standard_error or 0.0
        item = decided(where, text, _text(best), abs(printed - best.mean) <= max(NOISE * error, 0.05))
        yield _other_start(item, name, game, printed) if item.verdict == "differs" else item


def _trials(study: str, family: str, game: str) -> list[TrialResult]:
    return [row for row in results(study) if row.game == game and row.agent.partition("(")[0] == family.lower()]


def _text(trial: TrialResult) -> str:
    """Write the mean with its interval, the number of episodes, and the action."""
    mean = f"{trial.mean:,.1f}".removesuffix(".0")
    interval = "" if trial.low is None or trial.high is None else f" ({trial.low:,.1f} … {trial.high:,.1f})"
    action = trial.agent.partition("action=")[2].removesuffix(")")
    return f"{mean}{interval} in {trial.episodes}{f', {action}' if action else ''}"


def _other_start(item: PrintedComparison, name: str, game: str, printed: float) -> PrintedComparison:
    """Explain a different score if the starts of 2013 reproduce the printed one."""
    started = _trials(STARTS, name, game)
    if not started or len(started) < len(_trials(STUDY, name, game)):
        return item
    if name == "Const":
        least, most = (max(ends) for ends in zip(*((one.least, one.most) for one in started), strict=True))
        reached = f"{least:,g} to {most:,g}, depending on the memory at power-on" if least < most else f"{most:,g}"
        scored = f"the best scores {reached}"
    else:
        (one,) = started
        reach = NOISE * (one.standard_error or 0.0)
        least, most = one.mean - reach, one.mean + reach
        scored = f"it scores {_text(one)}"
    if not least <= printed <= most:
        return item
    return replace(item, why=f"With the start of the emulator of 2013 {scored}.", category=OTHER_START)
