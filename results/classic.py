"""Write the pages of our learners and planners of 2013, in docs/results, from the project's data."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from scipy.stats import ttest_ind, ttest_ind_from_stats

from arcademark.reproduce.ale2013 import scores as printed
from arcademark.reproduce.ale2013.ours import CurvePoint, Forecast, TrialResult, curves, forecasts, results
from arcademark.suite.learners import defaults
from arcademark.suite.protocols import protocol
from arcademark.suite.tasks import game_name, suite
from arcademark.wording import fixed, listing, score
from pages import FOLDER, interval, page, table
from trials import BRACKET, GAMES, TUNED, Rows, Setting, Training, key_of, merit
from trials import table as tuning_rows

TRAINING = suite("ale-55").tasks[:5]
ALPHA = 0.01
"""Level of the paper's paired tests (§4.3)."""
RULES = protocol("ale-2013")
MOST = f"{RULES.max_frames_per_episode:,} frames at most"
STEPS = 10
MANY = 10
"""Trials of a cell from which on sets are compared by trials."""
COPY = "The paper's scores are read from [public copies](../catalogue.md) of its tables."
TWO = ("asterix", "space_invaders")
FIVE = (*TWO, "boxing", "freeway", "pong")
PLANNERS = {"uct": FIVE, "breadth-first": FIVE, "iw": TWO, "rollout-iw": TWO, "best-path": TWO}
"""Of each planner, in the order of the page, the games that it is to play."""


def from_paper(agent: str, game: str) -> str:
    """Say what the paper prints of an agent."""
    return score(float(printed.raw((agent,))[0, printed.place(game)]))


def baselines(game: str) -> tuple[float, float]:
    """Return what Random scored for us, and the best of our Const and Perturb agents."""
    played = [trial for trial in results("baselines") if trial.game == game]
    (random,) = (trial.mean for trial in played if trial.agent == "random")
    return random, max(trial.mean for trial in played if trial.agent != "random")


def feature_set(agent: str) -> str:
    """Return the paper's name of a learner's features."""
    name = agent.partition("features=")[2].removesuffix(")") or "basic"
    return named(name)


def parameters(trial: TrialResult) -> dict[str, str]:
    """Return a learner's parameters beside the feature set."""
    return dict(word.split("=") for word in trial.learning)


def current(trial: TrialResult) -> bool:
    """Say whether a learner has the step size, schedule and decay that are its feature set's defaults today."""
    usual = defaults(feature_set(trial.agent).lower())
    return all(parameters(trial)[name] == str(usual[name]) for name in ("alpha", "alpha_schedule", "lambda_"))


def settings(alpha: object, schedule: object, decay: object) -> str:
    """Say a step size, its schedule and the decay of traces."""
    return f"{alpha}{' → 0' if schedule == 'linear' else ''}, {decay}"


def of_trial(trial: TrialResult) -> str:
    """Say the same of a trial, marked where they are no longer the defaults."""
    have = parameters(trial)
    return settings(have["alpha"], have["alpha_schedule"], have["lambda_"]) + ("" if current(trial) else " †")


def spread(means: Sequence[float]) -> str:
    """Say mean and standard deviation."""
    return f"{score(float(np.mean(means)))} ± {score(float(np.std(means, ddof=1)))}" if len(means) > 1 else ""


def ratio(trial: TrialResult) -> float:
    """Return a trial's score divided by the paper's."""
    return trial.mean / float(printed.raw((feature_set(trial.agent),))[0, printed.place(trial.game)])


def beside_the_paper(trials: Iterable[TrialResult]) -> str:
    """Return the table of each set's geometric mean of scores divided by the paper's."""
    played = list(trials)
    found = []
    for name in printed.LEARNERS:
        if not (mine := [trial for trial in played if feature_set(trial.agent) == name]):
            continue
        now = sum(current(trial) for trial in mine)
        ratios = [ratio(trial) for trial in mine]
        usual = defaults(name.lower())
        text = settings(usual["alpha"], usual["alpha_schedule"], usual["lambda_"])
        mean = float(np.exp(np.mean(np.log(ratios))))
        found.append((name, text, f"{now} of {len(mine)}", f"{mean:.2f}", f"{min(ratios):.2f} … {max(ratios):.2f}"))
    heading = ("features", "default α, λ", "games played with it", "geometric mean to the paper", "least … most")
    return table(heading, found, words=2)


def ahead(one: TrialResult, other: TrialResult) -> int:
    """Return 1 where the mean of one's episodes is above the other's, -1 where it is below, 0 where it is open."""
    a, b = ((each.mean, (each.standard_error or 0.0) * each.episodes**0.5, each.episodes) for each in (one, other))
    found = ttest_ind_from_stats(*a, *b, equal_var=False)
    return int(np.sign(found.statistic)) if found.pvalue < ALPHA else 0


def pairs(there: Mapping[tuple[str, str], TrialResult]) -> Iterable[tuple[str, ...]]:
    """Yield the rows of the paper's Table 3: in how many games that both have the left is ahead, and behind."""
    for left in printed.LEARNERS:
        row = [left]
        for top in printed.LEARNERS:
            both = [game for game in TRAINING if {(game, left), (game, top)} <= there.keys()]
            found = [ahead(there[game, left], there[game, top]) for game in both]
            row.append("" if left == top else f"{found.count(1)} – {found.count(-1)} of {len(both)}")
        yield tuple(row)


def learners() -> str:
    """Return the page of SARSA(λ)."""
    trials = results("sarsa")
    first = {(trial.game, feature_set(trial.agent)): trial for trial in trials if trial.seed == 0}
    cells = [*product(TRAINING, printed.LEARNERS)]
    curve: dict[tuple[str, str, int], list[CurvePoint]] = {}
    for point in curves("sarsa"):
        curve.setdefault((point.game, feature_set(point.agent), point.seed), []).append(point)
    least = min(trial.episodes for trial in trials)
    return page(
        "# SARSA(λ) at the paper's budget",
        f"`sarsa` under `ale-2013`: {RULES.training_episodes:,} episodes of training and {least} of evaluation with "
        f"frozen weights, of {MOST}, with each of the paper's five feature sets on each of its five training games. "
        f"{len(first)} of {len(cells)} trials with seed 0 are played. The paper's scores are means of 30 such trials, "
        f"ours of one, so that a cell compares one trained policy with the mean of thirty. {COPY} The values of its "
        "Appendix C are missing from the text that we have; [where each of ours is "
        "from](../research/learning.md#parameters).",
        "## Beside the paper",
        f"Each set's scores divided by the paper's, over the {len(TRAINING)} games. α → 0 decreases linearly over "
        "training, α alone is constant. Where not all games are played with today's defaults, those with earlier ones "
        "take part; they are marked † below.",
        beside_the_paper(first.values()),
        "## Scores",
        "Means of the evaluation with their 95 % intervals over its episodes, which say nothing of other trainings. "
        "Snapshots: mean and standard deviation of five scores over the same 100 evaluation episodes, of weights "
        "frozen after 80, 85, 90, 95 and 100 % of training; where they differ much, the score depends on when training "
        "ended. Trials without were played before snapshots were kept. † Parameters are not today's defaults.",
        table(
            (
                *("game", "features", "α, λ", "score", "95 %", "least … most", "snapshots", "last 100 of training"),
                *("paper", "our Random", "our best Const or Perturb"),
            ),
            (row(first.get(cell), curve.get((*cell, 0)), *cell) for cell in cells),
            words=3,
        ),
        compared(first, curve),
        *other_seeds(trials),
        "## One set against another",
        "The paper's Table 3 on the training games that both have: in how many the left is ahead of the top, and in "
        f"how many behind, by Welch's test at {100 - 100 * ALPHA:g} %. Its unit is the episode of evaluation, as there "
        "is one trial: it tells these policies apart, not the feature sets. The paper, of 30 trials, does not say "
        "what its unit is.",
        table(("", *printed.LEARNERS), pairs(first)),
        "## Learning curves",
        f"Mean score of the last 100 training episodes at each tenth of the {RULES.training_episodes:,}, seed 0.",
        table(
            ("game", "features", *(f"{100 * part // STEPS} %" for part in range(1, STEPS + 1))),
            (
                (game_name(game), name, *(score(point.last_100) for point in points))
                for game, name in cells
                if (points := curve.get((game, name, 0)))
            ),
            words=2,
        ),
        *chosen_by(),
        "## What it took",
        "Sums over each set's trials; hours by the clock, a process a trial, on two cores that did other work too. The "
        "program became faster between them, so that the sets' hours are not to be compared.",
        table(
            ("features", "trials", "frames", "hours"),
            (
                (
                    *(name, str(len(some)), f"{sum(trial.frames for trial in some):,}"),
                    fixed(sum(trial.seconds for trial in some) / 3600),
                )
                for name in printed.LEARNERS
                if (some := [trial for trial in trials if feature_set(trial.agent) == name])
            ),
        ),
    )


def other_seeds(trials: Sequence[TrialResult]) -> Iterable[str]:
    """Yield the sections that set trainings of the same cell and parameters beside each other, if there are any."""
    cells: dict[tuple[str, str, str], list[float]] = {}
    for trial in sorted(trials, key=lambda trial: (trial.game, trial.seed)):
        cells.setdefault((trial.game, feature_set(trial.agent), of_trial(trial)), []).append(trial.mean)
    if several := {cell: scores for cell, scores in cells.items() if len(scores) > 1}:
        yield "## Other seeds"
        yield (
            "Whole trials that differ by their seed (and LSH by its random projections), beginning with seed 0. The "
            "paper's 30 are to average over what differs between them."
        )
        yield table(
            ("game", "features", "α, λ", "trials", "mean", "standard deviation", "least … most", "paper"),
            (
                (
                    *(game_name(game), name, text, str(len(scores)), score(float(np.mean(scores)))),
                    *(score(float(np.std(scores, ddof=1))), f"{score(min(scores))} … {score(max(scores))}"),
                    from_paper(name, game),
                )
                for (game, name, text), scores in several.items()
            ),
            words=3,
        )
    for game in TRAINING:
        many = {name: means for (of, name, _), means in cells.items() if of == game and len(means) >= MANY}
        if len(many) > 1:
            yield (
                f"{game_name(game)}, over trials: by how many standard errors the left's mean is above the top's. "
                f"Where Welch's test tells them apart at {100 - 100 * ALPHA:g} % there is a *."
            )
            yield table(("", *many), by_trials(many))


def by_trials(many: Mapping[str, Sequence[float]]) -> Iterable[tuple[str, ...]]:
    """Yield the rows of a table of Welch's tests between sets, over the means of trials."""
    for left, mine in many.items():
        tests = {top: ttest_ind(mine, others, equal_var=False) for top, others in many.items() if top != left}
        marks = {top: f"{test.statistic:+.1f}{'*' if test.pvalue < ALPHA else ''}" for top, test in tests.items()}
        yield left, *(marks.get(top, "") for top in many)


def chosen_by() -> Iterable[str]:
    """Yield the section of how parameters were chosen."""
    done = tuning_rows()
    tried = list(dict.fromkeys(setting_of(row) for row in done))
    lengths = [(game, TUNED) for game in GAMES] + [(game, episodes) for game, episodes in BRACKET.items()]
    yield "## How parameters were chosen"
    yield (
        "By frozen evaluation on three games with another seed (`results/trials.py`; Seaquest and Beam Rider have no "
        "part in it): mean ± standard deviation over five snapshots after 80, 85, 90, 95 and 100 % of training. The "
        "last column is the geometric mean over the games of scores divided by the paper's, which come from five times "
        "the training or more; of Freeway's the shorter training, which has about as many frames as the others."
    )
    yield table(
        ("features", "α, λ", *(f"{game_name(game)}, {count:,} episodes" for game, count in lengths), "to the paper"),
        (
            (
                *(named(one.features), settings(one.alpha, one.alpha_schedule, one.lambda_)),
                *(tuned(one, game, count, done) for game, count in lengths),
                "" if (value := merit(one, done)) is None else f"{value:.2f}",
            )
            for one in tried
        ),
        words=2,
    )
    yield averaged(done)


def averaged(done: Rows) -> str:
    """Say what the mean of snapshots' weights scored beside the snapshots."""
    found = []
    for schedule, text in (("constant", "constant α"), ("linear", "α → 0")):
        mine = [row for row in done if row["alpha_schedule"] == schedule and float(row["frozen"]) > 0]
        if mine:
            ratios = np.log([max(float(row["averaged"]) / float(row["frozen"]), 0.01) for row in mine])
            found.append(f"{np.exp(np.mean(ratios)):.2f} with {text} ({len(mine)} trials)")
    return (
        f"The mean of five snapshots' weights scores, relative to the snapshots, {listing(found)} (geometric means). "
        "`sarsa` has no option for it."
    )


def named(features: str) -> str:
    """Return the paper's name of a feature set."""
    return next(name for name in printed.LEARNERS if name.lower() == features)


def setting_of(row: Mapping[str, str]) -> Setting:
    """Return what a row of the tuning tried."""
    return Setting(row["features"], float(row["alpha"]), row["alpha_schedule"], float(row["lambda_"]))


def tuned(setting: Setting, game: str, episodes: int, done: Rows) -> str:
    """Say what a tuning trial scored; nothing if it is not played."""
    key = key_of(Training(setting, game, episodes))
    found = next((row for row in done if key_of(row) == key), None)
    return spread([float(mean) for mean in found["snapshots"].split()]) if found else ""


def compared(
    first: Mapping[tuple[str, str], TrialResult], curve: Mapping[tuple[str, str, int], Sequence[CurvePoint]]
) -> str:
    """Say how the scores compare with the paper's, the baselines', and those at the end of training."""
    paper = [first[cell].mean / printed.raw((cell[1],))[0, printed.place(cell[0])] for cell in first]
    above = [[trial.mean > other for other in baselines(trial.game)] for trial in first.values()]
    random, best = np.sum(above, axis=0)
    theirs = [
        printed.raw((name,))[0, printed.place(game)] > printed.raw(("Const", "Perturb"))[:, printed.place(game)].max()
        for game, name in product(TRAINING, printed.LEARNERS)
    ]
    moved = [ahead(trial, at_the_end(trial, curve[*cell, 0][-1])) for cell, trial in first.items()]
    return (
        f"The score is below the paper's in {sum(ratio < 1 for ratio in paper)} of {len(first)} trials, at the median "
        f"{np.median(paper):.2f} times as high. It is above Random in {random}, and above the best of the 18 Const "
        f"and 18 Perturb agents in {best}; by what the paper prints its learners are in {sum(theirs)} of {len(theirs)}."
        f"\n\nThe evaluation is worse than the last 100 training episodes in {moved.count(-1)} trials and better in "
        f"{moved.count(1)}, by Welch's test at {100 - 100 * ALPHA:g} % (the spread of episodes in training being taken "
        "for that of the evaluation): [frozen weights can repeat their mistakes](../research/learning.md#scores)."
    )


def at_the_end(trial: TrialResult, point: CurvePoint) -> TrialResult:
    """Return a trial's last 100 training episodes, which have no standard error of their own, as if evaluated."""
    error = (trial.standard_error or 0.0) * (trial.episodes / 100) ** 0.5
    return replace(trial, mean=point.last_100, episodes=100, standard_error=error)


def row(trial: TrialResult | None, points: Sequence[CurvePoint] | None, game: str, name: str) -> tuple[str, ...]:
    """Return a row of the table of scores."""
    beside = from_paper(name, game), *map(score, baselines(game))
    if trial is None or points is None:
        return game_name(game), name, "", "not played", "", "", "", "", *beside
    numbers = score(trial.mean), interval(trial.low, trial.high), f"{score(trial.least)} … {score(trial.most)}"
    frozen = spread(trial.snapshots), score(points[-1].last_100)
    return game_name(game), name, of_trial(trial), *numbers, *frozen, *beside


def family(trial: TrialResult) -> str:
    """Return the planner without its settings."""
    return trial.agent.partition("(")[0]


def skip(agent: str) -> int:
    """Return how many frames a planner's decision lasts."""
    return int(agent.partition("frames_per_action=")[2].rstrip(")").partition(",")[0] or RULES.frame_skip)


def costs(trial: TrialResult, said: Forecast) -> tuple[str, ...]:
    """Return a row of what was foretold of a trial beside what it took."""
    frames = skip(trial.agent)
    return (
        *(f"`{family(trial)}`", game_name(trial.game), f"{said.frames:,.0f}", f"{trial.frames / trial.episodes:,.0f}"),
        *(f"{each.simulated_frames / each.frames * frames:,.0f}" for each in (said, trial)),
        *(fixed(said.core_hours), fixed(trial.seconds / trial.episodes / 3600)),
    )


def planners() -> str:
    """Return the page of planners."""
    trials = sorted(results("planners"), key=lambda trial: ([*PLANNERS].index(family(trial)), trial.game))
    there = {(family(trial), trial.game) for trial in trials}
    absent = [
        f"`{name}` on {listing([game_name(game) for game in games if (name, game) not in there])}"
        for name, games in PLANNERS.items()
        if not {(name, game) for game in games} <= there
    ]
    foretold = {(one.agent, one.game): one for one in forecasts("planners")}
    pairs_of = [(one, foretold[key]) for one in trials if (key := (one.agent, one.game)) in foretold]
    off = [one.simulated_frames / one.frames / (said.simulated_frames / said.frames) for one, said in pairs_of]
    return page(
        "# Planners at large budgets",
        f"Whole episodes under `ale-2013`, of {MOST}; the paper's planners have means of 10 of them, its learners of "
        f"30 trials. {COPY} `breadth-first` has 133,000 frames per decision, the paper's as far as we know. `uct` "
        "searches until its root has 500 visits (which a later program quotes from the paper), 300 frames ahead (as "
        "the authors' program has it); visits kept from the decision before count, so that on most games it emulates "
        "far fewer than 500 · 300 frames. `iw` has 150,000 frames per decision as in Lipovetzky et al. 2015, "
        "`rollout-iw` B-PROST features, 15 frames an action and, where Bandres et al. 2018 "
        "allow half a second, 7,500 frames per decision, which is about that. `best-path` is our own, with about the "
        "frames that `uct` took. The games are not random: episodes differ by what the planner draws."
        + (f" Not played: {'; '.join(absent)}." if absent else ""),
        "## Scores",
        table(
            (
                *("planner", "game", "episodes", "score", "95 %", "frames"),
                *("paper: UCT", "paper: breadth-first", "paper: best learner", "our Random"),
            ),
            (
                (
                    *(f"`{family(trial)}`", game_name(trial.game), str(trial.episodes), score(trial.mean)),
                    *(interval(trial.low, trial.high), f"{trial.frames / trial.episodes:,.0f}"),
                    *(from_paper(name, trial.game) for name in ("UCT", "Breadth-first search")),
                    score(float(printed.learners(trial.game).max())),
                    score(baselines(trial.game)[0]),
                )
                for trial in trials
            ),
            words=2,
        ),
        "## What `plan` said, and what it took",
        "One episode, as `arcademark plan` predicts it, beside the mean of those played. It takes episodes "
        "to last until the frame cap, so that frames per decision are what can be compared where they ended before. "
        "Hours are by the clock, on two cores that did other work too.",
        table(
            (
                *("planner", "game", "frames per episode", "played", "simulated per decision", "taken"),
                *("core-hours", "by the clock"),
            ),
            (costs(*pair) for pair in pairs_of),
            words=2,
        ),
        f"Frames per decision were {min(off):.2f} to {max(off):.2f} times the prediction. `plan` measures decisions "
        "in states of random play, and a planner leads into others.",
    )


PAGES: Mapping[str, Callable[[], str]] = {"learners": learners, "planners": planners}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (FOLDER / f"{name}.md").write_text(write(), encoding="utf-8")
