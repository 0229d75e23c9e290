"""Paragraphs for a paper's methods section, written from the settings in force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arcademark.metrics.uncertainty.intervals import LEVEL
from arcademark.reports import settings, wording
from arcademark.reports.document import Estimate
from arcademark.reports.record import Imported, ProtocolView, Run
from arcademark.reports.runs.directory import known_set
from arcademark.reports.subsets import predictors
from arcademark.reports.subsets.models import ANY
from arcademark.reports.tables.document import Algorithm, Game
from arcademark.suite import subsets

OF_EVERY_RUN = frozenset({"arcademark", "ale-py", "numpy", "python"})  # of what there are versions
MOST_NAMES = 10  # games that are named one by one, where a suite's name says the same


def paragraphs(
    algorithms: Sequence[Algorithm], games: Sequence[Game], runs: Sequence[Run], scope: str
) -> tuple[str, ...]:
    """Say how the scores were made, run by run, and what was worked out from them."""
    return (
        *(
            _played(run, runs[:index], [item for item in algorithms if item.run == run.name], games)
            for index, run in enumerate(runs)
        ),
        " ".join(_measured(algorithms, games, scope, wording.noun(runs[0].protocol.unit))),
        *_estimated(algorithms),
    )


def _played(run: Run, before: Sequence[Run], algorithms: Sequence[Algorithm], games: Sequence[Game]) -> str:
    versions, protocol = run.versions, run.protocol
    said = any(protocol == other.protocol for other in before)
    if run.imported is not None:
        return " ".join(_imported(run, run.imported, algorithms, games))
    if protocol.unit == "step":
        return " ".join(_of_tasks(run, algorithms, games, said))
    sentences = [
        f"We evaluated {wording.shortened(run.agents, most=4)} on {_names(run, games)} in the "
        f"Arcade Learning Environment (Bellemare et al. 2013; ale-py {versions.get('ale-py', 'unknown')}) with "
        f"ArcadeMark {versions.get('arcademark', 'unknown')} under its protocol “{protocol.name}”, after "
        f"{protocol.citation}{', set as above' if said else ''}.",
        *_libraries(run),
        *(() if said else _protocol(protocol)),
        _episodes("game", run),
        *_emulated(run),
        *_trained(protocol, algorithms),
        *_scored(protocol, algorithms),
        *_exceptions(protocol, algorithms),
        *_planned(protocol, algorithms),
        *_people(run),
    ]
    if run.troubles:
        sentences.append(f"Of {wording.plural(len(run.trials), 'trial')}, {len(run.troubles)} did not finish.")
    return " ".join(sentences)


def _episodes(noun: str, run: Run) -> str:
    counts = f"{wording.listing(map(str, run.episodes))} scored episode{'' if run.episodes == (1,) else 's'} a seed"
    return f"Each {noun} was played with {wording.plural(len(run.seeds), 'seed')} and {counts}."


def _of_tasks(run: Run, algorithms: Sequence[Algorithm], games: Sequence[Game], said: bool) -> Iterator[str]:
    """Say how scores on other tasks than Atari games were made."""
    protocol, values = run.protocol, _values(run.protocol)
    source = f" ({protocol.citation})" if protocol.citation else ""
    yield (
        f"We evaluated {wording.shortened(run.agents, most=4)} on {_names(run, games)} of the suite “{protocol.title}”"
        f"{source}, made with {wording.listing(dict.fromkeys(run.roms.values())) or 'Gymnasium'}, with ArcadeMark "
        f"{run.versions.get('arcademark', 'unknown')}{', set as above' if said else ''}."
    )
    cap = values["max_steps_per_episode"]
    if cap is not None and not said:
        yield f"An episode is cut after {cap:,} steps, or sooner where its environment says so."
    yield _episodes("task", run)
    for item in algorithms:
        if item.learns:
            budget = settings.budget(item.training_frames, item.training_episodes, "step")
            yield f"{item.name} was trained on each task for {budget}."
    yield from _scored(protocol, algorithms)
    if run.troubles:
        yield f"Of {wording.plural(len(run.trials), 'trial')}, {len(run.troubles)} did not finish."


def _imported(run: Run, source: Imported, algorithms: Sequence[Algorithm], games: Sequence[Game]) -> Iterator[str]:
    logs = wording.plural(len(source.files), "log")
    yield (
        f"Scores of {wording.shortened(run.agents, most=4)} on {_names(run, games)} were not made with ArcadeMark: "
        f"they are imported from {logs} made elsewhere ({wording.listing(source.formats)}) and not verified. They are "
        f"set beside scores under “{run.protocol.name}”."
    )
    yield f"Each game has {wording.plural(len(run.seeds), 'seed')}."
    for item in algorithms:
        if item.training_frames:
            yield f"{item.name} was trained on a game for up to {wording.count(item.training_frames)} frames."
    yield from (f"It was assumed that {text}." for text in source.assumed)
    yield from (f"Scores of {agent} on {game} are doubtful: {why}." for agent, game, why in source.doubts)


def _people(run: Run) -> Iterator[str]:
    """Say how people played."""
    for person in run.people:
        pace = "the game stood still until an action was chosen" if person.stepped else "in real time"
        yield (
            f"{person.agent} is a person, who saw the screen itself and played with keys or a gamepad, without sound, "
            f"{pace} (60 frames a second, an action read where an agent would choose one)."
        )


def _libraries(run: Run) -> Iterator[str]:
    """Name the libraries of agents."""
    if found := [f"{name} {version}" for name, version in run.versions.items() if name not in OF_EVERY_RUN]:
        yield f"Agents used {wording.listing(found)}."


def _names(run: Run, games: Sequence[Game]) -> str:
    known = known_set([game.id for game in games if game.name in run.games]) if run.protocol.unit == "frame" else ""
    return known if known and len(run.games) > MOST_NAMES else wording.listing(run.games)


def _emulated(run: Run) -> Iterator[str]:
    if any(label.startswith("console ") for used in run.emulators.values() for label in used):
        yield f"They were played on {run.played_on}; ArcadeMark's console emulates what ale-py does, bit for bit."


def _values(protocol: ProtocolView) -> dict[str, Any]:
    return {setting.field: setting.value for setting in protocol.settings}


def _exceptions(protocol: ProtocolView, algorithms: Sequence[Algorithm]) -> Iterator[str]:
    usual = _values(protocol)["frame_skip"]
    for frames in sorted({item.frames_per_action or usual for item in algorithms} - {usual}):
        names = wording.listing(item.name for item in algorithms if item.frames_per_action == frames)
        yield f"An action of {names} is held for {wording.plural(frames, 'frame')} instead."


def _planned(protocol: ProtocolView, algorithms: Sequence[Algorithm]) -> Iterator[str]:
    counted = "count" if _values(protocol)["counted_frames"] == "emulated" else "do not count"
    for item in algorithms:
        costs = [cost for score in item.scores if score.played and (cost := score.played.planning)]
        if costs:
            decisions, frames = sum(cost.decisions for cost in costs), sum(cost.simulated_frames for cost in costs)
            yield (
                f"{item.name} plans with a second emulator as a model of the game, which simulated "
                f"{round(frames / decisions):,} frames a decision on average, {frames:,} in all; under the protocol "
                f"these {counted} as frames used."
            )


def _trained(protocol: ProtocolView, algorithms: Sequence[Algorithm]) -> Iterator[str]:
    values = _values(protocol)
    rules = [
        *(["a lost life ends a training episode"] if values["training_episode_end"] != "game_over" else []),
        *(["a reward is given as its sign"] if values["training_reward_clipping"] else []),
    ]
    original: dict[str, Any] = {setting.field: setting.original for setting in protocol.settings}
    but = f", where {wording.listing(rules)}" if rules else ""
    for item in algorithms:
        if item.frames_of_files:
            yield (
                f"{item.name} was trained before, for {wording.count(item.training_frames or 0)} frames a game and "
                "seed on average, as the files of its networks say."
            )
        if item.learns:
            budget = settings.budget(item.training_frames, item.training_episodes)
            usual = settings.budget(original["training_frames"], original["training_episodes"])
            other = "" if budget == usual else f" {protocol.name} gives {usual or 'no training'}."
            yield f"{item.name} was trained on each game for {budget}{but}.{other}"


def _scored(protocol: ProtocolView, algorithms: Sequence[Algorithm]) -> Iterator[str]:
    """Say which episodes make a score, where the protocol reports training and not everyone learns."""
    learners = [item.name for item in algorithms if item.learns]
    others = [item.name for item in algorithms if not item.learns]
    if _values(protocol)["reported_episodes"] == "training_last_k":
        if learners:
            yield f"The scored episodes of {wording.listing(learners)} are the last of training."
        if others:
            learns = "does not learn and was" if len(others) == 1 else "do not learn and were"
            yield f"{wording.listing(others)} {learns} scored on evaluation episodes; the protocol scores training."
    elif learners:
        yield f"The scored episodes of {wording.listing(learners)} are of evaluation, after training."


def _protocol(protocol: ProtocolView) -> Iterator[str]:
    values = _values(protocol)
    phrases = {
        name: words.phrases.get(str(values[name]), "") for name, words in settings.FIELDS.items() if name in values
    }
    sticky = values["repeat_action_probability"]
    held = wording.plural(values["frame_skip"], "frame")
    yield f"An action, chosen from {phrases['action_set']}, is held for {held}."
    if sticky:
        yield f"On every frame the previous action is repeated with probability {sticky:g} (Machado et al. 2018)."
    else:
        yield "Actions are never repeated against the agent's choice."
    cap = values["max_frames_per_episode"]
    limit = "without a cap on frames" if cap is None else f"or is cut after {cap:,} frames ({wording.duration(cap)})"
    yield (
        f"An episode starts from {phrases['start'].format(**values)} and ends when "
        f"{phrases['evaluation_episode_end']}, {limit}."
    )
    yield _observation(phrases["observation"], values["screen_size"], values["frame_stack"], values["max_pool"])
    changed = [setting for setting in protocol.settings if setting.overridden]
    if changed:
        changes = wording.listing(
            f"{setting.title[0].lower()}{setting.title[1:]} ({setting.text}; there {setting.original_text})"
            for setting in changed
        )
        yield f"This departs from the named protocol in {changes}."


def _observation(screens: str, size: Sequence[int] | None, stack: int, max_pool: bool | str) -> str:
    if not screens:
        return "The agent is offered the console's 128 bytes of RAM."
    shape = f" of {size[0]} × {size[1]}" if size else ""
    pooled = ", each the maximum of the last two frames" if max_pool else ""
    return f"The agent is offered {f'the last {stack} ' if stack > 1 else ''}{screens}{shape}{pooled}."


def _measured(algorithms: Sequence[Algorithm], games: Sequence[Game], scope: str, noun: str) -> Iterator[str]:
    yield f"A {noun}'s score is the mean over seeds of the mean undiscounted, unclipped score of a seed's episodes."
    told = [score for algorithm in algorithms for score in algorithm.scores if score.score.low is not None]
    if told:
        single = any(score.runs == 1 for score in told)
        alone = f", or over the episodes of a {noun}'s only seed, which leaves out how seeds differ" if single else ""
        yield f"Intervals are {LEVEL * 100:g} % Student's t over seeds{alone}."
    if any(game.references.get("low") is not None for game in games):
        yield "Normalised scores place each task's lower reference score at 0 % and its upper one at 100 %."
    if any(game.references.get("human") is not None for game in games):
        yield (
            "Human-normalised scores (HNS) place random play at 0 % and the human average at 100 %, with the reference "
            "scores of Aitchison et al. 2023, Table 12 (from Badia et al. 2020)."
        )
    if any(game.references.get("human_world_record") is not None for game in games):
        yield (
            "Human-world-record-normalised scores (HWRNS) place the human world record at 100 %, with the records of "
            "Fan 2021, Table 7; from there a record counts as broken. SABER holds HWRNS within 0 and 200 % (Toromanoff "
            "et al. 2019)."
        )
    if any(short.games for algorithm in algorithms for short in algorithm.summaries):
        if any(short.games < len(games) for algorithm in algorithms for short in algorithm.summaries):
            scope = f"those of {scope} that have a score and the references it needs"
        what, them = ("HNS", "them and of SABER") if noun == "game" else ("scores", "them")
        yield (
            f"Mean, median and interquartile mean (IQM; Agarwal et al. 2021) are over {scope}; "
            f"the IQM drops a quarter of the scores at each end, a score being that of one seed on one {noun}. Capped "
            f"{what} are held within 0 and 100 %; of {them}, mean and median are of {noun}s' means over seeds, "
            "capped, and the IQM is of each seed's score, capped."
        )
    for algorithm in algorithms:
        if algorithm.variants > 1:
            yield (
                f"The baseline {algorithm.name} is the best of {algorithm.variants} agents on each game (Bellemare et "
                "al. 2013, §3.1.2)."
            )


def _from_any(told: Sequence[tuple[str, Estimate]]) -> str:
    first = told[0][1]
    predictor = predictors.atari(first.suite)
    values = wording.listing(
        f"{who} {wording.percent(estimate.value)} ({wording.number(estimate.low)} to {wording.percent(estimate.high)}) "
        f"from {estimate.title}"
        for who, estimate in told
    )
    return (
        f"The median HNS over all games of {first.suite} is estimated from the games that were played, by a normal "
        f"distribution of all games' log scores that was fitted to {len(predictor.trained.algorithms)} published "
        f"algorithms of {len(set(predictor.trained.groups))} papers (ArcadeMark), with {100 * first.level:g} % "
        f"intervals for algorithms of other papers: {values}."
    )


def _estimated(algorithms: Sequence[Algorithm]) -> Iterator[str]:
    pairs = ((item.name, one) for item in algorithms for one in (item.estimate, item.published))
    told = [(name, one) for name, one in pairs if one and one.value is not None]
    if from_any := [pair for pair in told if pair[1].subset == ANY]:
        yield _from_any(from_any)
    for name in dict.fromkeys(estimate.subset for _, estimate in told if estimate.subset != ANY):
        subset = subsets.subset(name)
        shown = [pair for pair in told if pair[1].subset == name]
        title, error = shown[0][1].title, shown[0][1].printed_error or 0.0
        nested = ""
        if subset.nested is not None:
            nested = f" (on papers left out when its games were chosen: {wording.share(subset.nested.mean)})"
        terms = ", ".join(f"{coefficient:g}" for coefficient in subset.coefficients or ())
        doubtful = any(estimate.warnings for _, estimate in shown)
        caveat = (
            " The scores were not made under the frame cap that the model holds for, so the estimate is not reliable."
            if doubtful
            else ""
        )
        yield (
            f"The median HNS over all games of {subset.suite} is estimated from "
            f"{wording.plural(len(subset.tasks), 'game')} with the {title} model of Aitchison et al. 2023, "
            f"10^(Σ cᵢ·log₁₀(1 + max(0, sᵢ))) − 1 with c = ({terms}), "
            f"whose printed typical relative error is {wording.share(error)}{nested}: "
            f"{wording.listing(f'{who} {wording.percent(estimate.value)}' for who, estimate in shown)}."
            f"{caveat} {title} estimates are to be compared with {title} estimates."
        )
