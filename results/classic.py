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
from pages import FOLDER, interval, over_seeds, page, table
from trials import BRACKET, GAMES, PUBLISHED, SEED, TUNED, Rows, Setting, Training, key_of, merit
from trials import table as tuning_rows

TRAINING = suite("ale-55").tasks[:5]
ALPHA = 0.01
"""Level of the paper's paired tests (§4.3)."""
RULES = protocol("ale-2013")
LIMIT = f"at most {RULES.max_frames_per_episode:,} frames"
STEPS = 10
MANY = 10
"""Trials of a cell from which on sets are compared by trials."""
COPY = "The paper's scores come from [public copies](../catalogue.md) of its tables."
TWO = ("asterix", "space_invaders")
FIVE = (*TWO, "boxing", "freeway", "pong")
PLANNERS = {"uct": FIVE, "breadth-first": FIVE, "iw": TWO, "rollout-iw": TWO, "best-path": TWO}
"""Of each planner, in the order of the page, the games that it is to play."""


def from_paper(agent: str, game: str) -> str:
    """Return the paper's score of an agent as text."""
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
    """Return a step size, its schedule and the decay of traces as text."""
    return f"{alpha}{' → 0' if schedule == 'linear' else ''}, {decay}"


def trial_settings(trial: TrialResult) -> str:
    """Return a trial's settings, marked where they are no longer the defaults."""
    have = parameters(trial)
    return settings(have["alpha"], have["alpha_schedule"], have["lambda_"]) + ("" if current(trial) else " †")


def spread(means: Sequence[float]) -> str:
    """Return mean and standard deviation as text."""
    return f"{score(float(np.mean(means)))} ± {score(float(np.std(means, ddof=1)))}" if len(means) > 1 else ""


def without_seed(trial: TrialResult) -> tuple[str, ...]:
    """Return what trials that differ only by their seed have in common."""
    learning = (word for word in trial.learning if not word.startswith("hash_seed="))
    return trial.agent, trial.game, *learning


def alike(trial: TrialResult, trials: Iterable[TrialResult]) -> list[TrialResult]:
    """Return the trials of a learner on a game with the same parameters, a trial per seed."""
    return [other for other in trials if without_seed(other) == without_seed(trial)]


def ratio(trials: Sequence[TrialResult]) -> float:
    """Return the mean score of trials of one cell divided by the paper's."""
    agent, game = trials[0].agent, trials[0].game
    return float(np.mean([trial.mean for trial in trials]) / printed.raw((feature_set(agent),))[0, printed.place(game)])


def compared_with_paper(first: Iterable[TrialResult], trials: Sequence[TrialResult]) -> str:
    """Return the table of each set's geometric mean of scores divided by the paper's; `first` have seed 0."""
    played = list(first)
    found = []
    for name in printed.LEARNERS:
        if not (mine := [trial for trial in played if feature_set(trial.agent) == name]):
            continue
        now = sum(current(trial) for trial in mine)
        ratios = [ratio(alike(trial, trials)) for trial in mine]
        usual = defaults(name.lower())
        text = settings(usual["alpha"], usual["alpha_schedule"], usual["lambda_"])
        mean = float(np.exp(np.mean(np.log(ratios))))
        found.append((name, text, f"{now} of {len(mine)}", f"{mean:.2f}", f"{min(ratios):.2f} … {max(ratios):.2f}"))
    heading = (
        "features",
        "default α, λ",
        "games with this default",
        "geometric mean, relative to the paper",
        "range over games",
    )
    return table(heading, found, words=2)


def ahead(one: TrialResult, other: TrialResult) -> int:
    """Return 1 where the mean of one's episodes is above the other's, -1 where it is below, 0 where it is open."""
    a, b = ((each.mean, (each.standard_error or 0.0) * each.episodes**0.5, each.episodes) for each in (one, other))
    found = ttest_ind_from_stats(*a, *b, equal_var=False)
    return int(np.sign(found.statistic)) if found.pvalue < ALPHA else 0


def pairs(there: Mapping[tuple[str, str], TrialResult]) -> Iterable[tuple[str, ...]]:
    """Yield the rows of the paper's Table 3: on how many common games the left set scores more, and less."""
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
        "This page compares our SARSA(λ) with that of Bellemare et al. 2013: `sarsa` under `ale-2013`, with each of "
        f"the paper's five feature sets on each of its five training games. A trial has {RULES.training_episodes:,} "
        f"training episodes and {least} evaluation episodes with frozen weights, of {LIMIT} each. {len(first)} of "
        f"{len(cells)} trials with seed 0 are complete. The paper's scores are means over 30 trials; ours come from "
        f"one, so each cell compares one trained policy with a mean over thirty. {COPY} The parameters of its Appendix "
        "C are missing from our copy; [the sources of ours](../research/learning.md#parameters) are listed.",
        "## Comparison with the paper",
        f"The table shows each feature set's scores divided by the paper's, over the {len(TRAINING)} games. α → 0 "
        "means that the step size decreases linearly during training; otherwise it is constant. Where some games were "
        "not yet played with the current defaults, scores with earlier ones are used; the next table marks them with "
        "†. Where [other seeds](#other-seeds) were played with the same parameters, the mean over all of them is used.",
        compared_with_paper(first.values(), trials),
        "## Scores",
        "Scores are means over the evaluation episodes. Their 95 % intervals cover the variation between episodes, not "
        "that between trainings. Snapshots are weights frozen after 80, 85, 90, 95 and 100 % of training: the column "
        "gives the mean and standard deviation of their five scores over the same 100 evaluation episodes. A large "
        "deviation means that the score depends on the moment at which training ended. Earlier trials have no "
        "snapshots. † marks parameters that are no longer the defaults.",
        table(
            (
                *("game", "features", "α, λ", "score", "95 % interval", "range", "snapshots", "last 100 in training"),
                *("paper", "our Random", "our best Const or Perturb"),
            ),
            (row(first.get(cell), curve.get((*cell, 0)), *cell) for cell in cells),
            words=3,
        ),
        compared(first, curve),
        *other_seeds(trials),
        "## Comparison of feature sets",
        "As in the paper's Table 3, each cell counts the training games on which the set at the left scores more than "
        f"the set at the top, and those on which it scores less, by Welch's test at the {100 * ALPHA:g} % level. There "
        "is one trial per cell, so the samples are evaluation episodes: the test compares these policies, not feature "
        "sets. The paper has 30 trials and does not state its samples.",
        table(("", *printed.LEARNERS), pairs(first)),
        "## Learning curves",
        f"Mean score of the last 100 training episodes at each tenth of the {RULES.training_episodes:,} episodes; seed "
        "0.",
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
        "## Computing time",
        "Sums over each set's trials. Hours are wall-clock time of one process per trial, on a machine with two cores "
        "and other work. The program became faster in the meantime, so the hours of different sets are not comparable.",
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
    """Yield the sections that compare trials of one cell with the same parameters, if there are any."""
    cells: dict[tuple[str, str, str], list[float]] = {}
    for trial in sorted(trials, key=lambda trial: (trial.game, trial.seed)):
        cells.setdefault((trial.game, feature_set(trial.agent), trial_settings(trial)), []).append(trial.mean)
    if several := {cell: scores for cell, scores in cells.items() if len(scores) > 1}:
        yield "## Other seeds"
        yield (
            "Complete trials with different seeds, which for LSH also determine the random projections. The paper "
            "averages over 30 trials to reduce this variation. Intervals (Student's t) cover the variation between "
            "trials; the paper does not print its own."
        )
        yield table(
            ("game", "features", "α, λ", "trials", "mean", "95 % interval", "standard deviation", "range", "paper"),
            (
                (
                    *(game_name(game), name, text, str(len(scores)), score(float(np.mean(scores)))),
                    over_seeds(game, scores),
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
                f"{game_name(game)}, with trials as samples: Welch's t of the set at the left against the set at the "
                f"top. * marks differences that are significant at the {100 * ALPHA:g} % level."
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
    lengths = [(game, TUNED) for game in GAMES] + [(GAMES[-1], BRACKET), (GAMES[-1], PUBLISHED)]
    yield "## How parameters were chosen"
    yield (
        "Parameters were chosen by frozen evaluation on three games, with a separate seed (`results/trials.py`); "
        "Seaquest and Beam Rider were not used. Cells give mean ± standard deviation over snapshots after 80, 85, 90, "
        "95 and 100 % of training. The last column is the geometric mean over the games of scores divided by the "
        "paper's, which come from at least five times as much training. For Freeway it uses the shorter training, "
        "which has about as many frames as the other games' and is omitted for settings that would not be among the "
        "best two of their set even with its best score so far. The 5,000 episodes of Freeway are the trial with seed "
        "0 in the table of scores: a setting that scores less than half there of what it did after 1,000 episodes is "
        "replaced by the second best of its set."
    )
    yield table(
        (
            "features",
            "α, λ",
            *(f"{game_name(game)}, {count:,} episodes" for game, count in lengths),
            "relative to the paper",
        ),
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
    """Return how averaged weights scored, relative to the snapshots that they average."""
    found = []
    for schedule, text in (("constant", "constant α"), ("linear", "α → 0")):
        mine = [
            row for row in done if row["alpha_schedule"] == schedule and row["averaged"] and float(row["frozen"]) > 0
        ]
        if mine:
            ratios = np.log([max(float(row["averaged"]) / float(row["frozen"]), 0.01) for row in mine])
            found.append(f"{np.exp(np.mean(ratios)):.2f} with {text} ({len(mine)} trials)")
    return (
        "The averaged weights of the five snapshots score, as a multiple of the snapshots' own scores, "
        f"{listing(found)} (geometric means). `sarsa` has no option for weight averaging."
    )


def named(features: str) -> str:
    """Return the paper's name of a feature set."""
    return next(name for name in printed.LEARNERS if name.lower() == features)


def setting_of(row: Mapping[str, str]) -> Setting:
    """Return the setting of a tuning trial."""
    return Setting(row["features"], float(row["alpha"]), row["alpha_schedule"], float(row["lambda_"]))


def tuned(setting: Setting, game: str, episodes: int, done: Rows) -> str:
    """Return a tuning trial's score as text, "" if it was not played."""
    key = key_of(Training(setting, game, episodes, 0 if episodes == PUBLISHED else SEED))
    found = next((row for row in done if key_of(row) == key), None)
    if found is None:
        return ""
    return spread([float(mean) for mean in found["snapshots"].split()]) if found["snapshots"] else "diverged"


def compared(
    first: Mapping[tuple[str, str], TrialResult], curve: Mapping[tuple[str, str, int], Sequence[CurvePoint]]
) -> str:
    """Return sentences that compare the scores with the paper's, the baselines' and those at the end of training."""
    paper = [first[cell].mean / printed.raw((cell[1],))[0, printed.place(cell[0])] for cell in first]
    above = [[trial.mean > other for other in baselines(trial.game)] for trial in first.values()]
    random, best = np.sum(above, axis=0)
    theirs = [
        printed.raw((name,))[0, printed.place(game)] > printed.raw(("Const", "Perturb"))[:, printed.place(game)].max()
        for game, name in product(TRAINING, printed.LEARNERS)
    ]
    moved = [ahead(trial, at_the_end(trial, curve[*cell, 0][-1])) for cell, trial in first.items()]
    return (
        f"Our score is below the paper's in {sum(ratio < 1 for ratio in paper)} of {len(first)} trials; the median "
        f"ratio is {np.median(paper):.2f}. It is above Random's in {random} trials, and above the best of the 18 Const "
        f"and 18 Perturb agents in {best}. The paper's learners exceed its best Const and Perturb agents in "
        f"{sum(theirs)} of {len(theirs)} cells.\n\nThe evaluation is significantly worse than the last 100 training "
        f"episodes in {moved.count(-1)} trials and better in {moved.count(1)} (Welch's test at the {100 * ALPHA:g} % "
        "level, which assumes that training episodes vary as much as evaluation episodes): [frozen weights can repeat "
        "their mistakes](../research/learning.md#scores)."
    )


def at_the_end(trial: TrialResult, point: CurvePoint) -> TrialResult:
    """Return a trial's last 100 training episodes, which have no standard error of their own, as if evaluated."""
    error = (trial.standard_error or 0.0) * (trial.episodes / 100) ** 0.5
    return replace(trial, mean=point.last_100, episodes=100, standard_error=error)


def row(trial: TrialResult | None, points: Sequence[CurvePoint] | None, game: str, name: str) -> tuple[str, ...]:
    """Return a row of the table of scores."""
    beside = from_paper(name, game), *map(score, baselines(game))
    if trial is None or points is None:
        return game_name(game), name, "", "missing", "", "", "", "", *beside
    numbers = score(trial.mean), interval(trial.low, trial.high), f"{score(trial.least)} … {score(trial.most)}"
    frozen = spread(trial.snapshots), score(points[-1].last_100)
    return game_name(game), name, trial_settings(trial), *numbers, *frozen, *beside


def family(trial: TrialResult) -> str:
    """Return the planner without its settings."""
    return trial.agent.partition("(")[0]


def skip(agent: str) -> int:
    """Return the frames that each of a planner's actions lasts."""
    return int(agent.partition("frames_per_action=")[2].rstrip(")").partition(",")[0] or RULES.frame_skip)


def costs(trial: TrialResult, forecast: Forecast) -> tuple[str, ...]:
    """Return a row with a trial's predicted and measured cost."""
    frames = skip(trial.agent)
    return (
        *(
            f"`{family(trial)}`",
            game_name(trial.game),
            f"{forecast.frames:,.0f}",
            f"{trial.frames / trial.episodes:,.0f}",
        ),
        *(f"{each.simulated_frames / each.frames * frames:,.0f}" for each in (forecast, trial)),
        *(fixed(forecast.core_hours), fixed(trial.seconds / trial.episodes / 3600)),
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
    predicted = {(one.agent, one.game): one for one in forecasts("planners")}
    pairs_of = [(one, predicted[key]) for one in trials if (key := (one.agent, one.game)) in predicted]
    off = [
        one.simulated_frames / one.frames / (forecast.simulated_frames / forecast.frames) for one, forecast in pairs_of
    ]
    return page(
        "# Planners at large budgets",
        "This page compares our planners with published ones, in complete episodes under `ale-2013`, of "
        f"{LIMIT} each. The paper's planners have means over 10 episodes, its learners over 30 trials. {COPY}",
        "- `breadth-first` simulates 133,000 frames per decision, the paper's budget as far as we know.\n"
        "- `uct` searches until its root has 500 visits (a later program quotes this from the paper), 300 frames ahead "
        "(as the authors' program). Visits kept from the previous decision count, so on most games it simulates far "
        "fewer than 500 · 300 frames.\n"
        "- `iw` simulates 150,000 frames per decision, as in Lipovetzky et al. 2015.\n"
        "- `rollout-iw` uses B-PROST features, 15 frames per action and 7,500 frames per decision; Bandres et al. 2018 "
        "allow half a second instead, which takes about as many.\n"
        "- `best-path` is our own planner, with about as many frames as `uct` took.",
        "The games are deterministic: episodes differ only by the planner's random choices."
        + (f" Missing: {'; '.join(absent)}." if absent else ""),
        "## Scores",
        table(
            (
                *("planner", "game", "episodes", "score", "95 % interval", "frames per episode"),
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
        "## Predicted and measured cost",
        "The table compares the prediction of `arcademark plan` for one episode with the mean over played ones. `plan` "
        "assumes that episodes last until the frame cap; where they ended earlier, only frames per decision are "
        "comparable. Measured hours are wall-clock time on a machine with two cores and other work.",
        table(
            (
                *("planner", "game", "frames per episode: predicted", "measured"),
                *("simulated frames per decision: predicted", "measured", "core-hours: predicted", "hours: measured"),
            ),
            (costs(*pair) for pair in pairs_of),
            words=2,
        ),
        f"Frames per decision were {min(off):.2f} to {max(off):.2f} times the prediction: `plan` measures decisions in "
        "states of random play, and a planner reaches other states.",
    )


PAGES: Mapping[str, Callable[[], str]] = {"learners": learners, "planners": planners}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (FOLDER / f"{name}.md").write_text(write(), encoding="utf-8")
