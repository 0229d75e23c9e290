"""What was evaluated on test games, and whether only once, as the methodology of the 2013 paper has it.

Parameters are chosen on training games; on test games an agent is evaluated with one setting (Bellemare et al. 2013, §1
and §3.1.2). More trials of that setting are fine. The 2013 baselines have nothing to choose.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from arcademark.reports import settings, wording
from arcademark.reports.runs import tuning
from arcademark.runs.store.ledger import Entry, Ledger, Unread, entries_beside, planned

if TYPE_CHECKING:
    from pathlib import Path

    from arcademark.runs.plan import Plan

APART = ("features",)  # parameters whose values make different algorithms, rather than settings of one
BASELINES = ("random", "const", "perturb")
MOST_GAMES = 4  # games that are named on a line
METHODOLOGY = "Bellemare et al. 2013, §1 and §3.1.2"


@dataclass(frozen=True)
class Use:
    """One setting of an algorithm on test games."""

    setting: str  # in words: the parameters, and the training budget where one was asked for
    games: tuple[str, ...]  # ids of the test games that it was evaluated on
    runs: tuple[str, ...]  # directories
    trials: int  # over all of these games and runs; episodes too
    episodes: int
    first: str  # when its earliest evaluation began
    last: str  # when its latest did


@dataclass(frozen=True)
class Repeated:
    """A test game on which more than one setting was evaluated: how many, and in which runs."""

    game: str
    settings: int
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Account:
    """One algorithm on test games."""

    algorithm: str  # with the parameters that make it another algorithm
    baseline: bool  # whether it is one of the 2013 baselines, which have nothing to choose
    uses: tuple[Use, ...]  # its settings, the earliest first
    repeated: tuple[Repeated, ...]  # where the methodology was not kept; empty for baselines
    suite: str = ""  # that the games are tasks of; "" of Atari games


@dataclass(frozen=True)
class Evaluation:
    """One evaluation, test game or not: as in the runs' ledger, in words."""

    algorithm: str
    setting: str
    protocol: str
    game: str
    test: bool  # whether the game is for testing
    directory: str
    seeds: tuple[int, ...]
    episodes: int
    begun: str
    commands: tuple[str, ...]
    suite: str = ""  # that the game is a task of; "" of an Atari game


@dataclass(frozen=True)
class LedgerView:
    """The ledger as it is shown."""

    SCHEMA: ClassVar[str] = "arcademark.ledger/1"
    runs: tuple[str, ...]  # directories
    accounts: tuple[Account, ...]  # algorithms that were evaluated on test games, those that broke the rule first
    evaluations: tuple[Evaluation, ...]  # all there are, run by run
    unread: tuple[Unread, ...]
    unsplit: tuple[str, ...] = ()  # suites that do not tell which of their tasks are for testing

    @property
    def noun(self) -> str:
        """What was evaluated is called: tasks, where no game of Atari was."""
        return wording.noun("step" if self.evaluations and all(item.suite for item in self.evaluations) else "frame")

    @property
    def kept(self) -> bool:
        """Whether no test game met two settings of an algorithm."""
        return not any(account.repeated for account in self.accounts)


def view(ledger: Ledger, apart: Sequence[str] = APART) -> LedgerView:
    """Show a ledger."""
    return LedgerView(
        ledger.runs,
        accounts(ledger.entries, apart),
        tuple(_evaluation(entry, apart) for entry in ledger.entries),
        ledger.unread,
        tuple(dict.fromkeys(one.suite.name for one in ledger.entries if one.suite and not one.suite.training_tasks)),
    )


def accounts(entries: Sequence[Entry], apart: Sequence[str] = APART) -> tuple[Account, ...]:
    """Sum up what was evaluated on test games, by algorithm: on tasks that are for testing in any of the runs."""
    by_algorithm: defaultdict[tuple[str, str], list[tuple[Entry, str]]] = defaultdict(list)
    for_testing = {(_suite(one), one.game) for one in entries if tuning.for_testing([one.game], one.suite)}
    for entry in entries:
        if (_suite(entry), entry.game) in for_testing:
            algorithm, setting = in_words(entry, apart)
            by_algorithm[_suite(entry), algorithm].append((entry, setting))
    found = [_account(*names, mine) for names, mine in by_algorithm.items()]
    return tuple(sorted(found, key=lambda account: (not account.repeated, account.baseline)))


def in_words(entry: Entry, apart: Sequence[str] = APART) -> tuple[str, str]:
    """Name an algorithm, with the parameters that make it another one, and its setting, with the budget asked for."""
    words = {key: str(value).lower() if isinstance(value, bool) else value for key, value in entry.parameters.items()}
    chosen, tuned = (
        ", ".join(f"{key}={value}" for key, value in words.items() if (key in apart) is part) for part in (True, False)
    )
    budget = settings.budget(entry.training_frames, entry.training_episodes, "step" if entry.suite else "frame")
    setting = ", ".join(part for part in (tuned or "its defaults", budget and f"trained for {budget}") if part)
    return f"{entry.algorithm}({chosen})" if chosen else entry.algorithm, setting


def told(account: Account, *, paths: bool = True) -> str:
    """Say in a sentence where an algorithm was evaluated with several settings."""
    most = max(account.repeated, key=lambda item: item.settings)
    alike = [item for item in account.repeated if (item.settings, item.runs) == (most.settings, most.runs)]
    runs = wording.plural(len(most.runs), "run")
    where = f" ({wording.shortened(most.runs, most=MOST_GAMES)})" if paths else ""
    others = len(account.repeated) - len(alike)
    more = f", and with several on {wording.plural(others, 'other')}" if others else ""
    which = wording.shortened(tuning.titled(item.game, account.suite) for item in alike)
    return (
        f"{account.algorithm} was evaluated on {which} in {runs}{where} with {most.settings} different settings{more}: "
        f"the methodology allows one ({METHODOLOGY})."
    )


def _suite(entry: Entry) -> str:
    return entry.suite.name if entry.suite else ""


def _account(suite: str, algorithm: str, entries: Sequence[tuple[Entry, str]]) -> Account:
    baseline = entries[0][0].algorithm in BASELINES
    by_setting: defaultdict[Any, list[Entry]] = defaultdict(list)
    by_game: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry, _ in entries:
        by_setting[entry.setting].append(entry)
        by_game[entry.game].append(entry)
    words = {entry.setting: setting for entry, setting in entries}
    alike = Counter(words.values())
    uses = [_use(mine, words[key], told_by_code=alike[words[key]] > 1) for key, mine in by_setting.items()]
    repeated = [
        Repeated(game, count, tuple(dict.fromkeys(entry.directory for entry in mine)))
        for game, mine in by_game.items()
        if (count := len({entry.setting for entry in mine})) > 1
    ]
    ordered = sorted(uses, key=lambda use: use.first)
    return Account(algorithm, baseline, tuple(ordered), () if baseline else tuple(repeated), suite)


def _use(entries: Sequence[Entry], setting: str, *, told_by_code: bool) -> Use:
    begun = sorted(entry.begun for entry in entries)
    return Use(
        setting=f"{setting}, code {(entries[0].code or 'unknown')[:8]}" if told_by_code else setting,
        games=tuple(dict.fromkeys(entry.game for entry in entries)),
        runs=tuple(dict.fromkeys(entry.directory for entry in entries)),
        trials=sum(len(entry.seeds) for entry in entries),
        episodes=sum(entry.episodes for entry in entries),
        first=begun[0],
        last=begun[-1],
    )


def _evaluation(entry: Entry, apart: Sequence[str]) -> Evaluation:
    algorithm, setting = in_words(entry, apart)
    test = bool(tuning.for_testing([entry.game], entry.suite))
    played = entry.seeds, entry.episodes, entry.begun, entry.commands, _suite(entry)
    return Evaluation(algorithm, setting, entry.protocol, entry.game, test, entry.directory, *played)


def foretold(plan: Plan, directory: Path, apart: Sequence[str] = APART) -> tuple[str, ...]:
    """Say where a run that is about to be played brings an algorithm's second setting to a test game, a sentence each.

    The neighbours of its directory are read, as far as they are of the plan's algorithms.
    """
    mine = list(planned(plan, directory))
    names, games = {entry.algorithm for entry in mine} - {*BASELINES}, {entry.game for entry in mine}
    if not names or not tuning.for_testing(tuple(games), plan.protocol.suite):
        return ()
    before = [
        entry for entry in entries_beside(directory, names) if entry.game in games and _suite(entry) == _suite(mine[0])
    ]
    met = {in_words(entry, apart)[0] for entry in mine}
    found = accounts([*before, *mine], apart)
    return tuple(told(account) for account in found if account.repeated and account.algorithm in met)
