"""Write the pages of our trained agents, in docs/results, from the data that the project keeps of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from arcademark.analysis import estimates, measures
from arcademark.analysis.estimates import Estimate
from arcademark.analysis.subsets import predictors
from arcademark.metrics import aggregate, normalise
from arcademark.metrics.efficiency import game_time_days, learning_efficiency
from arcademark.metrics.uncertainty.intervals import score_intervals, student
from arcademark.reproduce.ale2013.ours import LAST, CurvePoint, TrialResult, curves, results
from arcademark.subset.predict.outlook import Outlook, Range
from arcademark.suite.subsets import LEVEL, Subset, subset
from arcademark.suite.tasks import game_name, score_bounds, suite
from arcademark.wording import between, fixed, listing, percent, score, span

FOLDER = Path(__file__).parents[1] / "docs" / "results"
ALL = suite("atari-57").tasks
CAP = 108_000
USUAL_K = 100
AT_ONCE = {"ppo-world-records": 15, "ppo-tuning": 18, "ppo-atari-57": 18}
"""How many trainings of a study shared the machine, one H100 with NVIDIA's MPS and 16 cores."""
CHOSEN = "ppo(learning_rate=0.001, device=cuda, clip_range=0.2)"
"""The setting that was chosen, as the tuning calls it."""


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """Return a table, of which so many first columns are words and the others numbers."""
    marks = [":---" if place < words else "---:" for place in range(len(heading))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heading, marks, *rows))


def page(*parts: str) -> str:
    """Return a page of paragraphs and tables."""
    return "\n\n".join(parts) + "\n"


def normalised(metric: str, scores: Mapping[str, float]) -> dict[str, float]:
    """Return raw scores in percent."""
    values = measures.atari()[metric].normaliser(np.array([*scores.values()]), tuple(scores))
    return dict(zip(scores, values.tolist(), strict=True))


def by_game(scores: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """Return the scores of each game's seeds."""
    seeds: dict[str, list[float]] = {}
    for game, value in scores:
        seeds.setdefault(game, []).append(value)
    return seeds


def means(scores: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return each game's mean over seeds."""
    return {game: float(np.mean(seeds)) for game, seeds in by_game(scores).items()}


def interval(low: float | None, high: float | None) -> str:
    """Say an interval of scores."""
    if low is None or high is None or np.isnan(low):
        return "–"
    return span(low, high, 0 if max(abs(low), abs(high)) >= 1000 else 1)


def over_seeds(game: str, seeds: Sequence[float]) -> str:
    """Say the 95 % interval of a game's mean over seeds."""
    _, low, high, _ = score_intervals([np.array(seeds)], [score_bounds(game)])[0].tolist()
    return interval(low, high)


SPENT = ("", "trials", "frames played", "hours of all processes", "hours ÷ concurrent trainings")


def spent(what: str, study: str, trials: Sequence[TrialResult]) -> tuple[str, ...]:
    """Say what trials cost."""
    hours = sum(trial.seconds for trial in trials) / 3600
    frames = sum(trial.frames for trial in trials)
    return what, str(len(trials)), f"{frames:,}", fixed(hours), fixed(hours / AT_ONCE[study], 3)


def summaries(scores: Mapping[str, float]) -> dict[str, float]:
    """Return what the review reports of several games, in percent but for the records."""
    hns, hwrns, saber = ([*normalised(name, scores).values()] for name in ("hns", "hwrns", "saber"))
    return {
        "mean HNS": float(aggregate.mean(hns)),
        "median HNS": float(aggregate.median(hns)),
        "mean HWRNS": float(aggregate.mean(hwrns)),
        "median HWRNS": float(aggregate.median(hwrns)),
        "mean SABER": float(aggregate.mean(saber)),
        "records broken": float(len(normalise.reaching(hwrns, tuple(scores)))),
    }


def summary(name: str, value: float) -> str:
    """Say one of them."""
    return f"{value:.0f}" if name == "records broken" else percent(value)


def world_records() -> str:
    """Return the page of PPO under the world records' protocol."""
    study = "ppo-world-records"
    trials = results(study)
    budget, seeds = trials[0].budget, by_game((trial.game, trial.mean) for trial in trials)
    curve: dict[tuple[str, int], list[CurvePoint]] = {}
    for point in curves(study):
        curve.setdefault((point.game, point.seed), []).append(point)
    by_k = {k: means((points[-1].game, points[-1].last(k)) for points in curve.values()) for k in LAST}
    scores = by_k[USUAL_K]
    of_k = {k: summaries(by_k[k]) for k in LAST}
    medians = {k: of_k[k]["median HNS"] for k in LAST}
    fewest = {game: min(points[-1].episodes for (name, _), points in curve.items() if name == game) for game in seeds}
    moved = {game: max(abs(by_k[k][game] - scores[game]) for k in LAST) for game in seeds}
    reach = {
        game: student(len(each) - 1, 0.95) * float(np.std(each, ddof=1)) / len(each) ** 0.5
        for game, each in seeds.items()
    }
    then = []
    for part in range(1, 11):
        until = budget * part // 10
        so_far = [points if part == 10 else [one for one in points if one.frames <= until] for points in curve.values()]
        if all(so_far):
            then.append((until, summaries(means((points[-1].game, points[-1].last(USUAL_K)) for points in so_far))))
    rates = [float(learning_efficiency(item["mean HNS"] / 100, frames)) for frames, item in then]
    best = int(np.argmax(rates))
    return page(
        "# PPO under the world records' protocol",
        f"`ppo` (Stable-Baselines3, settings of RL Baselines3 Zoo) under `world-records` on {len(seeds)} games, "
        f"{len(trials) // len(seeds)} seeds each, trained for {budget:,} frames per trial, {percent(budget / 2e6)} of "
        "the protocol's 200 million. The page is an example of the report that the review of 2021 asks for, not a "
        "claim about PPO. As the protocol requires, rewards are not clipped. A score is the mean of the last "
        f"{USUAL_K} training episodes. HNS, HWRNS and SABER are the score normalised by the human average, by the "
        "human world record, and by the record with a cap of 200 %.",
        "## Scores",
        "Intervals are clipped to the scores that a game can give; those with ± below are not.",
        table(
            ("game", "seeds", "score", "95 % over seeds", "HNS", "HWRNS", "SABER"),
            (
                (
                    *(game_name(game), ", ".join(map(score, seeds[game])), score(scores[game])),
                    over_seeds(game, seeds[game]),
                    *(percent(normalised(name, scores)[game]) for name in ("hns", "hwrns", "saber")),
                )
                for game in seeds
            ),
        ),
        table(SPENT, [spent("total", study, trials)]),
        f"A trial is {game_time_days(budget) * 24:.1f} hours of game time; {AT_ONCE[study]} trainings shared one H100 "
        "and 16 cores.",
        "## Dependence on k",
        "The review asks for training scores averaged over k consecutive episodes, and leaves k open; the papers "
        "that it lists use 5 to 1,000. The table gives, for the same trials, the mean over seeds of the last k "
        "episodes, or of all if a seed has fewer.",
        table(
            ("game", *(f"k = {k:,}" for k in LAST), "fewest episodes", "largest change", "95 % over seeds"),
            (
                (
                    *(game_name(game), *(score(by_k[k][game]) for k in LAST)),
                    *(f"{fewest[game]:,}", score(moved[game]), f"± {score(reach[game])}"),
                )
                for game in seeds
            ),
        ),
        table(
            ("over the games", *(f"k = {k:,}" for k in LAST)),
            ((name, *(summary(name, of_k[k][name]) for k in LAST)) for name in of_k[USUAL_K]),
        ),
        f"*Largest change* is from the score with k = {USUAL_K}; it exceeds the interval over seeds on "
        f"{sum(moved[game] > reach[game] for game in seeds)} of the {len(seeds)} games. Summaries of few games change "
        "more: the median HNS is "
        f"{percent(min(medians.values()))} with k = {min(medians, key=medians.__getitem__)} and "
        f"{percent(max(medians.values()))} with k = {max(medians, key=medians.__getitem__)}. A small k gives "
        "noisy scores, a large one includes episodes from earlier in training.",
        "## Efficiency over the curve",
        "Learning efficiency (the review's Eq. 7) is a summary divided by the training frames. The table gives it at "
        f"each tenth of the budget, with k = {USUAL_K}.",
        table(
            ("frames", "mean HNS", "per frame", "median HNS", "per frame", "mean HWRNS", "per frame", "records broken"),
            (
                (
                    f"{frames:,}",
                    *(
                        text
                        for name in ("mean HNS", "median HNS", "mean HWRNS")
                        for text in (percent(item[name]), f"{learning_efficiency(item[name] / 100, frames):.2E}")
                    ),
                    summary("records broken", item["records broken"]),
                )
                for frames, item in then
            ),
        ),
        f"The efficiency of the mean HNS is greatest after {then[best][0]:,} frames, {rates[best] / rates[-1]:.2f} "
        "times that at the end, so efficiencies at different budgets cannot be compared. Learning rate and clip range "
        "decrease to 0 over the budget, so a training with a smaller budget has a different curve.",
    )


class Used:
    """One use of Atari-5: the agent's scores on all games, and estimates from few of them.

    trials, seeds, every: Of each game, its trials, their scores and the mean of these.
    alone: The scores of each seed.
    truth, truths: The median HNS by mean scores, and by those of each seed.
    """

    HEADING = ("from", "model", "estimate", "90 % interval", "covers the median", "of each seed", "covered")

    def __init__(self) -> None:
        self.tuning, self.trained = results("ppo-tuning"), results("ppo-atari-57")
        self.tuned = {(trial.game, trial.seed): trial for trial in self.tuning if trial.agent == CHOSEN}
        self.trials: dict[str, list[TrialResult]] = {game: [] for game in ALL}
        for trial in self.trained:
            self.trials[trial.game].append(trial if trial.whole else self.tuned[trial.game, trial.seed])
        self.seeds = {game: [trial.mean for trial in self.trials[game]] for game in ALL}
        self.every = {game: float(np.mean(self.seeds[game])) for game in ALL}
        self.alone = [dict(zip(ALL, one, strict=True)) for one in zip(*self.seeds.values(), strict=True)]
        self.truth, *self.truths = (
            float(aggregate.median([*normalised("hns", one).values()])) for one in (self.every, *self.alone)
        )

    def outlook(self, games: Sequence[str], scores: Mapping[str, float] | None = None) -> Outlook:
        """Predict from some games."""
        known = self.every if scores is None else scores
        found = predictors.atari().predict({game: known[game] for game in games}, level=LEVEL)
        assert found is not None
        return found

    def estimates(self) -> list[tuple[str, ...]]:
        """Return the rows of a table of `HEADING`."""
        five, ten, more, val = (subset(name) for name in ("atari-5", "atari-10", "atari-14", "atari-3-val"))
        return [
            self._estimate("Atari-5", five),
            self._estimate("Atari-5", five.tasks),
            self._estimate("Atari-10", ten),
            self._estimate("Atari-10", ten.tasks),
            self._estimate("Atari-14", more.tasks),
            self._estimate("Atari-3-Val, tuned on", val),
            self._estimate("Atari-3-Val, tuned on", val.tasks),
        ]

    def _estimate(self, games: str, model: Subset | tuple[str, ...]) -> tuple[str, ...]:
        def of(scores: Mapping[str, float]) -> Range | Estimate:
            return (
                published(model, scores)
                if isinstance(model, Subset)
                else self.outlook(model, scores).summaries["median"]
            )

        def holds(found: Range | Estimate, true: float) -> bool:
            return (found.low or 0.0) <= true <= (found.high or 0.0)

        def shown(found: Range | Estimate) -> str:
            return f"below {percent(found.high)}" if found.value is None else percent(found.value)

        found, each = of(self.every), [of(one) for one in self.alone]
        covered = sum(holds(one, true) for one, true in zip(each, self.truths, strict=True))
        return (
            *(games, "its published model" if isinstance(model, Subset) else "any games", shown(found)),
            *(between(found.low or 0.0, found.high or 0.0), "yes" if holds(found, self.truth) else "no"),
            *(", ".join(map(shown, each)), f"{covered} of {len(each)}"),
        )

    def costs(self) -> list[tuple[str, ...]]:
        """Return the rows of a table of `SPENT`: of the tuning, and of each set of games."""
        sets = (
            ("Atari-5", subset("atari-5").tasks),
            ("Atari-14", subset("atari-14").tasks),
            ("all 57 games", ALL),
        )
        return [
            spent("tuning", "ppo-tuning", self.tuning),
            *(spent(name, "ppo-atari-57", [one for game in of for one in self.trials[game]]) for name, of in sets),
        ]


def published(model: Subset, scores: Mapping[str, float]) -> Estimate:
    """Estimate a median by a published model."""
    return estimates.from_model(model, {game: [np.array([scores[game]])] for game in model.tasks}, CAP, 0)


def atari_5() -> str:
    """Return the page of one use of Atari-5."""
    used = Used()
    tuning, trained, tuned, seeds, every = used.tuning, used.trained, used.tuned, used.seeds, used.every
    hns, outlook = normalised("hns", every), used.outlook
    twice = [trial for trial in trained if trial.whole and (trial.game, trial.seed) in tuned]
    val, five, ten, more = (subset(name) for name in ("atari-3-val", "atari-5", "atari-10", "atari-14"))
    sets = tuple((one.title.partition(":")[0], one.tasks) for one in (five, ten, more))
    shown = (*five.tasks, *(game for game in more.tasks if game not in five.tasks))

    def outside(games: tuple[str, ...]) -> str:
        return listing(map(game_name, outlook(games).outside)) or "none"

    tried = []
    for agent in dict.fromkeys(trial.agent for trial in tuning):
        of = by_game((trial.game, trial.mean) for trial in tuning if trial.agent == agent)
        each = [dict(zip(of, one, strict=True)) for one in zip(*of.values(), strict=True)]
        mean = {game: float(np.mean(values)) for game, values in of.items()}
        tried.append((published(val, mean).value, agent, of, [published(val, one).value for one in each]))
    tried.sort(key=lambda item: item[0] or 0.0, reverse=True)
    single = []
    for name, told in sets:
        inside = [
            (item.low or 0) <= max(0, hns[game]) <= (item.high or 0) for game, item in outlook(told).tasks.items()
        ]
        single.append(f"{sum(inside)} of {len(inside)} from {name}")
    return page(
        "# Atari-5 in use: PPO, tuned on Atari-3-Val",
        "This page uses the subsets as their authors intend. `ppo` is tuned on Atari-3-Val. The setting with the "
        "highest estimate is scored on Atari-5, Atari-10 and Atari-14, and the 57-game median estimated from each is "
        f"compared with the agent's true one, from all 57 games. Every setting has {len(used.alone)} seeds. Scores are "
        "human-normalised (HNS) where a percentage is given. A trial is trained for "
        f"{trained[0].budget:,} frames, {percent(trained[0].budget / 2e6)} of the usual 200 million, so the agent is "
        "close to random play, where estimates have their largest errors.",
        "The protocol is `sb3-atari`, and scores are over the last 100 training episodes "
        "(`reported_episodes=training_last_k`, `evaluation_episodes=100`). Its wrappers make learning in few frames "
        "easiest: clipped rewards, minimal actions, lives that end training episodes, no sticky actions.",
        "## Tuned on Atari-3-Val",
        "Scores are means of three seeds, with 95 % intervals in brackets. The median is estimated by the published "
        "Atari-3-Val model, from these means and from each seed alone.",
        table(
            ("setting", *map(game_name, val.tasks), "estimated median", "of each seed"),
            (
                (
                    f"`{setting(agent)}`{', chosen' if agent == CHOSEN else ''}",
                    *(f"{score(float(np.mean(of[g])))} ({over_seeds(g, of[g])})" for g in val.tasks),
                    percent(value),
                    ", ".join(map(percent, each)),
                )
                for value, agent, of, each in tried
            ),
        ),
        "## Scores",
        f"Scores are means of {len(used.alone)} seeds, with 95 % intervals over seeds, clipped to the scores that a "
        "game can give."
        + "".join(
            f" {game_name(game)} is also in Atari-3-Val, so the agent was tuned on it."
            for game in shown
            if game in val.tasks
        ),
        table(
            ("game", "smallest subset", "score", "95 %", "seeds", "random play", "human", "HNS"),
            (
                (
                    game_name(game),
                    next(name for name, of in sets if game in of),
                    *(score(every[game]), over_seeds(game, seeds[game]), ", ".join(map(score, seeds[game]))),
                    *(score(side[game]) for side in (measures.atari()["hns"].low, measures.atari()["hns"].high)),
                    percent(hns[game]),
                )
                for game in shown
            ),
            words=2,
        ),
        "## Estimates and the true median",
        f"The true median over 57 games is **{percent(used.truth)}** for the mean scores, and "
        f"{listing(map(percent, used.truths))} for the seeds. Each estimate is made from the mean scores, and from "
        "each seed's scores, which are compared with that seed's median.",
        table(used.HEADING, used.estimates(), words=2),
        "[Any games](../subsets.md#from-any-games) is our model, which predicts from any set of games. `subset "
        "predict` warns of scores outside the range that it was fitted to; in Atari-14 there are "
        f"{outside(more.tasks)}.",
        "One agent cannot decide between models, and this one's median is far below 20 %, the lowest of the algorithms "
        "that our model was fitted to. Estimates from the games used for tuning are biased upwards, so other games are "
        f"reported. Our model's 90 % intervals of single games covered {listing(single)} (scores below 0 % count as 0 "
        "%).",
        "## Cost",
        f"One H100 with 16 cores ran {AT_ONCE['ppo-tuning']} trainings at once, at times 19. Hours are those of the "
        "trainings, without startup, copying and interrupted work.",
        table(SPENT, used.costs()),
        f"Tuning and scoring share {len(twice)} trials, which were trained twice. Checksums over the scores and "
        "actions of all episodes are equal in "
        f"{sum(one.checksum == tuned[one.game, one.seed].checksum for one in twice)} of {len(twice)}.",
        "## Every game",
        table(
            ("game", "score", "95 % over seeds", "HNS", "frames played"),
            (
                (
                    *(game_name(game), score(every[game]), over_seeds(game, seeds[game]), percent(hns[game])),
                    f"{sum(trial.frames for trial in used.trials[game]):,}",
                )
                for game in sorted(ALL, key=lambda game: -hns[game])
            ),
        ),
    )


def setting(agent: str) -> str:
    """Say a setting by all that was tried."""
    given = dict(part.split("=") for part in agent.partition("(")[2].removesuffix(")").split(", "))
    usual = {"learning_rate": "0.00025", "clip_range": "0.1"}
    return " ".join(f"{name}={given.get(name, value)}" for name, value in usual.items())


PAGES: Mapping[str, Callable[[], str]] = {"world-records": world_records, "atari-5": atari_5}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (FOLDER / f"{name}.md").write_text(write(), encoding="utf-8")
