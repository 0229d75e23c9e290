"""What a reader must be told before believing a number, each under a stable name.

`KINDS` lists them; every function here yields those of one matter, and says nothing where there is nothing to say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from types import MappingProxyType

from arcademark.metrics.intervals import LEVEL
from arcademark.report import wording
from arcademark.report.cells import PlayedAlgorithm
from arcademark.report.document import Estimate, Level, Notice
from arcademark.report.runs import budgets, learning
from arcademark.report.runs.document import Algorithm, Game
from arcademark.report.runs.ledger import accounts, told
from arcademark.runs import ledger
from arcademark.scores.runs import RunCollection
from arcademark.subset.model import explained
from arcademark.suite import protocols, subsets, tasks
from arcademark.suite.settings import format_setting
from arcademark.suite.subsets import Subset
from arcademark.suite.tasks import game_name

KINDS: MappingProxyType[str, Level] = MappingProxyType(
    {
        "protocols_differ": "warning",
        "emulators_differ": "warning",
        "modified_protocol": "warning",
        "games_differ": "warning",
        "estimate_doubtful": "warning",
        "estimate_refused": "warning",
        "trials_failed": "warning",
        "trials_incomplete": "warning",
        "training_budget": "warning",
        "test_games": "warning",
        "estimate_reading": "note",
        "estimate_tuning": "note",
        "suite_complete": "note",
        "episodes_truncated": "note",
        "fewer_episodes": "note",
        "fewer_trials": "note",
        "action_interval": "note",
        "planning": "note",
        "no_reference": "note",
        "best_of": "note",
        "left_out": "note",
        "hard_exploration": "note",
        "intervals": "note",
    }
)


def collect(
    collection: RunCollection,
    shown: Sequence[PlayedAlgorithm],
    algorithms: Sequence[Algorithm],
    games: Sequence[Game],
    *,
    names: Sequence[str],
) -> tuple[Notice, ...]:
    """Gather all notices, warnings first.

    Parameters
    ----------
    collection : RunCollection
    shown : sequence of PlayedAlgorithm
        The algorithms, as played.
    algorithms : sequence of Algorithm
        The same, as shown.
    games : sequence of Game
    names : sequence of str
        What the runs are called.
    """
    found = [
        *_runs_differ(collection, names),
        *_run_by_run(collection, names),
        *_episodes(collection, names),
        *_games_differ(algorithms),
        *about_estimates([(algorithm.name, algorithm.estimate) for algorithm in algorithms]),
        *_complete(algorithms),
        *_learners(shown),
        *_test_games(collection),
        *_scores(algorithms, games),
        *_actions(shown),
        *_planning(algorithms),
        *_hard_exploration(algorithms),
        *_intervals(algorithms),
    ]
    return tuple(sorted(found, key=lambda notice: list(KINDS).index(notice.kind)))


def _notice(kind: str, text: str) -> Notice:
    return Notice(kind, KINDS[kind], text)


def _runs_differ(collection: RunCollection, names: Sequence[str]) -> Iterator[Notice]:
    first, *others = collection.runs
    different = {found.second: found.settings for found in collection.protocol_differences}
    for run, name in zip(others, names[1:], strict=True):
        if found := different.get(run.record.directory):
            what = "; ".join(f"{item.setting} ({format_setting(item.a)}, {format_setting(item.b)})" for item in found)
            yield _notice(
                "protocols_differ",
                f"{names[0]} and {name} were played under different settings, so their scores should not be ranked "
                f"together: {what}.",
            )
        there, here = (entry.record.manifest for entry in (first, run))
        roms = [task for task, md5 in there["games"].items() if here["games"].get(task, md5) != md5]
        emulators = [entry["versions"].get("ale-py") for entry in (there, here)]
        if emulators[0] != emulators[1] or roms:
            which = f", with other ROMs of {wording.listing(map(game_name, roms))}" if roms else ""
            yield _notice(
                "emulators_differ",
                f"{names[0]} was made with ale-py {emulators[0]}, {name} with {emulators[1]}{which}.",
            )


def _run_by_run(collection: RunCollection, names: Sequence[str]) -> Iterator[Notice]:
    for run, name in zip(collection.runs, names, strict=True):
        protocol = run.record.protocol
        if protocol.overrides:
            changes = (
                f"{key} is {format_setting(getattr(protocol, key))} instead of {format_setting(original)}"
                for key, original in protocol.overrides.items()
            )
            yield _notice(
                "modified_protocol",
                f"{name} departs from {protocol.name}: {wording.listing(changes)}. Its scores are comparable only with "
                "others made the same way.",
            )
        left_out = run.record.manifest["left_out"]
        if left_out:
            which = wording.shortened(f"{agent} on {game_name(task)}" for agent, task, _ in left_out)
            why = left_out[0][2] if len(left_out) == 1 else f"of the first, {left_out[0][2]}"
            yield _notice("left_out", f"{name} leaves out what cannot be played: {which}; {why}.")
        failed = [trial for trial in run.incomplete if trial.status == "failed"]
        if failed:
            where = wording.shortened(f"{trial.algorithm} on {game_name(trial.task)}" for trial in failed)
            yield _notice("trials_failed", f"{wording.plural(len(failed), 'trial')} of {name} failed: {where}.")
        waiting = [trial for trial in run.incomplete if trial.status != "failed"]
        if waiting:
            played, planned = sum(trial.played for trial in waiting), sum(trial.planned for trial in waiting)
            yield _notice(
                "trials_incomplete",
                f"{wording.plural(len(waiting), 'trial')} of {name} "
                f"{'is' if len(waiting) == 1 else 'are'} not finished: {played:,} of {planned:,} episodes are "
                "there so far. The same command again continues.",
            )


def _episodes(collection: RunCollection, names: Sequence[str]) -> Iterator[Notice]:
    short: dict[tuple[int, int], list[str]] = defaultdict(list)
    for run, name in zip(collection.runs, names, strict=True):
        asked = min((trial.episodes for trial in run.record.trials), default=0)
        rules = run.record.protocol
        planning = bool(run.record.trials) and all(trial.plans for trial in run.record.trials)
        wanted = protocols.planner_episodes(rules) if planning else rules.evaluation_episodes
        if asked < wanted:
            short[asked, wanted].append(name)
    for (asked, wanted), those in short.items():
        yield _notice(
            "fewer_episodes",
            f"{wording.listing(those)}: {wording.plural(asked, 'episode')} a seed; the protocol averages {wanted:,}.",
        )


def _games_differ(algorithms: Sequence[Algorithm]) -> Iterator[Notice]:
    played = {
        algorithm.name: {score.game for score in algorithm.scores if score.score is not None}
        for algorithm in algorithms
    }
    if not any(played.values()):
        return
    everything = {score.game for algorithm in algorithms for score in algorithm.scores}
    lacking = {name: everything - games for name, games in played.items() if games != everything}
    if lacking:
        what = "; ".join(
            f"{name} lacks {wording.shortened(sorted(map(game_name, games)))}" for name, games in lacking.items()
        )
        yield _notice("games_differ", f"Not every summary is over all the games: {what}.")


def about_estimates(estimates: Sequence[tuple[str, Estimate]]) -> Iterator[Notice]:
    """Say which estimates are doubtful or refused, and how the others are to be read.

    Parameters
    ----------
    estimates : sequence of (str, Estimate)
        Algorithms' names, and what the models say of them.
    """
    for text in dict.fromkeys(text for _, estimate in estimates for text in estimate.warnings):
        doubtful = wording.shortened(name for name, estimate in estimates if text in estimate.warnings)
        yield _notice("estimate_doubtful", f"{doubtful}: {text[0].lower()}{text[1:]}")
    refused = sorted(
        ((estimate, name) for name, estimate in estimates if estimate.missing), key=lambda pair: pair[0].missing
    )
    for missing, group in groupby(refused, key=lambda pair: pair[0].missing):
        pairs = list(group)
        yield _notice(
            "estimate_refused",
            f"No estimate of the {pairs[0][0].suite} median for {wording.shortened(name for _, name in pairs)}: "
            f"{pairs[0][0].title} also needs {wording.listing(missing)}; 'arcademark subset predict' tells it from any "
            "games.",
        )
    used = list(dict.fromkeys((item.subset, item.title, item.suite) for _, item in estimates if item.value is not None))
    for name, title, suite in used:
        yield _notice(
            "estimate_reading",
            f"{title} estimates the {suite} median from {wording.plural(len(subsets.subset(name).tasks), 'game')}. "
            f"Compare {title} estimates with {title} estimates only, not with medians: their biases differ "
            f"(Aitchison et al. 2023, §8). {_error(title, subsets.subset(name))}",
        )
        if subsets.subset(name).purpose == "tuning":
            yield _notice("estimate_tuning", f"{title} is meant for tuning; report results on Atari-5 (§8).")
    if len(used) > 1:
        titles = wording.listing(title for _, title, _ in used)
        yield _notice("estimate_doubtful", f"The estimates come from different models, {titles}: do not compare them.")


def _error(title: str, subset: Subset) -> str:
    if subset.nested is None or subset.relative_error is None:
        return "Its error is the typical one of its model over published algorithms, no confidence interval."
    level, reach = subsets.LEVEL, subsets.conformal_half_width(subset.nested.errors, subsets.LEVEL)
    return explained(title, subset.relative_error, subset.nested, level, reach)


def _complete(algorithms: Sequence[Algorithm]) -> Iterator[Notice]:
    for algorithm in algorithms:
        whole = subsets.subset(algorithm.estimate.subset).suite
        if algorithm.summaries[0].games and _covers(algorithm, whole):
            yield _notice(
                "suite_complete",
                f"{algorithm.name} has all games of {whole}: its median is known, see the summaries; an estimate is "
                "needed only beside other estimates.",
            )


def _covers(algorithm: Algorithm, suite: str) -> bool:
    return set(tasks.suite(suite).tasks) <= {score.game for score in algorithm.scores if score.score is not None}


def _learners(shown: Sequence[PlayedAlgorithm]) -> Iterator[Notice]:
    for algorithm in shown:
        protocol = algorithm.run.record.protocol
        learners = [trial for trial in algorithm.trials if trial.learns]
        given = dict.fromkeys(budgets.training(trial.training_frames, trial.training_episodes) for trial in learners)
        usual = budgets.named(protocol)
        if other := [budget for budget in given if budget and budget != usual]:
            going = any(not learning.finished(trial, algorithm.run.record) for trial in learners)
            how = "is being trained" if going else "was trained"
            yield _notice(
                "training_budget",
                f"{algorithm.name} {how} for {wording.listing(other)}; {protocol.name} gives {usual or 'none'}.",
            )
        trials, wanted = len({trial.seed for trial in learners}), protocols.learner_trials(protocol)
        if wanted is not None and 0 < trials < wanted:
            yield _notice(
                "fewer_trials",
                f"{algorithm.name}: {wording.plural(trials, 'trial')} a game; {protocol.name} averages {wanted}.",
            )


def _test_games(collection: RunCollection) -> Iterator[Notice]:
    entries = [entry for run in collection.runs for entry in ledger.entries_of(run.record)]
    for account in accounts(entries):
        if account.repeated:
            yield _notice("test_games", f"{told(account, paths=False)} 'arcademark ledger' shows more.")


def _scores(algorithms: Sequence[Algorithm], games: Sequence[Game]) -> Iterator[Notice]:
    cut = [(algorithm, score) for algorithm in algorithms for score in algorithm.scores if score.truncated]
    if cut:
        where = wording.shortened(
            f"{algorithm.name} on {game_name(score.game)} ({score.truncated:,} of {score.episodes:,})"
            for algorithm, score in cut
        )
        yield _notice("episodes_truncated", f"The frame cap ended episodes before the game did: {where}.")
    for algorithm in algorithms:
        if algorithm.variants > 1:
            yield _notice(
                "best_of",
                f"{algorithm.name} is on each game the best of {algorithm.variants} agents, one an action (Bellemare "
                "et al. 2013, §3.1.2), chosen on the very episodes shown: a little too good.",
            )
    for lacking, bar in (
        ([game.name for game in games if game.random is None or game.human is None], "random or human average"),
        ([game.name for game in games if game.record is None], "human world record"),
    ):
        if lacking:
            yield _notice(
                "no_reference",
                f"Left out of summaries for want of a {bar} reference score: {wording.shortened(lacking)}.",
            )


def _actions(shown: Sequence[PlayedAlgorithm]) -> Iterator[Notice]:
    for algorithm in shown:
        usual = algorithm.run.record.protocol.frame_skip
        own = {trial.frames_per_action or usual for trial in algorithm.trials} - {usual}
        if own:
            often = wording.listing(map(wording.every, sorted(own)))
            yield _notice(
                "action_interval",
                f"{algorithm.name} chooses an action {often}, its protocol's agents {wording.every(usual)}.",
            )


def _planning(algorithms: Sequence[Algorithm]) -> Iterator[Notice]:
    names = [item.name for item in algorithms if any(score.planning for score in item.scores)]
    if names:
        plans = "plans" if len(names) == 1 else "plan"
        yield _notice(
            "planning",
            f"{wording.listing(names)} {plans} on the emulator, which can be put back to where the game stands: agents "
            "that only act have nothing like it.",
        )


def _hard_exploration(algorithms: Sequence[Algorithm]) -> Iterator[Notice]:
    if any(score.score is not None for algorithm in algorithms for score in algorithm.scores):
        yield _notice(
            "hard_exploration",
            "Small subsets say little about hard exploration (Aitchison et al. 2023, §8.1): its games are listed "
            "separately.",
        )


def _intervals(algorithms: Sequence[Algorithm]) -> Iterator[Notice]:
    scores = [score for algorithm in algorithms for score in algorithm.scores if score.score is not None]
    told = [score for score in scores if score.interval]
    if not told:
        if scores:
            yield _notice("intervals", "No interval: one episode a game, or all alike, do not show how scores vary.")
        return
    remarks = [f"Intervals are {LEVEL:.0%} Student's t over seeds"]
    if any(score.seeds == 1 for score in told):
        remarks.append("with one seed over its episodes, and do not hold the variation from seed to seed")
    if len(told) < len(scores):
        remarks.append("a game with one episode, or where all scored the same, has none")
    yield _notice("intervals", "; ".join(remarks).replace("%", " %") + ".")
