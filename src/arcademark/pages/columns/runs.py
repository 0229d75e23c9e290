"""Columns of runs: lists, their progress, the ledger of test games, tuning, settings and troubles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from arcademark import wording
from arcademark.analysis.runs.tuning import held_out_interval
from arcademark.pages.columns import Column, Columns, Style
from arcademark.suite.settings import format_setting

if TYPE_CHECKING:
    from arcademark.analysis.runs.directory import Run, TrialEntry
    from arcademark.analysis.runs.ledger import Account, LedgerView, Use
    from arcademark.analysis.runs.listing import ListedRun, RunList
    from arcademark.analysis.runs.status import RunStatus, Status
    from arcademark.analysis.runs.tuning import Tuned, TunedParameters, TunedSetting, TuningSensitivity
    from arcademark.analysis.settings import ProtocolSetting, ProtocolView, Value
    from arcademark.records.ledger import Unread
    from arcademark.records.live import State, TrialProgress
    from arcademark.records.queue import ClusterJob

    Trials: TypeAlias = Mapping[int, TrialProgress]

MAX_SEEDS = 8
"""Maximum number of seeds that have a column each."""
STYLES: dict[State, Style] = {
    "done": "good",
    "playing": "strong",
    "failed": "bad",
    "started": "doubtful",
    "pending": "weak",
}
JOB_STYLES: dict[str, Style] = {
    "running": "strong",
    "queued": "",
    "requeued": "",
    "failed": "bad",
    "cancelled": "bad",
    "unknown": "doubtful",
}
LISTED: dict[str, Style] = {"incomplete": "doubtful", "failed": "bad"}

UNREAD: Columns[Unread] = (
    Column("run", lambda run: run.directory),
    Column("reason", lambda run: run.reason, kind="prose"),
)


def listed(it: RunList) -> Columns[ListedRun]:
    """Return the columns of each run."""
    return (
        Column("run", lambda run: run.directory, style="strong"),
        Column("agent", lambda run: wording.shortened(run.agents, most=2), kind="name"),
        Column(
            "tasks" if any(run.unit == "step" for run in it.runs) else "games",
            lambda run: run.scope.rpartition(" of ")[2] or wording.shortened(run.games, most=3),
            kind="name",
        ),
        Column("protocol", lambda run: run.protocol, kind="name", optional=True),
        Column("seeds", lambda run: len(run.seeds)),
        Column(
            "episodes",
            lambda run: wording.done(run.episodes, run.planned_episodes),
            style=lambda run: LISTED.get(run.status, ""),
            below=lambda run: "imported, not verified" if run.imported else "",
            sort=lambda run: run.episodes,
        ),
        Column("started", lambda run: run.created[:16].replace("T", " "), kind="name", optional=True),
    )


def settings(it: ProtocolView) -> Columns[ProtocolSetting]:
    """Return the columns of a protocol's settings."""
    return (
        Column("setting", lambda one: one.title, below=lambda one: one.field),
        Column(
            "value",
            lambda one: one.text,
            kind="prose",
            style=lambda one: "doubtful" if one.overridden else "",
            below=lambda one: f"override; {it.name} has {one.original_text}" if one.overridden else "",
        ),
        Column(
            "source",
            lambda one: f"our choice: {one.note}" if one.status == "choice" else one.note,
            kind="prose",
            optional=True,
        ),
    )


def troubles(it: Run) -> Columns[TrialEntry]:
    """Return the columns of trials that failed or are not finished."""
    return (
        Column("agent", lambda trial: trial.agent),
        Column(wording.noun(it.protocol.unit), lambda trial: trial.game, kind="name"),
        Column("seed", lambda trial: trial.seed),
        Column("episodes", lambda trial: f"{trial.episodes:,} of {trial.planned_episodes:,}"),
        Column(
            "result",
            lambda trial: trial.error or "not finished yet",
            kind="prose",
            style=lambda trial: "bad" if trial.status == "failed" else "doubtful",
        ),
    )


def progress(it: Status) -> Columns[RunStatus]:
    """Return the columns of each run's progress."""
    return (
        Column("run", lambda run: run.directory),
        Column("running", lambda run: run.running, style=lambda run: "strong" if run.running else "weak"),
        Column("trials", lambda run: _done(run.done, run.trials)),
        Column("episodes", lambda run: _done(run.episodes, run.planned_episodes)),
        Column(f"{it.unit}s/s", lambda run: run.frames_per_second, lambda rate: wording.score(rate, 0)),
        Column("time left", lambda run: None if run.seconds_left is None else _left(run.seconds_left, run.at_most)),
    )


def jobs(it: Status) -> Columns[*tuple[ClusterJob, ...]]:
    """Return the columns of groups of jobs with the same state and reason."""
    return (
        Column("run", lambda *same: same[0].folder, kind="name") if len(it.whole) > 1 else None,
        Column("jobs", _names_of_jobs, kind="name"),
        Column("state", lambda *same: same[0].state, style=lambda *same: JOB_STYLES[same[0].state]),
        Column("why", lambda *same: _why(same[0]), kind="prose"),
        Column("log", lambda *same: same[0].log if same[0].said else None, kind="prose"),
    )


def failures(it: Status) -> Columns[TrialProgress]:
    """Return the columns of trials that failed."""
    return (
        Column("agent", lambda trial: trial.agent),
        Column(wording.noun(it.unit), lambda trial: trial.game, kind="name"),
        Column("seed", lambda trial: trial.seed, str),
        Column("why", lambda trial: trial.error, kind="prose"),
    )


def grid(it: Status, games: Sequence[tuple[str, Trials]]) -> Columns[str, Trials]:
    """Return the columns of an agent's games: the trial of each seed or, for many seeds, the number in each state."""
    seeds = sorted({seed for _, trials in games for seed in trials})
    trials = map(_seed, seeds) if len(seeds) <= MAX_SEEDS else map(_state, STYLES)
    return (Column(wording.noun(it.unit), lambda game, _: game), *trials)


def _seed(seed: int) -> Column[str, Trials]:
    return Column(
        f"seed {seed}",
        lambda _, trials: _progress(trials.get(seed)),
        style=lambda _, trials: STYLES[trials[seed].state if seed in trials else "pending"],
    )


def _state(state: State) -> Column[str, Trials]:
    def count(_: str, trials: Trials) -> int:
        return sum(trial.state == state for trial in trials.values())

    return Column(state, count, style=lambda *row: STYLES[state] if count(*row) else "weak")


def _progress(trial: TrialProgress | None) -> str | None:
    if trial is None or trial.state == "pending":
        return None
    if trial.state in ("done", "failed"):
        return trial.state
    if trial.trained is not None and trial.budget and trial.trained < trial.budget:
        return f"{wording.share(trial.trained / trial.budget)} trained"
    return _done(trial.episodes, trial.planned_episodes)


def _done(number: int, planned: int) -> str:
    return f"{wording.count(number)} of {wording.count(planned)}"


def _left(seconds: float, at_most: bool) -> str:
    return f"{'at most ' if at_most else ''}{wording.time_span(seconds)}"


def _names_of_jobs(*same: ClusterJob) -> str:
    shards = [str(job.shard[0]) for job in same if job.shard]
    names = [f"shard{'s' * (len(shards) > 1)} {wording.shortened(shards)}"] if shards else []
    return wording.listing([*names, *("merge" for job in same if not job.shard)])


def _why(job: ClusterJob) -> str:
    begins = f"begins again at {job.begins.replace('T', ' ')}" if job.begins else ""
    return "; ".join(filter(None, (job.reason, begins, job.said)))


def uses(it: LedgerView) -> Columns[Account, Use]:
    """Return the columns of each use of test games."""

    def games(account: Account, use: Use) -> str | int:
        return account.titles(use.games)[0] if len(use.games) == 1 else len(use.games)

    return (
        Column(
            "algorithm",
            lambda account, _: account.algorithm,
            style="strong",
            below=lambda account, _: ", ".join(filter(None, ("a baseline" * account.baseline, account.suite))),
        ),
        Column("setting", lambda _, use: use.setting),
        Column(f"{it.noun}s", games),
        Column("runs", lambda _, use: len(use.runs)),
        Column("trials", lambda _, use: use.trials),
        Column("episodes", lambda _, use: use.episodes),
        Column("when", lambda _, use: " … ".join(dict.fromkeys((use.first[:10], use.last[:10])))),
    )


def places(it: Tuned) -> Columns[TunedSetting]:
    """Return the columns of each setting: its parameters and its mean."""
    return (
        _rank(it),
        *map(_parameter, it.settings[0].values),
        Column("mean place", lambda setting: setting.mean, _fixed, style="strong"),
        Column("95 %", lambda setting: setting.half_width),
        Column("median of all, estimated", lambda setting: setting.estimate, wording.percent) if it.model else None,
    )


def names_of_places(it: Tuned) -> int:
    """Return the number of these columns that name a setting: its rank and its parameters."""
    return 1 + len(it.settings[0].values)


def tuned_scores(it: Tuned) -> Columns[TunedSetting]:
    """Return the columns of each setting's scores, by game."""

    def column(game: str) -> Column[TunedSetting]:
        return Column(it.title(game), lambda setting: setting.scores[game], lambda score: wording.score(score, 1))

    return (_rank(it), *map(column, it.games))


def _rank(it: Tuned) -> Column[TunedSetting]:
    return Column("", lambda setting: it.settings.index(setting) + 1)


def _parameter(name: str) -> Column[TunedSetting]:
    return Column(name, lambda setting: format_setting(setting.values[name]), kind="name")


def best(it: TuningSensitivity) -> Columns[str, Mapping[str, Value]]:
    """Return the columns of the best fixed setting, and that of each game."""

    def column(name: str) -> Column[str, Mapping[str, Value]]:
        return Column(name, lambda _, values: format_setting(values[name]))

    return (Column("", lambda what, _: what), *map(column, it.fixed))


def tuned_parameters(it: TuningSensitivity, noun: str) -> Columns[TunedParameters]:
    """Return the columns of scores by the number of tuned parameters."""
    return (
        Column(f"tuned {noun} by {noun}", lambda row: ", ".join(row.parameters) or "none: the best fixed setting"),
        Column("score", lambda row: row.score, _fixed, style="strong"),
        Column("of all tuned", lambda row: row.share, lambda share: f"{100 * share:.0f} %"),
        Column(f"on other {it.unit}s", lambda row: row.held_out, _fixed) if it.unit else None,
        Column("95 %", held_out_interval) if it.unit else None,
    )


def _fixed(value: float) -> str:
    return wording.fixed(value, 3)
