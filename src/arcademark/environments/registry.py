"""Opening of environments, from a task's name and a protocol.

`environment_spec` of a game needs facts only: no ROM is loaded, no emulator imported, and games that cannot be played
are refused. Other tasks are made by Gymnasium (`arcademark.environments.tasks`).
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import reprlib
from typing import TYPE_CHECKING, Literal, cast

from arcademark.environments import toy
from arcademark.environments.base import AskedObservation, EnvironmentSpec
from arcademark.environments.emulation import facts
from arcademark.environments.emulation.contract import Emulator
from arcademark.environments.emulation.palettes import recolour
from arcademark.errors import ArcadeMarkError
from arcademark.suite import modifications, protocols, tasks
from arcademark.suite.task_suites import TaskSuite
from arcademark.suite.tasks import TOY

if TYPE_CHECKING:
    from arcademark.environments.generative import GenerativeModel
    from arcademark.environments.play import GameEnvironment
    from arcademark.environments.tasks import TaskEnvironment


def environment_spec(
    game: str, protocol: protocols.Protocol, frames_per_action: int | None = None, seed: int | None = None
) -> EnvironmentSpec:
    """Return the description of a game ("toy", or any spelling of a name) or a task under a protocol, for an agent.

    `frames_per_action` replaces the protocol's `frame_skip`, `seed` is a trial's. ArcadeMarkError: the game or task is
    unknown, or the protocol cannot be played in it.
    """
    if not isinstance(game, str):
        raise ArcadeMarkError(f"game {reprlib.repr(game)}: expected a name, such as 'pong'")
    if isinstance(protocol, protocols.StepProtocol):
        from arcademark.environments.tasks import task_spec

        return dataclasses.replace(task_spec(game, protocol), seed=seed)
    assert isinstance(protocol, protocols.AtariProtocol)
    if protocol.suite:
        game_id = protocol.suite.resolve([game])[0]
    else:
        game_id = TOY if game.strip().lower() == TOY else tasks.canonical_game(game)
    _check_playable(game_id, protocol)
    spec = EnvironmentSpec(
        game=game_id,
        protocol=protocol,
        action_meanings=_action_meanings(game_id, protocol),
        observation_shape=facts.observation_shape(game_id, protocol),
        seed=seed,
    )
    return as_asked(spec, None, frames_per_action)


def as_asked(
    spec: EnvironmentSpec, observation: AskedObservation | None, frames_per_action: int | None = None
) -> EnvironmentSpec:
    """Return the description of a game with an agent's requests.

    Parameters
    ----------
    spec : EnvironmentSpec
    observation : {"palette", "ram"}, optional
        Requested observations: one screen of the last frame, or the memory; the protocol's by default.
    frames_per_action : int, optional
        Frames for which an action is held; the protocol's `frame_skip` by default. No effect on other tasks than games.

    Raises
    ------
    ArcadeMarkError
        If the memory or screen of another task is requested, or an action would take no frame.
    """
    if frames_per_action is not None and frames_per_action < 1:
        raise ArcadeMarkError(f"frames_per_action is {frames_per_action}; an action takes at least 1 frame")
    if observation is None and (frames_per_action is None or spec.protocol.unit == "step"):
        return spec
    settings = spec.atari
    if frames_per_action is not None:
        settings = dataclasses.replace(settings, frame_skip=frames_per_action)
    if observation is not None:
        settings = settings.observed(observation)
    return dataclasses.replace(spec, protocol=settings, observation_shape=facts.observation_shape(spec.game, settings))


EmulatorName = Literal["ale", "console"]
"""Emulator of a game: ale-py, or our own."""


def choose_emulator(
    game: str, requested: EmulatorName | None = None, *, compiles: bool = True, suite: TaskSuite | None = None
) -> EmulatorName:
    """Return the emulator of a game: the requested one, otherwise ours if it is available and proven, otherwise ale-py.

    Without `compiles`, our emulator counts as unavailable until it was compiled here, which takes seconds. A
    user-defined game, of a `suite`, is played by ours unless ale-py, which must know its ROM, is requested.
    ArcadeMarkError: the requested one is not available, with the reason.
    """
    if suite is not None:
        return _choose_for_own(game, suite, requested, compiles)
    if requested == "ale" or game == TOY:
        return requested or "ale"
    from arcademark.emulator import build, prove

    game = tasks.canonical_game(game)
    if (missing := core_missing(compiles, build.switch())) is not None:
        missing = f"our emulator is not available: {missing}"
    elif game in prove.proven():
        return "console"
    if requested == "console":
        raise ArcadeMarkError(
            f"game {game!r}: {missing or 'our emulator is not proven for it'}; use --engine emulator=ale"
        )
    return "ale"


def _choose_for_own(game: str, suite: TaskSuite, requested: EmulatorName | None, compiles: bool) -> EmulatorName:
    from arcademark.emulator import build
    from arcademark.environments.emulation.described import why_not

    missing = core_missing(compiles, build.switch())
    if requested == "console" or (requested is None and missing is None):
        if missing is not None:
            raise ArcadeMarkError(f"game {game!r}: our emulator is not available: {missing}")
        return "console"
    if why := why_not(suite.cartridge(game), suite.read_rom(game)):
        if requested is None and not compiles:
            return _choose_for_own(game, suite, None, True)
        also = f", and our emulator is not available: {missing}" if requested is None else "; play it on our emulator"
        raise ArcadeMarkError(f"game {game!r}: {why}{also}")
    return "ale"


def referee(spec: EnvironmentSpec) -> EmulatorName:
    """Return the emulator of replays: ale-py, or ours for a user-defined game that ale-py cannot play.

    Errors as in `Cartridge.read_rom`.
    """
    suite = spec.protocol.suite
    if suite is None or not suite.of_games:
        return "ale"
    from arcademark.environments.emulation.described import why_not

    return "console" if why_not(suite.cartridge(spec.game), suite.read_rom(spec.game)) else "ale"


@functools.cache
def core_missing(compiles: bool, switch: str) -> str | None:
    """Return why our emulator's core is not available, None if it is; cached, as compiling may fail slowly."""
    from arcademark.emulator import build

    try:
        if switch == "off":
            raise build.NoCore(build.OFF)
        if not compiles and build.kept((build.version(),), build.CORE_FLAGS) is None:
            raise build.NoCore("it is not compiled yet")
        build.core()
    except build.NoCore as error:
        return str(error)
    return None


def open_environment(
    spec: EnvironmentSpec,
    *,
    training: bool = False,
    emulator: EmulatorName | None = None,
    pictures: bool = False,
) -> GameEnvironment | TaskEnvironment:
    """Make the environment of a spec: a game's, or one of Gymnasium's, which renders only with `pictures`.

    Episodes end as the protocol specifies for training or for evaluation. Both emulators play alike, but cannot
    exchange saved states; by default `choose_emulator` chooses. ArcadeMarkError: the ROM is missing or not the one
    expected, or the emulator is unavailable or not proven for the game.
    """
    if isinstance(spec.protocol, protocols.StepProtocol):
        from arcademark.environments.tasks import TaskEnvironment

        return TaskEnvironment(spec, spec.protocol, pictures)
    from arcademark.environments.play import GameEnvironment

    return GameEnvironment(spec, _open_emulator(spec, emulator), training)


def open_model(spec: EnvironmentSpec, *, emulator: EmulatorName | None = None) -> GenerativeModel:
    """Make the generative model of a spec, for planners; it ends episodes as the protocol specifies for evaluation.

    `emulator` is that of the environment whose states are searched. ArcadeMarkError: as in `open_environment`, or the
    game's saved states cannot be exact.
    """
    from arcademark.environments.generative import GenerativeModel

    if isinstance(spec.protocol, protocols.StepProtocol):
        from arcademark.environments.tasks import TaskModel

        return cast("GenerativeModel", TaskModel(spec, spec.protocol))  # has what planners use
    suite = spec.atari.suite
    emulator = choose_emulator(spec.game, emulator, suite=suite)
    if emulator == "ale" and _known_as(spec.game, suite) in facts.NOT_EXACT:
        raise ArcadeMarkError(
            f"game {spec.game!r}: planners cannot play it on ale-py, whose saved states do not replay exactly there; "
            "our emulator's do ('arcademark info emulator')"
        )
    return GenerativeModel(spec, _open_emulator(spec, emulator))


def _open_emulator(spec: EnvironmentSpec, requested: EmulatorName | None) -> Emulator:
    settings = spec.atari
    if spec.game == TOY:
        return recolour(toy.ToyEmulator(), settings.colours)
    native = choose_emulator(spec.game, requested, suite=settings.suite) == "console"
    opened: Emulator
    if settings.suite:
        opened = _open_own(spec.game, settings.suite, native)
    elif settings.modification is not None:
        from arcademark.environments.emulation.modified import ModifiedAtari, ModifiedNative

        changes = modifications.modifications()[spec.game][settings.modification]
        opened = (ModifiedNative if native else ModifiedAtari)(changes, settings.mode, settings.difficulty)
    elif native:
        from arcademark.environments.native import NativeEmulator

        opened = NativeEmulator(spec.game, settings.mode, settings.difficulty)
    else:
        from arcademark.environments.emulation.atari import open_ale

        opened = open_ale(spec.game, settings.mode, settings.difficulty)
    return recolour(opened, settings.colours)


def _known_as(game: str, suite: TaskSuite | None) -> str:
    """Return the id of ale-py's game for a game, which may be user-defined."""
    if suite is None:
        return game
    from arcademark.emulator.games import known_as

    return known_as(suite.read_rom(game))


def _open_own(game: str, suite: TaskSuite, native: bool) -> Emulator:
    """Open a user-defined game."""
    cartridge, rom = suite.cartridge(game), suite.read_rom(game)
    if not native:
        from arcademark.environments.emulation.described import DescribedAtari

        return DescribedAtari(game, cartridge, rom)
    from arcademark.emulator.games import own_game
    from arcademark.environments.native import NativeEmulator

    return NativeEmulator(game, own=(own_game(game, cartridge, rom), rom, cartridge))


def version_of(task: str, protocol: protocols.Protocol) -> str:
    """Return the version of a task.

    For a game it is `rom_checksum`, for a user-defined one its verified SHA-256; for another task its package with the
    version, "gymnasium 1.2.1".
    """
    if isinstance(protocol, protocols.StepProtocol):
        from arcademark.environments.tasks import package

        return package(protocol.suite.tasks[task])
    if protocol.suite:
        protocol.suite.read_rom(task)
        return protocol.suite.cartridge(task).sha256
    return rom_checksum(task)


def rom_checksum(game: str) -> str:
    """Return the MD5 checksum of a game's ROM in hexadecimal ("" for the toy game); errors as in `atari.rom_path`."""
    if game == TOY:
        return ""
    from arcademark.environments.emulation.atari import rom_path

    return hashlib.md5(rom_path(tasks.canonical_game(game)).read_bytes(), usedforsecurity=False).hexdigest()


def _action_meanings(game: str, settings: protocols.AtariProtocol) -> tuple[str, ...]:
    minimal = settings.action_set == "minimal"
    if settings.suite:
        return settings.suite.cartridge(game).minimal_actions if minimal else tasks.JOYSTICK_ACTIONS
    if game == TOY:
        return toy.MINIMAL_ACTIONS if minimal else tasks.JOYSTICK_ACTIONS
    return tasks.games()[game].minimal_actions if minimal else tasks.games()[game].full_actions


def _check_playable(game: str, settings: protocols.AtariProtocol) -> None:
    """Raise ArcadeMarkError, with the reason, if the protocol cannot be played in the game."""
    if not settings.runnable:
        raise ArcadeMarkError(
            f"protocol {settings.name!r} starts from human play, which cannot be replayed here; use another"
        )
    height, width = screen = facts.screen_shape(game, settings.suite)
    size = facts.resized(settings, screen)
    if size[0] > height or size[1] > width:
        raise ArcadeMarkError(
            f"protocol {settings.name!r}: screen_size {size[0]}x{size[1]} does not fit into the {height}x{width} "
            f"screen of {game!r}; screens are only shrunk"
        )
    known = tasks.games().get(game)
    positions = {"mode": known.modes if known else (0,), "difficulty": known.difficulties if known else (0,)}
    for setting, has in {**positions, "modification": tuple(modifications.modifications().get(game, {}))}.items():
        value = getattr(settings, setting)
        if value is not None and value not in has:
            listed = f"it has {', '.join(map(str, has))}" if has else "it has none"
            raise ArcadeMarkError(f"game {game!r} has no {setting} {value}; {listed}")
