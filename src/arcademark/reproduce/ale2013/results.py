"""The 2013 paper's learners (§3.1.3) and search methods (§3.2.3), against the recovered scores.

Conventions
-----------
* An agent is ahead in a game if its printed score is higher; equal printed scores are a tie, whose order in the paper
  is not known without further digits.
* No standard errors were recovered, so the significance of differences is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from arcademark.reproduce.ale2013 import scores as data
from arcademark.reproduce.ale2013.scores import LEARNERS, raw, stated
from arcademark.reproduce.comparison import PrintedComparison
from arcademark.suite import references, tasks

SPARSE = ("freeway", "private_eye", "montezuma_revenge", "venture")
"""The four games that §3.2.3 names as hard for search."""
REFUSED = ("double_dunk", "journey_escape", "tennis")
"""The three games in which doing nothing is best according to §3.1.3."""


def learning() -> Iterator[PrintedComparison]:
    """Check the statements of §3.1.3, in its order."""
    yield _learners_ahead()
    scores, const = raw(LEARNERS), raw(("Const",))[0]
    others = data.best((*LEARNERS, "Random", "Perturb"))
    places = [data.place(game) for game in REFUSED]
    yield stated(
        "best-unplayed",
        f"Const {', '.join(f'{const[place]:g}' for place in places)}; the best other agent "
        f"{', '.join(f'{others[place]:g}' for place in places)}",
        all(const[place] > others[place] for place in places),
    )
    yield from _bass_and_disco(scores)
    yield _ram()
    first, last = ((scores == edge).sum(axis=1) for edge in (scores.max(axis=0), scores.min(axis=0)))
    shown = ", ".join(f"{name} {a} and {b}" for name, a, b in zip(LEARNERS, first, last, strict=True))
    yield stated(
        "none-for-all",
        f"games in which each is best and worst, ties counted for all: {shown}",
        (first > 0).all() and (last > 0).all(),
    )
    best, human = data.learners("montezuma_revenge").max(), references.scores("human")["montezuma_revenge"]
    yield stated(
        "montezuma", f"best learner {best:g}; an average human of Badia et al. 2020 {human:g}", best < 0.01 * human
    )
    tennis = data.learners("tennis")
    nothing, random = (raw((name,))[0, data.place("tennis")] for name in ("Const", "Random"))
    yield stated(
        "tennis",
        f"learners {tennis.min():g} to {tennis.max():g}, Const {nothing:g}, Random {random:g}",
        tennis.min() > -1 and tennis.max() <= 0 and nothing == 0,
    )
    yield _unseen_games()


def _learners_ahead() -> PrintedComparison:
    best, learners = data.best(data.BASELINES), data.best(LEARNERS)
    ahead, tied = int((learners > best).sum()), _named(learners == best)
    return stated(
        "learners-ahead",
        f"{ahead} of {np.count_nonzero(~np.isnan(best))}, and a tie in {tied}",
        ahead == 40,
        why=f"In {tied} the printed scores of learners and baselines are 0.0; counting it gives the paper's count.",
    )


def _bass_and_disco(scores: data.Scores) -> Iterator[PrintedComparison]:
    from scipy.stats import rankdata

    learnt = scores[:, data.best(LEARNERS) > data.best(data.BASELINES)]
    first, second = _most(learnt == learnt.max(axis=0))
    rank = rankdata(-learnt, axis=0).mean(axis=1)
    bass, disco = LEARNERS.index("BASS"), LEARNERS.index("DISCO")
    yield stated(
        "bass",
        f"best in {first[bass]} of {learnt.shape[1]} games (the next, {LEARNERS[second]}, in {first[second]}); average "
        f"rank {rank[bass]:.2f} of 5, the next {np.sort(rank)[1]:.2f}",
        first[bass] == first.max() and rank[bass] == rank.min(),
    )
    last, second = _most(scores == scores.min(axis=0))
    rank = rankdata(-scores, axis=0).mean(axis=1)
    yield stated(
        "disco",
        f"last in {last[disco]} of 55 games (the next, {LEARNERS[second]}, in {last[second]}); average rank "
        f"{rank[disco]:.2f} of 5",
        last[disco] == last.max() and rank[disco] == rank.max(),
    )


def _most(marked: NDArray[np.bool_]) -> tuple[NDArray[np.int64], int]:
    """Return each learner's number of marked games, and the index of the learner with the second most."""
    counts = marked.sum(axis=1)
    return counts, int(np.argsort(counts, kind="stable")[-2])


def _ram() -> PrintedComparison:
    ram = raw(("RAM",))[0]
    counts = {name: (int((ram > raw((name,))[0]).sum()), int((ram < raw((name,))[0]).sum())) for name in LEARNERS}
    others = ", ".join(f"{name} {a} to {b}" for name, (a, b) in counts.items() if name not in ("RAM", "BASS"))
    wins, losses = counts["BASS"]
    return stated("ram", f"against BASS ahead in {wins} games and behind in {losses}; against {others}", wins < losses)


def _unseen_games() -> PrintedComparison:
    training, place = data.training(), LEARNERS.index("DISCO")
    seen, unseen = (np.nanmean(shares_of_best()[:, games], axis=1) for games in (training, ~training))
    inter = data.inter_scores()[place]
    return stated(
        "unseen-games",
        f"on average {seen[place]:.2f} and {unseen[place]:.2f} of the best learner's score, the largest fall of the "
        f"five; but average inter-algorithm score {inter[training].mean():.2f} and {inter[~training].mean():.2f}",
        np.argmax(seen - unseen) == place,
    )


def planning() -> Iterator[PrintedComparison]:
    """Check the statements of §3.2.3, in its order."""
    margin = data.best(data.SEARCH) - data.best((*LEARNERS, *data.BASELINES))
    ahead, behind = int((margin > 0).sum()), margin < 0
    yield stated("search-ahead", f"{ahead}, and a tie in {_named(margin == 0)}", ahead == 49)
    sparse = [bool(behind[data.place(game)]) for game in SPARSE]
    yield stated(
        "search-behind",
        f"{sum(sparse)} of {int(behind.sum())}: {_named(behind)}",
        int(behind.sum()) == 6 and all(sparse),
    )
    breadth, uct = raw(data.SEARCH)
    better, worse, equal = (int(games.sum()) for games in (uct > breadth, uct < breadth, uct == breadth))
    yield stated(
        "uct",
        f"better in {better} of the {better + worse + equal} games that both have, worse in {worse}, equal in {equal}",
        better > len(data.games()) / 2,
    )
    yield stated("uct-significantly")


def shares_of_best() -> data.Scores:
    """Return learners' scores as shares of the best learner's, shape (5, 55); NaN where that is not above 0."""
    best = data.best(LEARNERS)
    return raw(LEARNERS) / np.where(best > 0, best, np.nan)


def _named(marked: NDArray[np.bool_]) -> str:
    return ", ".join(tasks.game_name(game) for game, chosen in zip(data.games(), marked, strict=True) if chosen)
