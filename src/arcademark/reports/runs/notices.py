"""Notices that only runs of our own give reason for; see `arcademark.reports.notices`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from arcademark.agents.linear import settings as linear
from arcademark.reports import settings, wording
from arcademark.reports.cells import PlayedAlgorithm
from arcademark.reports.document import Notice
from arcademark.reports.notices import notice
from arcademark.reports.runs import learning
from arcademark.reports.runs.directory import people
from arcademark.reports.runs.ledger import accounts, warning
from arcademark.reports.tables.document import Algorithm, Played
from arcademark.runs.store import imported, ledger, manifest
from arcademark.scores.runs import RunCollection
from arcademark.suite import anomalies, protocols
from arcademark.suite.settings import format_setting
from arcademark.suite.tasks import game_name

MOST_DOUBTS = 4  # that are told one by one


def of_runs(
    collection: RunCollection, shown: Sequence[PlayedAlgorithm], algorithms: Sequence[Algorithm], names: Sequence[str]
) -> Iterator[Notice]:
    """Yield all notices that only runs give reason for."""
    yield from _emulators_differ(collection, names)
    yield from _run_by_run(collection, names)
    yield from _episodes(collection, names)
    yield from _learners(shown)
    yield from _test_games(collection)
    tasks = {item.name for item in shown if item.run.record.protocol.unit == "step"}  # often end by their cap alone
    yield from _starts(algorithms)
    yield from _scores([item for item in algorithms if item.name not in tasks])
    yield from _actions(shown)
    yield from _planning(algorithms, tasks)


def of_scores(collection: RunCollection, names: Sequence[str]) -> Iterator[Notice]:
    """Say what concerns the scores of runs wherever they are used: which are not finished, imported, of one network."""
    yield from _imported(collection, names)
    yield from _unfinished(collection, names)
    yield from _networks(collection)
    yield from _people(collection)


def _imported(collection: RunCollection, names: Sequence[str]) -> Iterator[Notice]:
    """Say which scores were not made here, what was assumed of them, and which look clipped or of one life."""
    for run, name in zip(collection.runs, names, strict=True):
        source = imported.of(run.record)
        if source is None:
            continue
        assumed = f" Assumed: {'; '.join(source['assumed'])}." if source["assumed"] else ""
        averages = (
            f" The logs of {wording.shortened(source['averages'])} have averages over training, no episodes: each "
            "counts as one row of a curve."
            if source["averages"]
            else ""
        )
        yield notice(
            "imported",
            f"{name} was imported from logs made elsewhere ({wording.listing(source['formats'])}): nothing in it was "
            f"verified, or can be.{averages}{assumed}",
        )
        title = run.record.protocol.task_name
        told = [f"{agent} on {title(task)}: {why}" for agent, task, why in source["doubts"]]
        if told:
            yield notice(
                "training_log",
                f"Scores of {name} are hardly raw ones of whole games, so do not compare them with such: "
                f"{'; '.join(told[:MOST_DOUBTS])}{_more(len(told) - MOST_DOUBTS)}.",
                "Play the trained agent with 'arcademark run' for scores that count.",
            )


def _more(left: int) -> str:
    return f"; and {left} more" if left > 0 else ""


def _emulators_differ(collection: RunCollection, names: Sequence[str]) -> Iterator[Notice]:
    pairs = zip(collection.runs, names, strict=True)
    played = [(run, name) for run, name in pairs if imported.of(run.record) is None]
    for run, name in played[1:]:
        first = played[0][0]
        there, here = (entry.record.manifest for entry in (first, run))
        roms = [task for task, md5 in there["games"].items() if here["games"].get(task, md5) != md5]
        titles = wording.listing(map(run.record.protocol.task_name, roms))
        emulators = [entry["versions"].get("ale-py") for entry in (there, here)]
        if run.record.protocol.unit == "step" and roms:
            told = f"{played[0][1]} and {name} were made with different packages, or versions of these, of {titles}."
            yield notice("emulators_differ", told)
        elif run.record.protocol.unit == "frame" and (emulators[0] != emulators[1] or roms):
            which = f", with other ROMs of {titles}" if roms else ""
            yield notice(
                "emulators_differ",
                f"{played[0][1]} was made with ale-py {emulators[0]}, {name} with {emulators[1]}{which}.",
            )


def _run_by_run(collection: RunCollection, names: Sequence[str]) -> Iterator[Notice]:
    for run, name in zip(collection.runs, names, strict=True):
        protocol = run.record.protocol
        if run.record.parts:
            parts = wording.listing(map(str, run.record.parts))
            yield notice(
                "played_apart",
                f"{parts} are of the same agents under the same protocol and share no trial: shown as one run, {name}.",
                f"'arcademark runs merge OUT {' '.join(map(str, run.record.parts))}' makes one of them.",
            )
        if protocol.departures:
            changes = (
                f"{key} is {format_setting(getattr(protocol, key))} instead of {format_setting(original)}"
                for key, original in protocol.departures.items()
            )
            yield notice(
                "modified_protocol",
                f"{name} departs from {protocol.name}: {wording.listing(changes)}. Its scores are comparable only with "
                "others made the same way.",
            )
        if (trained := manifest.trained_under(run.record.directory, run.record.manifest)) is not None:
            yield notice(
                "trained_elsewhere",
                f"What learns in {name} was trained in another run, under {trained.label}, and learnt no more.",
            )
        left_out = run.record.manifest["left_out"]
        if left_out:
            which = wording.shortened(f"{agent} on {protocol.task_name(task)}" for agent, task, _ in left_out)
            why = left_out[0][2] if len(left_out) == 1 else f"of the first, {left_out[0][2]}"
            yield notice("left_out", f"{name} leaves out what cannot be played: {which}; {why}.")


def _unfinished(collection: RunCollection, names: Sequence[str]) -> Iterator[Notice]:
    for run, name in zip(collection.runs, names, strict=True):
        failed, title = [trial for trial in run.incomplete if trial.status == "failed"], run.record.protocol.task_name
        if failed:
            where = wording.shortened(f"{trial.algorithm} on {title(trial.task)}" for trial in failed)
            yield notice("trials_failed", f"{wording.plural(len(failed), 'trial')} of {name} failed: {where}.")
        waiting = [trial for trial in run.incomplete if trial.status not in ("failed", "done")]
        if waiting:
            played, planned = sum(trial.played for trial in waiting), sum(trial.planned for trial in waiting)
            yield notice(
                "trials_incomplete",
                f"{wording.plural(len(waiting), 'trial')} of {name} "
                f"{'is' if len(waiting) == 1 else 'are'} not finished: {played:,} of {planned:,} episodes are "
                "there so far.",
                "The same command again continues; where it has --shard, only that shard.",
            )
        if short := [trial for trial in run.incomplete if trial.status == "done"]:
            played, planned = sum(trial.played for trial in short), sum(trial.planned for trial in short)
            yield notice(
                "training_short",
                f"{wording.plural(len(short), 'training')} of {name} ended with fewer episodes than the score is the "
                f"mean of: {played:,} of {planned:,}.",
                "A larger budget (--frames), in another directory, has more.",
            )


def _networks(collection: RunCollection) -> Iterator[Notice]:
    for agent in (one for run in collection.runs for one in run.record.manifest["agents"]):
        if (agent.get("parameters") or {}).get("device", "cpu") != "cpu":
            yield notice(
                "device",
                f"{agent['label']} was computed on a GPU, whose last bits may depend on its kind: another may choose "
                "other actions. 'arcademark verify' confirms the scores wherever it runs.",
            )


def _people(collection: RunCollection) -> Iterator[Notice]:
    """Say who is a person; Mnih et al. 2015 had theirs play in real time, without pauses or sound (Methods)."""
    for person in (one for run in collection.runs for one in people(run.record)):
        took = f"{wording.time_span(person.seconds)} for {wording.time_span(person.game_seconds)} of the game"
        if person.stepped:
            yield notice(
                "human_stepped",
                f"{person.agent} is a person for whom the game waited before each action: {took}. Human reference "
                "scores were made in real time.",
            )
        else:
            yield notice("human", f"{person.agent} is a person, who played in real time: {took}, with pauses.")


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
        yield notice(
            "fewer_episodes",
            f"{wording.listing(those)}: {wording.plural(asked, 'episode')} a seed; the protocol averages {wanted:,}.",
        )


def _starts(algorithms: Sequence[Algorithm]) -> Iterator[Notice]:
    """Say of how few episodes scores are where agents that draw nothing, or chance, play the same ones again."""
    for algorithm in algorithms:
        played = [(game_name(score.game), score.played) for score in algorithm.scores if score.played]
        cells = [(game, cell) for game, cell in played if cell.episodes]
        if exact := [game for game, cell in cells if cell.exact]:
            yield notice(
                "starts",
                f"{algorithm.name} draws nothing, nor does the game but its start, and each start was played as often "
                f"on {wording.shortened(exact)}: more episodes would repeat these. So the score is exact and has no "
                "interval over episodes; it says nothing of how trainings vary.",
            )
        if few := [(game, cell) for game, cell in cells if cell.possible and cell.different < cell.possible]:
            most = wording.listing([f"{number:,}" for number in sorted({cell.possible or 0 for _, cell in few})], "or")
            yield notice(
                "few_starts",
                f"{algorithm.name} draws nothing, nor does the game but its start, so there are {most} different "
                f"episodes at most: {_different(few)} are. A few of them may look like disagreement with another "
                "evaluation of the same agent.",
                "'--episodes all-starts' plays each no-op start once; the score is then exact.",
            )
        again = [(game, cell) for game, cell in cells if cell.different < len(cell.episodes) and not cell.exact]
        if again and not few:
            yield notice(
                "starts",
                f"Episodes of {algorithm.name} are the same again, with the same start and actions, and count once in "
                f"intervals: {_different(again)} are different.",
            )


def _different(cells: Sequence[tuple[str, Played]]) -> str:
    return wording.shortened(f"{cell.different:,} of {len(cell.episodes):,} on {game}" for game, cell in cells)


def _learners(shown: Sequence[PlayedAlgorithm]) -> Iterator[Notice]:
    for algorithm in shown:
        protocol = algorithm.run.record.protocol
        learners = [trial for trial in algorithm.trials if trial.learns]
        given = dict.fromkeys(
            settings.budget(trial.training_frames, trial.training_episodes, protocol.unit) for trial in learners
        )
        usual = settings.named_budget(protocol)
        if other := [budget for budget in given if budget and budget != usual]:
            going = any(not learning.finished(trial, algorithm.run.record) for trial in learners)
            how = "is being trained" if going else "was trained"
            yield notice(
                "training_budget",
                f"{algorithm.name} {how} for {wording.listing(other)}; {protocol.name} gives {usual or 'none'}.",
            )
        labels = {trial.agent for trial in learners}
        for agent in (one for one in algorithm.run.record.manifest["agents"] if one["label"] in labels):
            if agent.get("reference") == linear.NAME and (told := linear.origin(agent.get("parameters") or {})):
                yield notice("parameters", f"{algorithm.name}: {told}")
        trials, wanted = len({trial.seed for trial in learners}), protocols.learner_trials(protocol)
        if wanted is not None and 0 < trials < wanted:
            yield notice(
                "fewer_trials",
                f"{algorithm.name}: {wording.plural(trials, 'trial')} a {wording.noun(protocol.unit)}; {protocol.name} "
                f"averages {wanted}.",
            )


def _test_games(collection: RunCollection) -> Iterator[Notice]:
    entries = [entry for run in collection.runs for entry in ledger.entries_of(run.record)]
    for account in accounts(entries):
        if account.repeated:
            yield notice("test_games", warning(account, paths=False), "'arcademark runs ledger' shows more.")


def _scores(algorithms: Sequence[Algorithm]) -> Iterator[Notice]:
    cut = [
        (score.game, f"{algorithm.name} on {game_name(score.game)} ({sum(ends):,} of {len(ends):,})")
        for algorithm in algorithms
        for score in algorithm.scores
        if score.played and any(ends := score.played.truncated)
    ]
    if cut:
        where = wording.shortened([told for _, told in cut])
        odd = [game_name(game) for game in dict.fromkeys(game for game, _ in cut) if anomalies.endless(game)]
        hint = f"Play is known to go on for ever at times on {wording.listing(odd)}." if odd else ""
        yield notice("episodes_truncated", f"The frame cap ended episodes before the game did: {where}.", hint)
    for algorithm in algorithms:
        if algorithm.variants > 1:
            yield notice(
                "best_of",
                f"{algorithm.name} is on each game the best of {algorithm.variants} agents, one an action (Bellemare "
                "et al. 2013, §3.1.2), chosen on the very episodes shown: a little too good.",
            )


def _actions(shown: Sequence[PlayedAlgorithm]) -> Iterator[Notice]:
    for algorithm in shown:
        usual = algorithm.run.record.protocol.frame_skip
        own = {trial.frames_per_action or usual for trial in algorithm.trials} - {usual}
        if own:
            often = wording.listing(map(wording.every, sorted(own)))
            yield notice(
                "action_interval",
                f"{algorithm.name} chooses an action {often}, its protocol's agents {wording.every(usual)}.",
            )


def _planning(algorithms: Sequence[Algorithm], tasks: Collection[str]) -> Iterator[Notice]:
    names = [item.name for item in algorithms if any(score.played and score.played.planning for score in item.scores)]
    if names:
        plans = "plans" if len(names) == 1 else "plan"
        model = "copies of the task" if tasks else "the emulator"
        place = "can be made of where it stands" if tasks else "can be put back to where the game stands"
        yield notice(
            "planning",
            f"{wording.listing(names)} {plans} on {model}, which {place}: agents that only act have nothing like it.",
        )
