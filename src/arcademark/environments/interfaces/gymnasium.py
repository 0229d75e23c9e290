"""Games and other tasks as Gymnasium environments, to train with any library under a declared protocol.

Seeding: ``reset(seed=s)`` begins a series of episodes, each with its own generator: the next child of
``numpy.random.SeedSequence(s)``. A reset without a seed begins the next episode of the series. Sub-environment i of
a vector is seeded with ``s + i`` and plays exactly what a single environment with that seed plays.

Rewards are raw and games end as in evaluation; with ``training=True`` they end, and rewards are clipped, as the
protocol specifies for training.

Importing this module registers every game with Gymnasium as "arcademark/pong-v0", so that its functions accept
"arcademark.environments.interfaces.gymnasium:arcademark/pong-v0", with ``protocol=…`` beside it; a game of your own is
"…:arcademark/own-v0", with ``game="catch", suite="catch.toml"``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

import gymnasium
from gymnasium.vector import AutoresetMode

from arcademark.environments.interfaces.single import GymnasiumEnv, PaddingType
from arcademark.environments.interfaces.vector import GymnasiumVectorEnv, ResetMode
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
from arcademark.keywords import Names, knowing, taken
from arcademark.suite import protocols
from arcademark.suite.subsets import tasks_to_play
from arcademark.suite.tasks import games

MAX_GAMES = 16_384
"""Maximum number of environments in a vector."""


@knowing()
def make(
    game: str,
    protocol: str | protocols.Protocol | None = None,
    *,
    training: bool = False,
    render_mode: Literal["rgb_array"] | None = None,
    channels_first: bool = False,
    padding_type: PaddingType = "reset",
    suite: str | os.PathLike[str] | None = None,
    **overrides: object,
) -> GymnasiumEnv:
    """Return a game, or another task, as a Gymnasium environment.

    Observations and actions of other tasks are those of their own environments, numbered actions from 0.

    Parameters
    ----------
    game : str
        Any spelling of its name; for other tasks their id.
    protocol : str or Protocol, optional
        A protocol or its name, "world-records" by default; for other tasks and games of your own
        `arcademark.suite_protocol`, or a `suite`, which has its own protocol for tasks that are no games.
    training : bool
        Whether episodes end and rewards are clipped as the protocol specifies for training.
    render_mode : {"rgb_array"}, optional
    channels_first : bool
        Whether observations have channels first, for convolutional networks: (screens, height, width), coloured ones (3
        · screens, height, width); for other tasks one array, as in `environments.observations.spaces.View`.
    padding_type : {"reset", "zero"}
        Replacement of the screens before an episode's first: copies of that, as in Gymnasium's
        ``FrameStackObservation``, or zeros, as in Stable-Baselines3's ``VecFrameStack``.
    suite : str or path, optional
        File or name of the suite of the task or of your own game, as in `arcademark.suite_protocol`.
    **overrides
        Settings of the protocol to change, e.g. ``frame_skip=5``; or ``overrides={"frame_skip": 5}``, as in `run`.

    Raises
    ------
    ArcadeMarkError
        There is no such game, protocol or setting, or the game cannot be played so.
    """
    return GymnasiumEnv(
        environment_spec(game, _rules(protocol, suite, overrides)),
        training=training,
        render_mode=render_mode,
        channels_first=channels_first,
        padding_type=padding_type,
    )


@knowing()
def make_vec(
    games: Names,
    num_envs: int | None = None,
    protocol: str | protocols.Protocol | None = None,
    *,
    training: bool = False,
    render_mode: Literal["rgb_array"] | None = None,
    autoreset_mode: ResetMode = AutoresetMode.NEXT_STEP,
    copy: bool = True,
    threads: int | None = None,
    channels_first: bool = False,
    padding_type: PaddingType = "reset",
    suite: str | os.PathLike[str] | None = None,
    **overrides: object,
) -> GymnasiumVectorEnv:
    """Return one or several games, or other tasks, as a Gymnasium vector environment, played in this process.

    Parameters
    ----------
    games : str or sequence of str
        A game or task, several, a subset or a suite; sub-environment i plays game ``i % len(games)``.
    num_envs : int, optional
        Sub-environments; one per game by default.
    protocol, training, render_mode, channels_first, padding_type, suite, **overrides
        As for `make`.
    autoreset_mode : gymnasium.vector.AutoresetMode or str
        "next_step", "same_step" or "disabled": what follows the end of a sub-environment's episode.
    copy : bool
        Whether each step returns a new array, rather than the same one overwritten.
    threads : int, optional
        Threads that play games on our own emulator; by default one per core, at most one per four games. Results do not
        depend on it. ale-py plays games in turn.

    Raises
    ------
    ArcadeMarkError
        As in `make`; or the games' actions or observations differ.
    """
    rules = _rules(protocol, suite, overrides)
    specs = [environment_spec(game, rules) for game in tasks_to_play(games, rules.suite)]
    count = len(specs) if num_envs is None else num_envs
    if count > MAX_GAMES:
        raise ArcadeMarkError(f"num_envs {count:,}: expected at most {MAX_GAMES:,}")
    if not specs or count < 1:
        raise ArcadeMarkError(f"a vector of {count} environments of {len(specs)} games; expected at least one of each")
    return GymnasiumVectorEnv(
        [specs[i % len(specs)] for i in range(count)],
        training=training,
        render_mode=render_mode,
        autoreset_mode=autoreset_mode,
        copy=copy,
        threads=threads,
        channels_first=channels_first,
        padding_type=padding_type,
    )


def _rules(
    protocol: str | protocols.Protocol | None, suite: str | os.PathLike[str] | None, overrides: Mapping[str, object]
) -> protocols.Protocol:
    given = taken(overrides.get("overrides"), Mapping[str, object] | None, "overrides") or {}
    if twice := next((name for name in given if name in overrides), None):
        raise ArcadeMarkError(f"{twice!r} is given twice, by itself and in overrides; leave one out")
    changed = {name: value for name, value in overrides.items() if name != "overrides"} | given
    return protocols.rules_of(protocol, suite, changed)


def _vector(num_envs: int, *, game: str, **how: Any) -> GymnasiumVectorEnv:
    return make_vec(game, num_envs, **how)


for _id, _given in {**{_game: {"game": _game} for _game in games()}, "own": {}}.items():
    gymnasium.register(
        f"arcademark/{_id}-v0",
        entry_point=f"{__name__}:make",
        vector_entry_point=f"{__name__}:_vector",
        kwargs=_given,
    )
