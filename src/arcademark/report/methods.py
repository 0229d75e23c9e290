"""Paragraphs for a paper's methods section, written from the settings in force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arcademark.metrics.intervals import LEVEL, RESAMPLES
from arcademark.report import wording
from arcademark.report.document import Algorithm, Game, ProtocolView, Run
from arcademark.suite import subsets

_STARTS = {"reset": "the emulator's reset", "noop": "1 to {noop_max} no-op frames", "human": "human play"}
_ENDS = {"game_over": "the game is over", "life_lost": "a life is lost"}
_SCREENS = {"grayscale": "grayscale screens", "rgb": "colour screens", "palette": "screens of palette indices"}


def paragraphs(
    algorithms: Sequence[Algorithm], games: Sequence[Game], runs: Sequence[Run], scope: str
) -> tuple[str, ...]:
    """Say how the scores were made, run by run, and what was worked out from them."""
    return (
        *(_played(run, runs[:index]) for index, run in enumerate(runs)),
        " ".join(_measured(algorithms, games, scope)),
        *_estimated(algorithms),
    )


def _played(run: Run, before: Sequence[Run]) -> str:
    versions = dict(run.versions)
    protocol = run.protocol
    said = any(protocol == other.protocol for other in before)
    sentences = [
        f"We evaluated {wording.shortened(run.agents, most=4)} on {wording.shortened(run.games, most=10)} in the "
        f"Arcade Learning Environment (Bellemare et al. 2013; ale-py {versions.get('ale-py', 'unknown')}) with "
        f"ArcadeMark {versions.get('arcademark', 'unknown')} under its protocol “{protocol.name}”, after "
        f"{protocol.citation}{', set as above' if said else ''}.",
        *(() if said else _protocol(protocol)),
        f"Each game was played with {wording.plural(len(run.seeds), 'seed')} and "
        f"{wording.listing(map(str, run.episodes))} scored episode{'' if run.episodes == (1,) else 's'} a seed.",
    ]
    if run.troubles:
        sentences.append(f"Of {wording.plural(len(run.trials), 'trial')}, {len(run.troubles)} did not finish.")
    return " ".join(sentences)


def _protocol(protocol: ProtocolView) -> Iterator[str]:
    values = {setting.field: setting.value for setting in protocol.settings}
    sticky = values["repeat_action_probability"]
    actions = "all actions of the joystick" if values["action_set"] == "full" else "the game's minimal action set"
    yield f"An action, chosen from {actions}, is held for {wording.plural(values['frame_skip'], 'frame')}."
    if sticky:
        yield f"On every frame the previous action is repeated with probability {sticky:g} (Machado et al. 2018)."
    else:
        yield "Actions are never repeated against the agent's choice."
    cap = values["max_frames_per_episode"]
    limit = "without a cap on frames" if cap is None else f"or is cut after {cap:,} frames ({wording.duration(cap)})"
    yield (
        f"An episode starts from {_STARTS[values['start']].format(**values)} and ends when "
        f"{_ENDS[values['evaluation_episode_end']]}, {limit}."
    )
    yield _observation(values["observation"], values["screen_size"], values["frame_stack"], values["max_pool"])
    changed = [setting for setting in protocol.settings if setting.overridden]
    if changed:
        changes = wording.listing(
            f"{setting.title[0].lower()}{setting.title[1:]} ({setting.text}; there {setting.original_text})"
            for setting in changed
        )
        yield f"This departs from the named protocol in {changes}."


def _observation(kind: str, size: Sequence[int] | None, stack: int, max_pool: bool) -> str:
    if kind == "ram":
        return "The agent is offered the console's 128 bytes of RAM."
    shape = f" of {size[0]} × {size[1]}" if size else ""
    pooled = ", each the maximum of the last two frames" if max_pool else ""
    return (
        f"The agent is offered the last {stack} {_SCREENS[kind]}{shape}{pooled}."
        if stack > 1
        else (f"The agent is offered {_SCREENS[kind]}{shape}{pooled}.")
    )


def _measured(algorithms: Sequence[Algorithm], games: Sequence[Game], scope: str) -> Iterator[str]:
    yield (
        "A game's score is the mean over seeds of the mean undiscounted, unclipped score of a seed's episodes; "
        f"intervals are {LEVEL * 100:g} % percentile bootstrap over seeds and episodes ({RESAMPLES:,} resamples; "
        "Efron and Tibshirani 1993)."
    )
    if any(game.human is not None for game in games):
        yield (
            "Human-normalised scores (HNS) place random play at 0 % and the human average at 100 %, with the reference "
            "scores of Aitchison et al. 2023, Table 12 (from Badia et al. 2020)."
        )
    if any(game.record is not None for game in games):
        yield (
            "Human-world-record-normalised scores (HWRNS) place the human world record at 100 % (Fan 2021); SABER "
            "holds them within 0 and 200 % (Toromanoff et al. 2019)."
        )
    yield (
        f"Mean, median and interquartile mean (Agarwal et al. 2021) are over {scope}; capped HNS are held within 0 and "
        "100 % on each game."
    )
    for algorithm in algorithms:
        if algorithm.training_frames is not None:
            yield f"The agent {algorithm.name} was trained on each game for {algorithm.training_frames:,} frames."
        if algorithm.variants > 1:
            yield (
                f"The baseline {algorithm.name} is the best of {algorithm.variants} agents on each game (Bellemare et "
                "al. 2013, §3.1.2)."
            )


def _estimated(algorithms: Sequence[Algorithm]) -> Iterator[str]:
    for name in dict.fromkeys(item.estimate.subset for item in algorithms if item.estimate.value is not None):
        subset = subsets.subset(name)
        shown = [item for item in algorithms if item.estimate.subset == name and item.estimate.value is not None]
        title, error = shown[0].estimate.title, shown[0].estimate.relative_error or 0.0
        terms = ", ".join(f"{coefficient:g}" for coefficient in subset.coefficients or ())
        doubtful = any(item.estimate.warnings for item in shown)
        caveat = (
            " The scores were not made under the frame cap that the model holds for, so the estimate is not reliable."
            if doubtful
            else ""
        )
        yield (
            f"The median HNS over all games of {subset.suite} is estimated from "
            f"{wording.plural(len(subset.tasks), 'game')} with the {title} model of Aitchison et al. 2023, "
            f"10^(Σ cᵢ·log₁₀(1 + max(0, sᵢ))) − 1 with c = ({terms}), "
            f"whose printed typical relative error is {wording.percent(100 * error)}: "
            f"{wording.listing(f'{item.name} {wording.percent(item.estimate.value)}' for item in shown)}."
            f"{caveat} {title} estimates are to be compared with {title} estimates."
        )
