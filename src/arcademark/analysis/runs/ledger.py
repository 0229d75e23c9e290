"""Evaluations on test games, and violations of the 2013 paper's methodology, which allows only one setting.

Parameters are chosen on training games; on test games an agent is evaluated with one setting (Bellemare et al. 2013, §1
and §3.1.2). More trials of that setting are allowed. The 2013 baselines have no parameters to choose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from arcademark import wording
from arcademark.analysis import settings
from arcademark.grouping import grouped
from arcademark.records.ledger import Ledger, LedgerEntry, Unread, entries_beside
from arcademark.suite.subsets import for_testing
from arcademark.suite.tasks import game_name
from arcademark.wording import prose

APART = ("features",)  # parameters whose values distinguish algorithms, not settings of one algorithm
BASELINES = ("random", "const", "perturb")


@dataclass(frozen=True)
class Use:
    """One setting of an algorithm on test games."""

    setting: str  # in words: the parameters, and the training budget if one was requested
    games: tuple[str, ...]  # ids of the test games that it was evaluated on
    runs: tuple[str, ...]  # directories
    trials: int  # over all of these games and runs
    episodes: int  # over all of these games and runs
    first: str  # time at which its earliest evaluation began
    last: str  # time at which its latest evaluation began


@dataclass(frozen=True)
class Repeated:
    """A test game on which several settings were evaluated: their number, and the runs."""

    game: str
    settings: int
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Account:
    """Evaluations of one algorithm on test games."""

    algorithm: str  # with the parameters that distinguish algorithms
    baseline: bool  # True if it is one of the 2013 baselines, which have no parameters to choose
    uses: tuple[Use, ...]  # its settings, the earliest first
    repeated: tuple[Repeated, ...]  # violations of the methodology; empty for baselines
    suite: str = ""  # suite of the tasks; "" for Atari games

    def titles(self, games: Sequence[str]) -> list[str]:
        """Name games for people; tasks of a suite keep their ids."""
        return list(games) if self.suite else [game_name(game) for game in games]


@dataclass(frozen=True)
class Evaluation:
    """One evaluation, on a test game or another one, as in the runs' ledger, in words."""

    algorithm: str
    setting: str
    protocol: str
    game: str
    test: bool  # True if the game is for testing
    directory: str
    seeds: tuple[int, ...]
    episodes: int
    begun: str
    commands: tuple[str, ...]
    suite: str = ""  # suite of the task; "" for an Atari game

    @property
    def title(self) -> str:
        """The game's name for people; a task of a suite keeps its id."""
        return self.game if self.suite else game_name(self.game)


@dataclass(frozen=True)
class LedgerView:
    """Evaluations on test games, and whether each was made once."""

    SCHEMA: ClassVar[str] = "arcademark.ledger/1"
    runs: tuple[str, ...]  # directories
    accounts: tuple[Account, ...]  # algorithms evaluated on test games, those that violate the methodology first
    evaluations: tuple[Evaluation, ...]  # all evaluations, run by run
    unread: tuple[Unread, ...]
    unsplit: tuple[str, ...] = ()  # suites that do not define which of their tasks are for testing

    @property
    def noun(self) -> str:
        """The noun for what was evaluated on: "task" without any Atari game, else "game"."""
        return wording.noun("step" if self.evaluations and all(item.suite for item in self.evaluations) else "frame")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings: algorithms evaluated on a test game with several settings, and runs that were left out."""
        left_out = (f"left out: {run.reason}" for run in self.unread)
        return (*(warning(account) for account in self.accounts if account.repeated), *left_out)

    @property
    def kept(self) -> bool:
        """True if no algorithm was evaluated with two settings on a test game."""
        return not any(account.repeated for account in self.accounts)

    @property
    def others(self) -> tuple[str, ...]:
        """The games that are not for testing."""
        return tuple(dict.fromkeys(item.title for item in self.evaluations if not item.test))

    @property
    def uses(self) -> list[tuple[Account, Use]]:
        """Evaluations on test games."""
        return [(account, use) for account in self.accounts for use in account.uses]


def view(ledger: Ledger, apart: Sequence[str] = APART) -> LedgerView:
    """Return a ledger in the form that is shown; ``apart`` are parameters whose values distinguish algorithms."""
    return LedgerView(
        ledger.runs,
        accounts(ledger.entries, apart),
        tuple(_evaluation(entry, apart) for entry in ledger.entries),
        ledger.unread,
        tuple(dict.fromkeys(one.suite.name for one in ledger.entries if one.suite and not one.suite.training_tasks)),
    )


def accounts(entries: Sequence[LedgerEntry], apart: Sequence[str] = APART) -> tuple[Account, ...]:
    """Summarise evaluations on test games by algorithm; a task counts if it is for testing in any of the runs."""
    tested = {(_suite(entry), entry.game) for entry in entries if for_testing([entry.game], entry.suite)}
    named = ((entry, *_in_words(entry, apart)) for entry in entries if (_suite(entry), entry.game) in tested)
    by_algorithm = grouped(((_suite(entry), algorithm), (entry, setting)) for entry, algorithm, setting in named)
    unordered = [_account(*names, mine) for names, mine in by_algorithm.items()]
    return tuple(sorted(unordered, key=lambda account: (not account.repeated, account.baseline)))


def warning(account: Account, *, paths: bool = True) -> str:
    """Return a sentence on the games on which an algorithm was evaluated with several settings."""
    most = max(account.repeated, key=lambda item: item.settings)
    alike = [item.game for item in account.repeated if (item.settings, item.runs) == (most.settings, most.runs)]
    names, others = account.titles(alike), len(account.repeated) - len(alike)
    return prose.text("ledger", "repeated", account=account, most=most, names=names, others=others, paths=paths)


def warnings(mine: Sequence[LedgerEntry], directory: Path) -> tuple[str, ...]:
    """Return a sentence for each algorithm that a new run plays on a test game with a second setting.

    `mine` are the run's entries; the neighbours of its directory are read for evaluations of its algorithms.
    """
    names, games = {entry.algorithm for entry in mine} - {*BASELINES}, {entry.game for entry in mine}
    if not names or not for_testing(tuple(games), mine[0].suite):
        return ()
    before = [
        entry for entry in entries_beside(directory, names) if entry.game in games and _suite(entry) == _suite(mine[0])
    ]
    planned_now = {_in_words(entry)[0] for entry in mine}
    repeated = (account for account in accounts([*before, *mine]) if account.repeated)
    return tuple(warning(account) for account in repeated if account.algorithm in planned_now)


def _in_words(entry: LedgerEntry, apart: Sequence[str] = APART) -> tuple[str, str]:
    """Name an algorithm, with its distinguishing parameters, and its setting, with the requested budget."""
    words = {key: str(value).lower() if isinstance(value, bool) else value for key, value in entry.parameters.items()}
    chosen, tuned = (
        ", ".join(f"{key}={value}" for key, value in words.items() if (key in apart) is part) for part in (True, False)
    )
    budget = settings.budget(
        entry.training_frames, entry.training_episodes, entry.suite.unit if entry.suite else "frame"
    )
    setting = ", ".join(part for part in (tuned or "defaults", budget and f"trained for {budget}") if part)
    return f"{entry.algorithm}({chosen})" if chosen else entry.algorithm, setting


def _suite(entry: LedgerEntry) -> str:
    return entry.suite.name if entry.suite else ""


def _account(suite: str, algorithm: str, entries: Sequence[tuple[LedgerEntry, str]]) -> Account:
    baseline = entries[0][0].algorithm in BASELINES
    by_setting = grouped((entry.setting, entry) for entry, _ in entries)
    by_game = grouped((entry.game, entry) for entry, _ in entries)
    words = {entry.setting: setting for entry, setting in entries}
    alike = Counter(words.values())
    uses = [_use(mine, words[key], by_code=alike[words[key]] > 1) for key, mine in by_setting.items()]
    repeated = [
        Repeated(game, count, tuple(dict.fromkeys(entry.directory for entry in mine)))
        for game, mine in by_game.items()
        if not baseline and (count := len({entry.setting for entry in mine})) > 1
    ]
    return Account(algorithm, baseline, tuple(sorted(uses, key=lambda use: use.first)), tuple(repeated), suite)


def _use(entries: Sequence[LedgerEntry], setting: str, *, by_code: bool) -> Use:
    begun = sorted(entry.begun for entry in entries)
    return Use(
        setting=f"{setting}, code {(entries[0].code or 'unknown')[:8]}" if by_code else setting,
        games=tuple(dict.fromkeys(entry.game for entry in entries)),
        runs=tuple(dict.fromkeys(entry.directory for entry in entries)),
        trials=sum(len(entry.seeds) for entry in entries),
        episodes=sum(entry.episodes for entry in entries),
        first=begun[0],
        last=begun[-1],
    )


def _evaluation(entry: LedgerEntry, apart: Sequence[str]) -> Evaluation:
    return Evaluation(
        *_in_words(entry, apart),
        entry.protocol,
        entry.game,
        bool(for_testing([entry.game], entry.suite)),
        entry.directory,
        entry.seeds,
        entry.episodes,
        entry.begun,
        entry.commands,
        _suite(entry),
    )
