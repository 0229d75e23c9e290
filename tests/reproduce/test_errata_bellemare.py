"""Every erratum of the 2013 paper that arithmetic or the recovered scores decide, computed anew."""

import numpy as np
import pytest

from arcademark.catalogue.errata import errata
from arcademark.reproduce.ale2013 import scores as data
from arcademark.suite.tasks import games

FOUND = {erratum.where: erratum for erratum in errata("bellemare-2013")}
WIDTH, HEIGHT, COLOURS = 160, 210, 128
COPY = "Neuroevolution's copy of the best learner's scores: "


def ahead(ours, others):
    ours, others = data.best(ours), data.best(others)
    won = int((ours > others).sum())
    tied = [games()[game].name for game, a, b in zip(data.games(), ours, others, strict=True) if a == b]
    assert len(tied) == 1
    return f"{won}, or {won + 1} with the tie in {tied[0]}"


def on_testing_games():
    testing = ~data.training()
    learners, baselines, search = (data.best(names)[testing] for names in (data.LEARNERS, data.BASELINES, data.SEARCH))
    others = np.maximum(learners, baselines)
    assert named_of(testing, search == others) == named_of(testing, learners == baselines) == ["Skiing"]
    return (
        f"on the {testing.sum()} testing games learners are ahead in {(learners > baselines).sum()} and search in "
        f"{(search > others).sum()}, with a tie in Skiing"
    )


def named_of(chosen, there):
    return [games()[data.games()[place]].name for place in np.flatnonzero(chosen)[there]]


def best_learner(game):
    return f"{data.best(data.LEARNERS)[data.games().index(game)]:.10g}"


def tiles():
    whole = [(wide, high) for wide, high in ((16, 14), (14, 16)) if WIDTH % wide == HEIGHT % high == 0]
    assert len(whole) == 1
    return "{} a row and {} a column".format(*whole[0])


def owners():
    """Whose the best of all recovered scores is, in the games that the copy has."""
    agents = (*data.SEARCH, *data.LEARNERS, *data.BASELINES)
    scores = data.raw(agents)
    copied = [data.games().index(game) for game in data.games() if game not in NOT_COPIED]
    best = np.nanmax(scores, axis=0)
    uct = sum(scores[agents.index("UCT"), place] == best[place] for place in copied)
    search = sum(data.best(data.SEARCH)[place] == best[place] for place in copied) - uct
    words = {2: "two", 6: "six"}
    rest, others = words[search], words[len(copied) - uct - search]
    return f"{uct} of {len(copied)} games are UCT's, {rest} breadth-first search's, {others} learners' or baselines'"


NOT_COPIED = {"carnival", "elevator_action", "journey_escape", "pooyan", "skiing"}
"""Games of 2013 that are not among the 57, and Skiing."""

RECOMPUTED = {
    "Abstract: number of games": lambda: str(len(data.games())),
    "§3.1.1 and Appendix A.5: methods that work on the screen": lambda: {4: "four"}[len(data.LEARNERS) - 1],
    "§3.1.3: games in which learning agents beat the baselines": lambda: ahead(data.LEARNERS, data.BASELINES),
    "§3.2.3: games in which search beats learners and baselines": lambda: ahead(
        data.SEARCH, (*data.LEARNERS, *data.BASELINES)
    ),
    "§1, §3.1.2 and §3.1.3, §3.2.3, Figure 4, Table 3: games that results are reported on": on_testing_games,
    "Appendix C and an early program: tiles of the screen": tiles,
    "Algorithm 1 and Appendix A.4: the screen's bits": lambda: (
        f"7 x 210 x 160 = {7 * HEIGHT * WIDTH:,} in binary, or 128 x 210 x 160 = {COLOURS * HEIGHT * WIDTH:,} with one "
        "bit a colour"
    ),
    COPY + "Video Pinball": lambda: best_learner("video_pinball"),
    COPY + "Elevator Action": lambda: best_learner("elevator_action"),
    COPY + "Journey Escape": lambda: best_learner("journey_escape"),
    "Neuroevolution's copy of the planners' scores": owners,
    "Tables 4 and 5: Ms. Pac-Man": lambda: games()["ms_pacman"].name,
    "Tables 4 and 5: Up 'n Down": lambda: games()["up_n_down"].name,
}


@pytest.mark.parametrize("where", RECOMPUTED)
def test_what_holds_is_what_we_compute(where):
    assert RECOMPUTED[where]() == FOUND[where].holds
    assert FOUND[where].holds != FOUND[where].printed


def named(places):
    return [games()[data.games()[place]].name for place in np.flatnonzero(places)]


def test_zero_ranges_are_the_ones_that_the_errata_name():
    why = FOUND["§4.1: normalised scores where the range is zero"].why
    random = named(data.raw(("Random",))[0] == 0)
    flat = named(np.ptp(data.raw(data.BASELINES), axis=0) == 0)
    assert (len(random), len(flat)) == (5, 2)
    assert f"Random's printed score is 0.0 in {', '.join(random[:-1])} and {random[-1]}" in why
    assert f"are equal in {' and '.join(flat)}" in why
    tied = named(np.ptp(data.raw(data.SEARCH), axis=0) == 0)
    assert f"in {', '.join(tied[:-1])} and {tied[-1]}." in FOUND["§4.1.3: inter-algorithm scores of two algorithms"].why
