"""Tasks: the games, their names, and suites.

Conventions
-----------
* A game's id is the emulator's ROM id, e.g. "montezuma_revenge".
* A name is recognised only by its letters and digits, in any case, with any spaces and punctuation; affixes of
  environment ids ("ALE/…-v5", "ale_py:ALE/…", "…NoFrameskip-v4", "…-ramDeterministic-v4"; "ALE_…-v5" in a folder's
  name) and "Atari 2600" or "atari_" before it are dropped. Other spellings are in a small table of aliases.
* Action lists are in the emulator's order; agents choose an action's index in `Game.full_actions` or
  `Game.minimal_actions`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite.tables import Named, read_named, read_records, read_rows

JOYSTICK_ACTIONS = (
    *("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT"),
    *("UPFIRE", "RIGHTFIRE", "LEFTFIRE", "DOWNFIRE"),
    *("UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE"),
)
"""The console's 18 actions: nine positions of the joystick, with and without the button (ALE 2013, §2.1)."""

TOY = "toy"
"""The small game of tests and examples, which needs no emulator."""

_PREFIX = re.compile(
    r"^(ale_py:|gym(nasium)?:|shimmy:)?"
    r"(ale[/_:-]|arcademark/|atari[ _-]*2600[ _:-]*(games[ _:-]*)?|atari(100k)?[/_.: -])?",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r"(-ram)?(noframeskip|deterministic)?([-_]v\d+)?(\.(bin|a26|rom))?$", re.IGNORECASE)
_CONTROLS = re.compile(r"(?!\s)[\x00-\x1f\x7f-\x9f]")
"""Control characters other than white space, which no spelling of a name has."""


@dataclass(frozen=True)
class Game:
    """One single-player Atari 2600 game of the emulator.

    `id` is the emulator's ROM id, `name` the title for people. `genre` and `category` are a fine and a coarse
    classification, our own, because the papers print no list. `minimal_actions` are those that the game uses,
    `full_actions` those that the console offers: 18, or 9 without the button. `modes` and `difficulties` are the
    switches' positions that the emulator accepts right after loading. `random_frames` is the mean length of an episode
    of random play under ``world-records``, in frames. `score_step` divides every score (the true step may be larger),
    and `lives` is the number at the start. `lowest_score` and `highest_score` are those of `score_bounds`.
    """

    id: str
    name: str
    genre: str
    category: str
    minimal_actions: tuple[str, ...]
    full_actions: tuple[str, ...]
    modes: tuple[int, ...]
    difficulties: tuple[int, ...]
    random_frames: int
    score_step: int
    lives: int
    lowest_score: float | None = None
    highest_score: float | None = None

    def __post_init__(self) -> None:
        for field in ("minimal_actions", "full_actions"):
            if getattr(self, field) == ("all",):  # the table's notation
                object.__setattr__(self, field, JOYSTICK_ACTIONS)


@dataclass(frozen=True)
class Suite:
    """An ordered set of tasks with reference scores.

    `tasks` are in the source's order, training tasks first: those for tuning only, none if the source does not
    distinguish them. `references` are the kinds of reference scores, see `arcademark.suite.references`.
    """

    name: str
    title: str
    citation: str
    tasks: tuple[str, ...]
    training_tasks: tuple[str, ...]
    references: tuple[str, ...]


@cache
def games() -> Mapping[str, Game]:
    """Return the emulator's 104 single-player games by id, in alphabetical order of the ids."""
    return Named({game.id: game for game in read_records("games.csv", Game)})


def game_name(task: str) -> str:
    """Return a game's name for people, "Q*bert" for "qbert"; a task of another benchmark keeps its own."""
    known = games()
    return known[task].name if task in known else task


def score_bounds(task: str) -> tuple[float | None, float | None]:
    """Return the lowest and the highest possible score of an episode of a game, each None if it is not certain.

    Episodes begin at the game's start, in its default mode; from human starts, scores may be lower. A counter's end is
    not a bound, because scores of older emulators pass it: see `arcademark.suite.anomalies`. Both are None for tasks
    that are not games of the emulator. ``data/SOURCES.md`` has the reasons.
    """
    game = games().get(task)
    return (None, None) if game is None else (game.lowest_score, game.highest_score)


def canonical_game(name: str) -> str:
    """Return the id of the game with any spelling: "Q*bert", "ALE/Qbert-v5", "James Bond".

    UnknownNameError: there is no such game; the message suggests the closest.
    """
    if name.endswith(".toml"):
        raise ArcadeMarkError(
            f"{name}: a file that describes games is a suite; name it by --suite, in Python by suite="
        )
    if (game := known_spelling(name)) is None or game == TOY:
        raise UnknownNameError("game", name.strip(), games())
    return game


def known_spelling(name: str) -> str | None:
    """Return the id of the game with this spelling, or `TOY`; None if there is none."""
    if _CONTROLS.search(name):
        return None
    key = normalised(name)
    return TOY if key == TOY else _names().get(key)


def listed(text: str, place: str) -> tuple[str, ...]:
    """Split a list of names at commas; raise an ArcadeMarkError that begins with the place if it is empty."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise ArcadeMarkError(f"{place} {text!r}: names nothing; name one, or several with commas, or leave it out")
    return names


def normalised(name: str) -> str:
    """Return the part of a name that is compared: letters and digits in lower case, without affixes of ids."""
    bare = _SUFFIX.sub("", _PREFIX.sub("", name.strip()))
    return "".join(character for character in bare.lower() if character.isalnum())


@cache
def _names() -> Mapping[str, str]:
    names = {normalised(spelling): game.id for game in games().values() for spelling in (game.id, game.name)}
    return names | {normalised(row["alias"]): row["task"] for row in read_rows("aliases.csv")}


@cache
def suites() -> Mapping[str, Suite]:
    """Return the suites by name."""
    return read_named("suites.toml", Suite)


def suite(name: str) -> Suite:
    """Return the suite of that name; raise `UnknownNameError` if there is none."""
    if name.lower() not in suites():
        raise UnknownNameError("suite", name, suites())
    return suites()[name.lower()]


def joystick_action(action: str | int) -> str:
    """Return one of `JOYSTICK_ACTIONS` by its name in any case ("FIRE", "up_left") or its index, 0 to 17."""
    text = str(action).strip()
    if text.lstrip("-").isdecimal():
        index = int(text)
        if 0 <= index < len(JOYSTICK_ACTIONS):
            return JOYSTICK_ACTIONS[index]
        raise ArcadeMarkError(f"action {index}: expected an index from 0 to 17, or a name such as FIRE")
    name = text.upper().replace("_", "").replace("-", "").replace(" ", "")
    if name not in JOYSTICK_ACTIONS:
        raise UnknownNameError("action", text, JOYSTICK_ACTIONS)
    return name
