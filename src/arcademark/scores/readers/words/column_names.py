"""Reads names of columns and algorithms by the rules in ``data/roles.json``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.scores.readers.base import OPTION
from arcademark.scores.readers.words.role_names import RULES, Role

NAMES: Mapping[Role, Sequence[str]] = RULES["names"]
"""Names of columns by role, in lower case and with blanks between words; earlier ones are preferred."""
_AGGREGATES = tuple(map(frozenset, RULES["aggregates"]))
"""Words of summaries over games, one of which makes a name of such words theirs, and those beside them."""
_WORDS = {role: (frozenset(some), frozenset(beside)) for role, (some, beside) in RULES["words"].items()}
SURE, MEANS = frozenset(RULES["sure"]), frozenset(RULES["means"])
_SETTINGS = frozenset(RULES["settings"])
"""Names of settings, which may be part of an algorithm's name: "DQN (sticky)"."""
ROWS = frozenset(RULES["rows"])
"""Words of rows that are no algorithm's; beside such rows no name of a statistic is one."""
PER = frozenset({"s", "sec", "second", "min", "minute", "h", "hour"})
"""Units of time behind the slash of a speed, "frames/s"."""
DURATIONS = frozenset(RULES["durations"])
"""Words of what a table may hold in place of scores: times, speeds, lengths of episodes, losses."""
CITED = frozenset(RULES["cited"])
"""Words of notes that may also stand behind an algorithm whose scores a column has: "Human Ref"."""
STATISTICS = frozenset({"summary", "spread", "count", "normalised", "rank"})
"""Roles of what describes scores, and is none."""
PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in RULES["patterns"].items()}
_ENVIRONMENT = re.compile(r"(?:[\w.]+/)?\w[\w.-]*-v\d+")
"""An environment's id, ``CartPole-v1``, ``cartpole-v1`` or ``MiniGrid-Empty-5x5-v0``."""
FEWEST_POINTS = 3
"""Minimum number of columns named by lengths of training that are read as a curve; fewer are asked about."""
_MANY = 50
"""Number of columns named by bare numbers from which they are hardly runs."""
_JOINED = (
    r"(?<=[a-z])(?=[A-Z])|(?<=[Δδσ%])(?=[A-Za-z])|(?<=[A-Z0-9])(?=(?:std|sem|stderr|err|mean|avg|hns|norm)(?![A-Za-z]))"
    r"|(?<=[A-Za-z0-9)])(?=[\u3040-\u30ff\u4e00-\u9fff])"
)
"""Boundaries of joined words, as in ``meanDQN``, ``ΔDQN``, ``DQNstd`` and ``DQN均值``."""
_SPLIT = re.compile(rf"[\s_\-./:|()\[\]]+|{_JOINED}")
_ABBREVIATED = re.compile(r"\b(s)\.\s?([de])\.(?:\s?(m)\.)?", re.IGNORECASE)
"""Spreads such as s.d., s.e. and s.e.m."""


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: "DQN_95%CI" as dqn, 95%, ci."""
    whole = _ABBREVIATED.sub(r"\1\2\3", name.replace("+/-", "±"))
    return tuple(PATTERNS["words"].findall(re.sub(_JOINED, " ", whole).lower()))


def key(name: str) -> str:
    """Return a column's name as `NAMES` has it: in lower case, with blanks between words."""
    return " ".join(words_of(name))


@lru_cache(maxsize=2**14)
def role_of(name: str) -> Role | None:
    """Return the role that a column's name alone says; None where it may be an algorithm or a game.

    The last part of a series, ``charts/episodic_return``, counts, and only if it is a score; ``config.seed`` is a seed,
    and scores in thousands or logarithms, ``score (k)``, count as normalised.
    """
    name = PATTERNS["prefix"].sub("", name, 1) if PATTERNS["prefix"].match(name) else name
    if "±" in name or "+" in name:  # "mean ± std" is a mean
        name = stated(name)
    role: Role | None
    if scaled := PATTERNS["scaled"].search(name):
        role = role_of((name[: scaled.start()] + name[scaled.end() :]).strip(" _"))
        if role is not None or scaled[0].strip(" ([_])").lower() != "m":  # which may be a mean
            return role if role not in (None, "score") else "normalised"
    if "/" in name.replace("+/-", ""):
        last = name.rpartition("/")[2]
        return "note" if key(last) in PER else "score" if role_of(last) == "score" else None
    text, words = key(name), words_of(name)
    if not words:
        return None if name else "index"
    for role, names in NAMES.items():
        if text in names or (role == "index" and words[:1] == ("unnamed",)):
            return role
    numbers = frozenset(word for word in words if word[0].isdecimal())
    rest, percent = frozenset(words) - numbers, any(word.endswith("%") for word in numbers)
    for role, (some, beside) in _WORDS.items():
        of_spread = role == "spread"  # which alone may have numbers, "95% CI"
        if (rest & some or (of_spread and percent)) and rest <= some | beside and (of_spread or not numbers):
            return role
    return None


def stated(name: str) -> str:
    """Return the name of what stands before ± in the cells, "mean" of "mean ± std"."""
    stated = PATTERNS["stated"].search(name)
    before = name[: stated.start()] if stated else ""
    return before + name[stated.end() :] if stated and before.strip(" ([") else name


def question(name: str, /, **values: object) -> str:
    """Return one of the questions about ambiguous columns, with its values filled in."""
    text: str = RULES["questions"][name]
    return text.format(**{"roles": OPTION["roles"], "algorithm": OPTION["algorithm"]} | values)


def asked(place: str, name: str, subject: str = "", /, **values: object) -> ArcadeMarkError:
    """Return one of the questions as an error, with the place and the subject before it."""
    return ArcadeMarkError(f"{place}: {subject}{question(name, **values)}")


class Owners:
    """Names of columns, or of rows' algorithms, among which some describe others: "DQN std" beside "DQN"."""

    def __init__(self, names: Sequence[str], is_task: Callable[[str], bool] = lambda _: False) -> None:
        self.names, self.is_task = names, is_task
        self.known = frozenset(map(key, names)) - {""}

    def find(self, name: str) -> tuple[Role | None, str]:
        """Return the role and the owner of a name: spread and "DQN" for "DQN std" and "std_DQN".

        A word that may be part of an algorithm's name, as in "DQN max", describes "DQN" only if another name is "DQN",
        its mean, its raw score or its run. A mean or a score is that of "DQN" if "DQN" has a spread or all names have
        such words, and no name is "DQN".
        """
        if self._compares(name):
            return "summary", name  # "PPO - DQN" of PPO and DQN
        for whose, what, behind in parted(_ABBREVIATED.sub(r"\1\2\3", stated(name))):
            role = role_of(what)
            if role is None or key(what) in _SETTINGS or (role_of(whose) is not None and not self.is_task(whose)):
                continue
            beside, named = key(whose) in self.known or self._compares(whose), key(whose) in self._scored
            sure = set(words_of(what)) & SURE and (beside or named or behind)
            if role in STATISTICS and key(whose) in self._with_runs:
                return role, whose
            if role == "score" or (role == "summary" and key(what) in MEANS):
                if not beside and (self._has_spread(whose) or self._all_of(what, behind, 1 if role == "score" else 2)):
                    return "value", whose
            elif role in (*STATISTICS, "note", "frames"):
                limits = role == "spread" and len(self._spreads.get(key(whose), ())) > 1  # "DQN_lo" beside "DQN_hi"
                alike = role in ("normalised", "note") and key(what) not in CITED and self._all_of(what, behind, 2)
                if sure or beside or named or limits or alike:
                    return role, whose
        return None, name

    def _compares(self, name: str) -> bool:
        """Return whether a name is of a difference or a ratio of two others."""
        versus = PATTERNS["versus"].fullmatch(name)
        return versus is not None and {key(versus[1]), key(versus[2])} <= self.known

    @cached_property
    def _scored(self) -> frozenset[str]:
        """Algorithms of which a name is a mean or a score: "mean DQN", "DQN raw score"."""
        parts = (part for name in self.names for part in parted(name))
        return frozenset(key(whose) for whose, what, _ in parts if role_of(what) == "score" or key(what) in MEANS)

    @cached_property
    def _with_runs(self) -> frozenset[str]:
        """Algorithms of which several columns are runs, or may be: "DQN seed 0" or "DQN_0"."""
        numbered = (run_of(name) or PATTERNS["numbered"].fullmatch(name) for name in self.names)
        number = Counter(key(one[0] if isinstance(one, tuple) else one[1]) for one in numbered if one)
        return frozenset(name for name, times in number.items() if times > 1)

    @cached_property
    def _spreads(self) -> Mapping[str, set[str]]:
        """The names of spreads by owner, where they stand behind it."""
        parts = (part for name in self.names for part in parted(name))
        return {
            owner: set(those)
            for owner, those in grouped(
                (key(whose), key(what)) for whose, what, behind in parts if behind and role_of(what) == "spread"
            ).items()
        }

    def _has_spread(self, whose: str) -> bool:
        """Return whether a name is a spread of it, "DQN std"."""
        own = words_of(whose)
        rest = [set(words_of(name)) - set(own) for name in self.names if set(own) <= set(words_of(name))]
        return any(words & SURE and not words & MEANS for words in rest)

    def _all_of(self, what: str, behind: bool, least: int) -> bool:
        """Return whether all names without a role, so many at least, begin or end with a word: as pandas joins them."""
        number, common = self._common
        return number >= least and (what, behind) in common

    @cached_property
    def _common(self) -> tuple[int, frozenset[tuple[str, bool]]]:
        """The number of algorithms that have the names without a role, and the words that begin or end all of these."""
        free = [name for name in self.names if name and role_of(name) is None and not set(words_of(name)) & SURE]
        several = {run[0] if (run := run_of(name)) else name for name in free}
        words = ({(what, behind) for _, what, behind in parted(name)} for name in free)
        return len(several), frozenset(set.intersection(*words) if free else ())


def parted(name: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the splits of a name into owner and description, the longest owner first; True if the owner comes first."""
    parts = [(name[: split.start()], name[split.end() :].strip(")] ")) for split in _SPLIT.finditer(name)]
    parts = [(before, after) for before, after in parts if before and after]
    yield from ((before, after, True) for before, after in parts)
    yield from ((after, before, False) for before, after in reversed(parts))


@lru_cache(maxsize=2**14)
def run_of(name: str) -> tuple[str, int] | None:
    """Return the owner and the number of a run, "DQN" and 0 of "DQN seed 0" and "seed0_DQN"; None of another name."""
    if behind := PATTERNS["run_of"].fullmatch(name):
        return behind[1], _number(behind[2])
    before = PATTERNS["of_run"].fullmatch(name)
    return (before[2], int(before[1])) if before and role_of(before[2]) is None else None


def lone_run(name: str) -> int | None:
    """Return the number of a run whose name has no owner, 0 of "seed 0", "0" and "run a"; None of another name."""
    run = PATTERNS["run"].fullmatch(name)
    return run and _number(run[1] or run[2])


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else ord(text.lower()) - ord("a")


def numbered(names: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the numbers of names such as "DQN_1", which may be runs or algorithms, by owner and name."""
    found = ((name, PATTERNS["numbered"].fullmatch(name)) for name in names)
    parts = grouped((match[1], (name, int(match[2]))) for name, match in found if match)
    return {owner: dict(numbers) for owner, numbers in parts.items()}


def are_counted(numbers: Collection[int]) -> bool:
    """Return whether numbers count from 0 or from 1, in any order, without gaps."""
    return sorted(numbers) in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))


def may_be_lengths(names: Sequence[str]) -> bool:
    """Return whether bare numbers are hardly those of runs: thousands, many, or round ones as 10, 50, 100, 200."""
    if len(names) < 2 or not all(name.isdecimal() for name in names):
        return False
    numbers = [int(name) for name in names]
    rising = all(one < other for one, other in pairwise(numbers))
    round_ones = all(number in (1, 2) or number % 5 == 0 for number in numbers)
    return len(numbers) >= _MANY or (rising and round_ones and numbers[-1] >= 10)


def is_foreign(name: str) -> bool:
    """Return whether a name is an environment's id, a summary's or a fact's, and no game."""
    return _ENVIRONMENT.fullmatch(name) is not None or is_aside(name)


def is_aside(name: str) -> bool:
    """Return whether a name is a summary's ("Mean over 57 games") or a fact's."""
    words = {word for word in words_of(name) if not word[0].isdecimal()}
    some, beside = _AGGREGATES
    return role_of(name) in (*STATISTICS, "score", "frames", "note") or (bool(words & some) and words <= some | beside)
