"""The progress of runs: what is played, games by seeds, and what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Column, Document, Facts, Section, Table, section, table
from arcademark.reports.columns import Style
from arcademark.reports.runs.status import RunStatus, Status
from arcademark.runs.store.live import State, TrialProgress

MOST_SEEDS = 8  # that have a column each
_STYLES: dict[State, Style] = {
    "done": "good",
    "playing": "strong",
    "failed": "bad",
    "started": "doubtful",
    "pending": "weak",
}


def present(found: Status) -> Document:
    """Show the sums, each run where there are several, a grid of each agent, and why trials failed."""
    failed = [trial for trial in found.trials if trial.state == "failed"]
    return Document(
        f"{wording.plural(found.states['done'], 'trial')} of {wording.count(len(found.trials))} done",
        "status",
        ": ".join([*(run.directory for run in found.runs if len(found.runs) == 1), ", ".join(found.protocols)]),
        (
            section("", Facts(tuple(_sums(found)))),
            *([section("Runs", _runs(found.runs, _unit(found.trials)))] if len(found.runs) > 1 else []),
            *_grids(found.trials),
            *([section("Failed", _failures(failed))] if failed else []),
            *([section("Not read", _unread(found))] if found.unread else []),
        ),
    )


def _sums(found: Status) -> Iterator[tuple[str, str]]:
    states, shards = found.states, found.shards
    yield "trials", ", ".join(f"{wording.count(states[state])} {state}" for state in _STYLES if states[state])
    done, planned = (sum(getattr(trial, name) for trial in found.trials) for name in ("episodes", "planned_episodes"))
    yield "episodes", f"{wording.count(done)} of {wording.count(planned)}"
    if shards:
        begun = sum(map(len, shards.values()))
        yield "shards begun", f"{wording.count(begun)} of {wording.count(sum(count for *_, count in shards))}"
    running = sum(run.running for run in found.runs)
    yield (
        "running",
        "no" if not running else "yes" if len(found.runs) == 1 else f"{running:,} of {len(found.runs):,} runs",
    )
    if found.frames_per_second is not None:
        yield "speed", wording.rate(found.frames_per_second, _unit(found.trials))
    if running:
        yield "time left", _left(found.seconds_left, found.at_most)


def _left(seconds: float | None, at_most: bool) -> str:
    if seconds is None:
        return "unknown yet"
    return f"{'at most ' if at_most else ''}{wording.time_span(seconds)}"


def _unit(trials: Sequence[TrialProgress]) -> str:
    """Return what all of these count lengths in: frames, unless all are counted in steps."""
    return "step" if trials and all(trial.unit == "step" for trial in trials) else "frame"


def _runs(runs: Sequence[RunStatus], unit: str) -> Table:
    columns = ("run", "running", "trials", "episodes", f"{unit}s/s", "time left")
    return table(
        columns,
        (
            (
                run.directory,
                Cell("yes" if run.running else "no", "strong" if run.running else "weak"),
                f"{wording.count(run.done)} of {wording.count(run.trials)}",
                f"{wording.count(run.episodes)} of {wording.count(run.planned_episodes)}",
                wording.MISSING if run.frames_per_second is None else f"{run.frames_per_second:,.0f}",
                wording.MISSING if run.seconds_left is None else _left(run.seconds_left, run.at_most),
            )
            for run in runs
        ),
        most=20,
    )


def _grids(trials: Sequence[TrialProgress]) -> Iterator[Section]:
    several = len({trial.protocol for trial in trials}) > 1
    for agent, protocol in dict.fromkeys((trial.agent, trial.protocol) for trial in trials):
        mine = [trial for trial in trials if (trial.agent, trial.protocol) == (agent, protocol)]
        seeds = sorted({trial.seed for trial in mine})
        title = f"{agent}, {protocol}" if several else agent
        yield section(title, _by_seed(mine, seeds) if len(seeds) <= MOST_SEEDS else _by_state(mine))


def _by_seed(trials: Sequence[TrialProgress], seeds: Sequence[int]) -> Table:
    cells = {(trial.game, trial.seed): trial for trial in trials}
    games = dict.fromkeys(trial.game for trial in trials)
    return table(
        (wording.noun(_unit(trials)), *(f"seed {seed}" for seed in seeds)),
        ((game, *(_cell(cells.get((game, seed))) for seed in seeds)) for game in games),
    )


def _by_state(trials: Sequence[TrialProgress]) -> Table:
    games: dict[str, Counter[str]] = {}
    for trial in trials:
        games.setdefault(trial.game, Counter())[trial.state] += 1
    styles = _STYLES.items()
    return table(
        (wording.noun(_unit(trials)), *_STYLES),
        (
            (game, *(Cell(wording.count(count[state]), style if count[state] else "weak") for state, style in styles))
            for game, count in games.items()
        ),
    )


def _cell(trial: TrialProgress | None) -> Cell:
    if trial is None or trial.state == "pending":
        return Cell(wording.MISSING, "weak")
    if trial.state in ("done", "failed"):
        return Cell(trial.state, _STYLES[trial.state])
    text = f"{wording.count(trial.episodes)} of {wording.count(trial.planned_episodes)}"
    if trial.trained is not None and trial.budget and trial.trained < trial.budget:
        text = f"{wording.share(trial.trained / trial.budget)} trained"
    return Cell(text, _STYLES[trial.state])


def _failures(trials: Sequence[TrialProgress]) -> Table:
    columns = ("agent", Column(wording.noun(_unit(trials)), "name"), "seed", Column("why", "prose"))
    rows = ((trial.agent, trial.game, str(trial.seed), trial.error) for trial in trials)
    return table(columns, rows, most=10)


def _unread(found: Status) -> Table:
    columns = ("run", Column("why it cannot be read", "prose"))
    return table(columns, ((item.directory, item.reason) for item in found.unread))
