"""Works out the leaderboard: the one analysis of scores, over each of the views, and what is known beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from arcademark._version import __version__
from arcademark.catalogue import collections, reading
from arcademark.catalogue import errata as slips
from arcademark.catalogue.model import Entry
from arcademark.errors import ArcadeMarkError
from arcademark.reports import published
from arcademark.reports.cells import PlayedAlgorithm
from arcademark.reports.measures import Measure as Placed
from arcademark.reports.site import document as shown
from arcademark.reports.site.document import Badge, Film, Numbers, Replay, Site, Standing
from arcademark.reports.tables import analysis, protocols
from arcademark.reports.tables.dataset import Dataset, ScoreOptions, prepare
from arcademark.reports.tables.document import Algorithm, Game, Statistic
from arcademark.reports.tables.loading import CATALOGUE, EVERYTHING, published_entries, suites_of
from arcademark.reports.tables.protocols import UNKNOWN, Play
from arcademark.reports.tables.report import ScoreReport
from arcademark.runs.replay.verify import Verification
from arcademark.runs.store import imported
from arcademark.runs.store.reading import scored_phase
from arcademark.suite import anomalies, references, subsets, tasks
from arcademark.suite.protocols import StepProtocol
from arcademark.suite.tables import read_rows

VIEWS: tuple[tuple[str, str], ...] = (
    ("atari-57", ""),
    ("ale-55", ""),
    ("atari-100k", ""),
    ("atari-57", "atari-5"),
)
"""Of each view the suite and, where it is only some of its games, the subset."""

TOLD_APART: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "sticky actions": {"0.0": "no sticky actions"},
        "max episode length": {"none": "episodes without a cap"},
        "start": {"reset": "start at the reset", "no-ops": "no-op starts", "human": "human starts"},
    }
)
"""The settings that tell groups apart, and how some of their values read."""

PLANS = "plans on the emulator"
"""What tells algorithms apart, too, that try actions on the emulator before they take one."""

CURVE_POINTS = 60


def analyse(
    runs: Sequence[str | Path],
    replays: Mapping[str, Verification] | None = None,
    films: Mapping[tuple[str, str], Sequence[Film]] | None = None,
    collection: Sequence[str] = (EVERYTHING,),
    follow: Callable[[int, int], None] | None = None,
) -> Site:
    """Work out the leaderboard of the catalogue's collections, all of them or those that are named, and of runs.

    Runs on other tasks than Atari games are ranked among themselves, by their suite's reference scores.

    Parameters
    ----------
    runs : sequence of path
        Directories, or tables of scores.
    replays : mapping, optional
        By a run's directory, what verifying it showed.
    films : mapping, optional
        By a run's directory and an agent's label, the moving pictures there are.
    collection : sequence of str, optional
        Names.
    follow : callable, optional
        Told how many views are done, of how many, after each.
    """
    published = f"{CATALOGUE}{','.join(collection)}"
    of_tasks = bool(runs) and any(suites_of([str(run) for run in runs]).values())
    shown_views = (("", ""),) if of_tasks else VIEWS
    every = [ScoreOptions(suite=suite, games=games or suite, model=None) for suite, games in shown_views]
    every[0] = ScoreOptions()  # with what other games there are, in no summary
    places = runs if of_tasks else [published, *runs]
    datasets = [prepare(places, options) for options in every]
    if not datasets[0].benchmark.measures:
        raise ArcadeMarkError(
            f"{datasets[0].benchmark.view.title}: no task has a low and a high reference score, by which to rank"
        )
    reports = []
    for both in zip(datasets, every, strict=True):
        reports.append(analysis.of_dataset(*both))
        if follow is not None:
            follow(len(reports), len(every))
    whole, report = datasets[0], reports[0]
    plays = {name: whole.play(name) for name in whole.algorithms}
    groups = _groups(plays)
    entries = _entries(whole, published)
    views = tuple(_view(dataset, games) for dataset, (_, games) in zip(datasets, shown_views, strict=True))
    standings = [{item.name: item for item in found.algorithms} for found in reports]
    rows = []
    for item in report.algorithms:
        mine = {view.name: known[item.name] for view, known in zip(views, standings, strict=True) if item.name in known}
        common = _common(item, whole, mine, groups.index(_group(plays[item.name])))
        if item.name in entries:
            rows.append(_published(entries[item.name], common))
        else:
            row = replace(
                common, kind="table", source=Path(common.source).name, curves=tuple(_curves(report, item.name))
            )
            played = whole.scores.played.get(item.name)
            rows.append(_played(row, played, replays or {}, films or {}) if played else row)
    return Site(
        generator=f"ArcadeMark {__version__}",
        collections=tuple(collection),
        intervals=report.intervals,
        games=tuple(_task(game) if of_tasks else _game(game.id) for game in report.games),
        views=views,
        told_apart=(*TOLD_APART, PLANS),
        groups=groups,
        algorithms=tuple(rows),
        papers=_papers(),
        errata=() if of_tasks else tuple(_errata()),
        notices=report.notices,
        unit="step" if of_tasks else "frame",
    )


def _entries(dataset: Dataset, place: str) -> Mapping[str, Entry]:
    """Return the entries of a place of the catalogue by the names that they have in a dataset."""
    known = published_entries(place)
    named = {**{entry.qualified: entry for entry in known.values()}, **known}
    return {name: named[name] for name in dataset.scores.qualified if name in named}


def _group(play: Play) -> shown.Group:
    facts = protocols.settings_of(play)
    if isinstance(play.protocol, StepProtocol):
        return shown.Group(play.label, facts, known=True)
    values = {name: facts.get(name, UNKNOWN) for name in TOLD_APART}
    said = [TOLD_APART[name].get(value, f"{name} {value}") for name, value in values.items()]
    if play.plans:
        said.append(PLANS)
    title = ", ".join(said)
    settings = values | {PLANS: "yes" if play.plans else "no"}
    return shown.Group(title[0].upper() + title[1:], settings, UNKNOWN not in values.values())


def _groups(plays: Mapping[str, Play]) -> tuple[shown.Group, ...]:
    """Return the groups there are, those that may be ranked first, large ones before small ones."""
    found = [_group(play) for play in plays.values()]
    titles = [group.title for group in found]
    different = {group.title: group for group in found}.values()
    return tuple(sorted(different, key=lambda group: (not group.known, -titles.count(group.title))))


def _view(dataset: Dataset, games: str) -> shown.View:
    benchmark = dataset.benchmark
    named = subsets.subset(games) if games else None
    chosen = named.tasks if named else benchmark.tasks
    title = named.title.partition(":")[0] if named else benchmark.view.title
    measures = tuple(_measure(item, chosen) for item in benchmark.chosen(()))
    return shown.View(games or benchmark.view.name, title, benchmark.view.name, tuple(chosen), measures)


def _measure(item: Placed, games: Sequence[str]) -> shown.Measure:
    known = [task for task in games if task in item.known]
    low, high = ({task: ends[task] for task in known} for ends in (item.low, item.high))
    return shown.Measure(item.metric, item.title, item.meaning, low, high, item.bounds or (), item.of_means)


def _game(task: str) -> shown.Game:
    game = tasks.games()[task]
    kinds: tuple[references.Kind, ...] = ("random", "human", "human_world_record")
    known = {kind: references.scores(kind).get(task) for kind in kinds}
    aliases = (row["alias"] for row in read_rows("aliases.csv") if row["task"] == task)
    spellings = dict.fromkeys(map(tasks.normalised, (task, game.name, *aliases)))
    return shown.Game(
        task,
        game.name,
        game.genre,
        task in published.hard_games(),
        {kind: score for kind, score in known.items() if score is not None},
        tuple(shown.Anomaly(one.kind, one.value, one.source, one.note) for one in anomalies.anomalies().get(task, ())),
        tuple(spellings),
    )


def _task(task: Game) -> shown.Game:
    """Return what is known of a task that is no Atari game."""
    known = {kind: score for kind, score in task.references.items() if score is not None}
    return shown.Game(task.id, task.name, "", False, known, (), (tasks.normalised(task.id),))


def _common(item: Algorithm, dataset: Dataset, views: Mapping[str, Algorithm], group: int) -> shown.Row:
    runs = dataset.runs(item.name)
    reaches = {score.game: _numbers(score.score)[1:] for score in item.scores}
    return shown.Row(
        name=item.name,
        identity=item.name,
        kind="run",
        year=None,
        paper="",
        source=item.source,
        source_paper="",
        collection="",
        note="",
        group=group,
        settings=protocols.settings_of(dataset.play(item.name)),
        assumed=(),
        training_frames=item.efficiency.training_frames if item.efficiency else item.training_frames,
        reported="unknown",
        fewest_runs=item.fewest_runs,
        most_runs=item.most_runs,
        badges=("per-seed",) if item.most_runs > 1 else (),
        scores=tuple(tuple(runs[task].tolist()) if task in runs else () for task in dataset.tasks),
        reaches=tuple(reaches.get(task, ()) for task in dataset.tasks),
        published={},
        notes={},
        standings={name: _standing(found) for name, found in views.items() if found.coverage.games},
        estimate=item.estimate if item.coverage.missing and item.estimate and item.estimate.value is not None else None,
    )


def _numbers(found: Statistic) -> Numbers:
    if found.value is None:
        return ()
    return (found.value,) if found.low is None or found.high is None else (found.value, found.low, found.high)


def _standing(item: Algorithm) -> Standing:
    reached = {bar.metric: bar for bar in item.breakthroughs}
    return Standing(
        item.coverage.games,
        {
            summary.metric: {
                name: _numbers(getattr(summary, name)) for name in ("mean", "median", "iqm", "optimality_gap")
            }
            for summary in item.summaries
        },
        len(reached["hwrb"].reached) if "hwrb" in reached else None,
        len(reached["human_level"].reached) if "human_level" in reached else None,
        max((bar.games for bar in item.breakthroughs), default=0),
    )


def _published(entry: Entry, row: shown.Row) -> shown.Row:
    """Add what the catalogue knows."""
    results = collections.scores_of(entry)
    printed_otherwise = {task: item.as_published for task, item in results.items() if item.as_published is not None}
    printed = {(slip.paper, slip.place.algorithm) for slip in slips.errata() if slip.place}
    badges: list[Badge] = list(row.badges) or ["as-published"]
    if printed_otherwise or (entry.source.key, entry.algorithm) in printed:
        badges.append("errata")
    return replace(
        row,
        identity=entry.identity,
        kind=entry.kind,
        year=entry.year,
        paper=(entry.paper or entry.source).key,
        source_paper=entry.source.key,
        collection=entry.collection,
        note=entry.note,
        assumed=entry.assumed,
        training_frames=entry.training_frames,
        reported=entry.reported,
        badges=tuple(badges),
        published=printed_otherwise,
        notes={task: item.note for task, item in results.items() if item.note},
    )


def _played(
    row: shown.Row,
    item: PlayedAlgorithm,
    replays: Mapping[str, Verification],
    films: Mapping[tuple[str, str], Sequence[Film]],
) -> shown.Row:
    """Add what is known of a run."""
    record = item.run.record
    directories = [str(place) for place in record.parts or (record.directory,)]
    badges: list[Badge] = list(row.badges)
    found = [replays[place] for place in directories if place in replays]
    agents = dict.fromkeys(trial.agent for trial in item.trials)
    trials = {trial.id for trial in item.trials}
    findings = [finding for one in found for finding in one.findings if finding.trial_id in trials]
    if imported.of(record) is not None:
        badges.append("imported")
    elif findings and len(found) == len(directories):
        badges.append("replayed" if all(finding.outcome == "confirmed" for finding in findings) else "differs")
    return replace(
        row,
        kind="run",
        source=f"played in {record.directory.name}",
        reported=scored_phase(record.protocol, any(trial.learns for trial in item.trials)),
        badges=tuple(badges),
        replay=None
        if not findings
        else Replay(
            len(findings),
            sum(finding.outcome == "confirmed" for finding in findings),
            tuple(dict.fromkeys(warning for one in found for warning in one.warnings)),
        ),
        films=tuple(film for place in directories for agent in agents for film in films.get((place, agent), ())),
    )


def _curves(report: ScoreReport, name: str) -> Iterator[shown.Curve]:
    """Average a learner's curves over seeds."""
    for curve in report.learning:
        if curve.algorithm == name:
            mean = curve.mean(CURVE_POINTS)
            yield shown.Curve(curve.game, tuple(mean.frames.tolist()), tuple(mean.mean.tolist()))


def _papers() -> dict[str, shown.Paper]:
    addresses = reading.read_bibtex()
    return {
        key: shown.Paper(source, source.short, addresses.get(key, ("",))[0])
        for key, source in collections.sources().items()
    }


def _errata() -> Iterator[shown.Erratum]:
    for slip in slips.errata():
        place = slip.place
        game = place.row if place and place.row in tasks.games() else ""
        algorithm = place.algorithm if place else ""
        yield shown.Erratum(slip.paper, slip.where, algorithm, game, slip.printed, slip.holds, slip.why)
