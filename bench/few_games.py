"""Whether ten games predict the median better than five: errors on papers left out, and what a few papers would show.

    python bench/few_games.py [SIZE SIZE]

Games of both sizes are chosen without each paper of the catalogue, and its algorithms predicted from them by what was
learnt without it, as `arcademark subset coverage` does. Printed are the difference of the mean errors with its standard
error, by the jackknife over papers, and how often so few papers as an outsider may have show none: sets of four that
have 10 to 16 algorithms together.
"""

import sys
from math import log

import numpy as np

from arcademark.reports.subsets import predictors
from arcademark.subset.predict import calibration
from arcademark.subset.predict.any_tasks import MEDIAN
from arcademark.subset.predict.choosing import choose

SOURCES, ALGORITHMS, SETS = 4, range(10, 17), 4000


def errors(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the size of each algorithm's error, |ln((estimate + 1) / (truth + 1))|, and its paper."""
    trained = predictors.atari().trained
    groups, tasks = np.array(trained.groups), trained.joint.tasks
    sizes, papers = [], []
    for paper in trained.without:
        known = np.isin(tasks, choose(trained, size, without=paper))
        noise = predictors.noise(len(tasks))
        missed, others = (
            calibration.misses(some, known, (MEDIAN,), noise) for some in (trained.only(groups == paper), trained)
        )
        own = missed.errors[MEDIAN.name]
        values = others.errors[MEDIAN.name].values(own.estimates, paper)
        sizes += (log(10) * np.abs(values - own.truths)[missed.fitted]).tolist()
        papers += [paper] * int(missed.fitted.sum())
    return np.array(sizes), np.array(papers)


def compared(few: int, more: int) -> dict[str, float]:
    """Return mean errors of both sizes, their difference with its standard error, and what few papers show.

    Errors and differences are fractions; `fewest` and `most` are where 90 % of the differences of few papers lie.
    """
    (first, papers), (second, _) = errors(few), errors(more)
    apart = second - first
    names = list(dict.fromkeys(papers.tolist()))
    by_paper = [apart[papers == name] for name in names]
    left_out = np.array([apart[papers != name].mean() for name in names])
    count = len(names)
    spread = np.sqrt((count - 1) / count * np.sum((left_out - left_out.mean()) ** 2))
    rng = np.random.default_rng(1982)
    shown: list[float] = []
    while len(shown) < SETS:
        some = np.concatenate([by_paper[place] for place in rng.choice(count, SOURCES, replace=False)])
        if len(some) in ALGORITHMS:
            shown.append(float(some.mean()))
    low, high = np.quantile(shown, [0.05, 0.95])
    return {
        "algorithms": len(apart),
        "papers": count,
        "few": float(first.mean()),
        "more": float(second.mean()),
        "difference": float(apart.mean()),
        "standard_error": float(spread),
        "better_algorithms": float(np.mean(apart < 0)),
        "better_papers": sum(bool(x.mean() < 0) for x in by_paper),
        "fewest": float(low),
        "most": float(high),
        "no_gain": float(np.mean(np.array(shown) >= 0)),
    }


def main() -> None:
    """Print the comparison."""
    few, more = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (5, 10)
    of = compared(few, more)
    print(
        f"{of['algorithms']} algorithms of {of['papers']} papers: "
        f"{few} games {of['few']:.1%}, {more} games {of['more']:.1%}"
    )
    print(f"difference {100 * of['difference']:.1f} ± {100 * of['standard_error']:.1f} points (jackknife over papers)")
    print(f"{more} are better on {of['better_algorithms']:.0%} of algorithms, {of['better_papers']} papers")
    print(
        f"{SOURCES} papers with {ALGORITHMS[0]} to {ALGORITHMS[-1]} algorithms: 90 % of differences from "
        f"{100 * of['fewest']:.1f} to {100 * of['most']:.1f} points; {of['no_gain']:.0%} show no gain"
    )


if __name__ == "__main__":
    main()
