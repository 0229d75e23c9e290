"""What a report says: frozen data, everything that a renderer shows and nothing that it has to work out.

Conventions are those of `arcademark.report.document`; algorithms stand as they were given, games as the runs first name
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from arcademark.report.document import Breakthrough, Estimate, HardExploration, Notice, Noticed
from arcademark.report.record import Citation, Planning, Run
from arcademark.report.runs.learning import LearningCurve


@dataclass(frozen=True)
class Game:
    """A game that was played, with the scores that anchor its normalisation.

    Parameters
    ----------
    id, name : str
        "battle_zone", "Battle Zone".
    random, human, record : float or None
        Reference scores in the game's own points; None where no source gives one.
    record_hns : float or None
        The world record's human-normalised score in percent: where it stands on the random-to-human scale.
    hard_exploration : bool
        Whether it belongs to a hard-exploration set, of which small subsets say little.
    """

    id: str
    name: str
    random: float | None
    human: float | None
    record: float | None
    record_hns: float | None
    hard_exploration: bool


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a game's mean score: over seeds or, of one seed, over its episodes.

    Parameters
    ----------
    low, high : float
        In points.
    confidence : float
        A fraction, e.g. 0.95.
    low_hns, high_hns : float or None
        The same ends as human-normalised scores in percent.
    """

    low: float
    high: float
    confidence: float
    low_hns: float | None
    high_hns: float | None


@dataclass(frozen=True)
class GameScore:
    """One algorithm on one game.

    Parameters
    ----------
    game : str
        Its id.
    score : float or None
        Mean over seeds of the mean over a seed's scored episodes, in points; None if there is none. Scored are
        evaluation episodes, or a learner's last of training where the protocol reports training.
    interval : Interval or None
        None where the episodes cannot tell: there is only one, or nothing varied.
    hns, hwrns : float or None
        Normalised by the human average and by the human world record, in percent.
    episodes, planned_episodes : int
        Scored episodes finished and asked for, over all seeds.
    seeds : int
        Seeds with at least one finished episode.
    truncated : int
        Episodes that the frame cap ended.
    episode_scores : tuple of float
        Every scored episode's score, by seed, then episode.
    episode_truncated : tuple of bool
        Whether the frame cap ended it; same order.
    variant : str
        Of a best-of view: the agent that scored best on this game. Else "".
    planning : Planning or None
        What the decisions of a planner cost; None for other agents.
    """

    game: str
    score: float | None
    interval: Interval | None
    hns: float | None
    hwrns: float | None
    episodes: int
    planned_episodes: int
    seeds: int
    truncated: int
    episode_scores: tuple[float, ...]
    episode_truncated: tuple[bool, ...]
    variant: str = ""
    planning: Planning | None = None


@dataclass(frozen=True)
class Summary:
    """One metric summarised over the games.

    Parameters
    ----------
    metric : str
        "hns", "capped_hns", "hwrns" or "saber".
    title : str
        How it is called in print.
    meaning : str
        One line that defines it.
    mean, median, iqm : float or None
        In percent; None when no game has its reference scores.
    games : int
        Games with the reference scores that the metric needs.
    """

    metric: str
    title: str
    meaning: str
    mean: float | None
    median: float | None
    iqm: float | None
    games: int


@dataclass(frozen=True)
class Algorithm:
    """One algorithm's result.

    Parameters
    ----------
    name : str
        Unique in the report.
    run : str
        Name of the run that it was played in.
    protocol : str
        The protocol's label, overrides included.
    variants : int
        1, or the number of agents of which each game shows the best ("best const").
    frames_per_action : int
        Emulated frames between two actions.
    training_frames, training_episodes : int or None
        A learner's budget on each game, in the one or the other; both None for an agent that does not learn.
    scores : tuple of GameScore
        One a game, in the report's order of games; games that it never met are left out.
    summaries : tuple of Summary
    breakthroughs : tuple of Breakthrough
    estimate : Estimate
    """

    name: str
    run: str
    protocol: str
    variants: int
    frames_per_action: int
    training_frames: int | None
    training_episodes: int | None
    scores: tuple[GameScore, ...]
    summaries: tuple[Summary, ...]
    breakthroughs: tuple[Breakthrough, ...]
    estimate: Estimate

    @property
    def learns(self) -> bool:
        """Whether it was trained."""
        return (self.training_frames, self.training_episodes) != (None, None)


@dataclass(frozen=True)
class Report(Noticed):
    """The whole report.

    Parameters
    ----------
    title : str
        The algorithms' names.
    generator : str
        "ArcadeMark 0.1.0".
    scope : str
        Which games the summaries are over, in words.
    algorithms : tuple of Algorithm
    games : tuple of Game
    learning : tuple of LearningCurve
        How learners' training went, or goes; games together.
    hard_exploration : HardExploration
    runs : tuple of Run
    notices : tuple of Notice
        Warnings first.
    methods : tuple of str
        Paragraphs to paste into a paper, written from the settings in force.
    citations : tuple of Citation
    """

    SCHEMA: ClassVar[str] = "arcademark.report/2"
    title: str
    generator: str
    scope: str
    algorithms: tuple[Algorithm, ...]
    games: tuple[Game, ...]
    learning: tuple[LearningCurve, ...]
    hard_exploration: HardExploration
    runs: tuple[Run, ...]
    notices: tuple[Notice, ...]
    methods: tuple[str, ...]
    citations: tuple[Citation, ...]

    def game(self, task: str) -> Game:
        """The game with this id.

        Raises
        ------
        KeyError
            If the report does not have it.
        """
        return {game.id: game for game in self.games}[task]
