"""From a task's name and a protocol to an environment.

Of a game `environment_spec` needs facts only: no ROM is loaded, no emulator imported, and what cannot be played is
refused. Other tasks are made by Gymnasium (`arcademark.environments.tasks`).
"""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from arcademark import plugins
from arcademark.environments import toy
from arcademark.environments.base import AskedObservation, EnvironmentSpec
from arcademark.environments.emulation import facts
from arcademark.environments.emulation.console import Console
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.files import read_text
from arcademark.suite import modifications, protocols, task_suites, tasks
from arcademark.suite.task_suites import TaskSuite

if TYPE_CHECKING:
    from arcademark.environments.emulation.generative import GenerativeModel
    from arcademark.environments.play import ConsoleEnvironment
    from arcademark.environments.tasks import TaskEnvironment


SUITES = "arcademark.suites"
"""The group of entry points by which packages declare suites."""


def load_suite(text: str | TaskSuite) -> TaskSuite:
    """Return the suite that is meant: a shipped or an installed package's name, a file, or itself.

    A package declares a suite by an entry point of `SUITES`: a file's path, or what returns one.
    ``gymnasium:CartPole-v1,Acrobot-v1`` is a suite of these environments. ArcadeMarkError: there is none, or the file
    is not one, with the place.
    """
    if isinstance(text, TaskSuite):
        return text
    shipped = task_suites.task_suites()
    if text.startswith(task_suites.ON_THE_SPOT):
        return task_suites.on_the_spot(text)
    if text.lower() in shipped:
        return shipped[text.lower()]
    path = Path(text)
    if path.suffix != ".toml" and not path.exists():
        declared = plugins.named(SUITES, text)
        if declared is None:
            raise UnknownNameError("suite", text, [*shipped, *tasks.suites(), *plugins.names(SUITES)])
        path = Path(declared() if callable(declared) else declared)
    return task_suites.read_suite(read_text(path, task_suites.MOST_BYTES), str(path), path.stem.lower())


def environment_spec(game: str, protocol: protocols.Protocol, frames_per_action: int | None = None) -> EnvironmentSpec:
    """Return what an agent is told about a game ("toy", or any spelling of a name) or a task under a protocol.

    `frames_per_action` replaces the protocol's `frame_skip`. ArcadeMarkError: there is no such game or task, or the
    protocol cannot be played in it.
    """
    if isinstance(protocol, protocols.StepProtocol):
        from arcademark.environments.tasks import task_spec

        return task_spec(game, protocol)
    assert isinstance(protocol, protocols.AtariProtocol)
    game_id = toy.NAME if game.strip().lower() == toy.NAME else tasks.canonical_game(game)
    settings = _with_frames_per_action(protocol, frames_per_action)
    _check_playable(game_id, settings)
    return EnvironmentSpec(
        game=game_id,
        protocol=settings,
        action_meanings=_action_meanings(game_id, settings),
        observation_shape=facts.observation_shape(game_id, settings),
    )


def observing(spec: EnvironmentSpec, observation: AskedObservation | None) -> EnvironmentSpec:
    """Return a game with the observations that an agent asks for: one screen of the last frame, or the memory."""
    if observation is None:
        return spec
    settings = dataclasses.replace(spec.atari, observation=observation, screen_size=None, max_pool=False, frame_stack=1)
    return dataclasses.replace(spec, protocol=settings, observation_shape=facts.observation_shape(spec.game, settings))


Emulator = Literal["ale", "console"]
"""What plays a game: ale-py, or our own console."""


def choose_emulator(game: str, asked: Emulator | None = None, *, compiles: bool = True) -> Emulator:
    """Return what plays a game: what is asked for, else the console where it is here and proven, else ale-py.

    Without `compiles`, a console that was never compiled here, which takes seconds, is not here. ArcadeMarkError: the
    console is asked for and cannot be had, with the reason.
    """
    if asked == "ale" or game == toy.NAME:
        return asked or "ale"
    game = tasks.canonical_game(game)
    missing = _console_missing(game, compiles)
    if missing is None:
        return "console"
    if asked == "console":
        raise ArcadeMarkError(f"game {game!r}: {missing}; play it on ale-py")
    return "ale"


def _console_missing(game: str, compiles: bool) -> str | None:
    """Return why the console cannot play a game, None if it can."""
    from arcademark.console import build, prove

    missing = _core_missing(compiles, build.switch())
    if missing is not None:
        return f"the console is not here: {missing}"
    return None if game in prove.proven() else "the console is not proven for it"


@functools.cache
def _core_missing(compiles: bool, switch: str) -> str | None:
    """Return why there is no core, None if there is one; cached, as compiling may fail slowly."""
    from arcademark.console import build

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
    frames_per_action: int | None = None,
    emulator: Emulator | None = None,
    pictures: bool = False,
) -> ConsoleEnvironment | TaskEnvironment:
    """Make the environment of a spec: `open_game`, or one of Gymnasium's, which renders only with `pictures`."""
    if isinstance(spec.protocol, protocols.StepProtocol):
        from arcademark.environments.tasks import TaskEnvironment

        return TaskEnvironment(spec, spec.protocol, pictures)
    return open_game(spec, training=training, frames_per_action=frames_per_action, emulator=emulator)


def open_game(
    spec: EnvironmentSpec,
    *,
    training: bool = False,
    frames_per_action: int | None = None,
    emulator: Emulator | None = None,
) -> ConsoleEnvironment:
    """Make the environment of a game.

    Episodes end as the protocol says for training or for evaluation. Both emulators play alike, but cannot exchange
    saved states; by default `choose_emulator` chooses. ArcadeMarkError: the ROM is missing or not the one expected, or
    the console cannot be had or is not proven for the game.
    """
    from arcademark.environments.play import ConsoleEnvironment

    spec = dataclasses.replace(spec, protocol=_with_frames_per_action(spec.atari, frames_per_action))
    settings = spec.atari
    end = settings.training_episode_end if training else settings.evaluation_episode_end
    return ConsoleEnvironment(spec, _open_console(spec, emulator), _console_actions(spec), end)


def open_model(
    spec: EnvironmentSpec, *, frames_per_action: int | None = None, emulator: Emulator | None = None
) -> GenerativeModel:
    """Make the generative model of a spec, for planners; it ends episodes as the protocol says for evaluation.

    `emulator` is that of the environment whose states are searched. ArcadeMarkError: as `open_environment`, or the
    game's saved states cannot be exact.
    """
    from arcademark.environments.emulation.generative import GenerativeModel

    if isinstance(spec.protocol, protocols.StepProtocol):
        from arcademark.environments.tasks import TaskModel

        return cast("GenerativeModel", TaskModel(spec, spec.protocol))  # has what planners use
    emulator = choose_emulator(spec.game, emulator)
    if spec.game in facts.NOT_EXACT and emulator == "ale":
        raise ArcadeMarkError(
            f"game {spec.game!r} cannot be planned in on ale-py, whose saved states do not replay exactly there; "
            "the console's do ('arcademark info console')"
        )
    spec = dataclasses.replace(spec, protocol=_with_frames_per_action(spec.atari, frames_per_action))
    end = spec.atari.evaluation_episode_end
    return GenerativeModel(spec, _open_console(spec, emulator), _console_actions(spec), end)


def _open_console(spec: EnvironmentSpec, asked: Emulator | None) -> Console:
    settings = spec.atari
    if (settings.colours, settings.modification) == ("original", None):
        return _open_original(spec, asked)
    from arcademark.environments.emulation import modified

    if settings.modification is None:
        return modified.recolour(_open_original(spec, asked), settings.colours)
    kind = modified.ModifiedNative if choose_emulator(spec.game, asked) == "console" else modified.ModifiedAtari
    changes = modifications.modifications()[spec.game][settings.modification]
    return modified.recolour(kind(changes, settings.mode, settings.difficulty), settings.colours)


def _open_original(spec: EnvironmentSpec, asked: Emulator | None) -> Console:
    """Open the game as it is."""
    if spec.game == toy.NAME:
        return toy.ToyConsole()
    if choose_emulator(spec.game, asked) == "console":
        from arcademark.environments.emulation.native import NativeConsole

        return NativeConsole(spec.game, spec.atari.mode, spec.atari.difficulty)
    from arcademark.environments.emulation.atari import open_console

    return open_console(spec.game, spec.atari.mode, spec.atari.difficulty)


def _console_actions(spec: EnvironmentSpec) -> tuple[int, ...]:
    return tuple(tasks.JOYSTICK_ACTIONS.index(meaning) for meaning in spec.action_meanings)


def version_of(task: str, protocol: protocols.Protocol) -> str:
    """Return what tells a task's versions apart: `rom_checksum`, or its package with the version, "gymnasium 1.2.1"."""
    if isinstance(protocol, protocols.StepProtocol):
        from arcademark.environments.tasks import package

        return package(protocol.suite.tasks[task])
    return rom_checksum(task)


def rom_checksum(game: str) -> str:
    """Return the MD5 checksum of a game's ROM in hexadecimal ("" for the toy game); errors as of `atari.rom_path`."""
    if game == toy.NAME:
        return ""
    from arcademark.environments.emulation.atari import rom_checksum as checksum

    return checksum(tasks.canonical_game(game))


def _with_frames_per_action(
    protocol: protocols.AtariProtocol, frames_per_action: int | None
) -> protocols.AtariProtocol:
    if frames_per_action is None or frames_per_action == protocol.frame_skip:
        return protocol
    if frames_per_action < 1:
        raise ArcadeMarkError(f"frames_per_action is {frames_per_action}; an action takes at least 1 frame")
    return dataclasses.replace(protocol, frame_skip=frames_per_action)


def _action_meanings(game: str, settings: protocols.AtariProtocol) -> tuple[str, ...]:
    minimal = settings.action_set == "minimal"
    if game == toy.NAME:
        return toy.MINIMAL_ACTIONS if minimal else tasks.JOYSTICK_ACTIONS
    facts_of_game = tasks.games()[game]
    return facts_of_game.minimal_actions if minimal else facts_of_game.full_actions


def _check_playable(game: str, settings: protocols.AtariProtocol) -> None:
    """Raise an error that says why the protocol cannot be played in the game, if so."""
    name = settings.name
    if not settings.runnable:
        raise ArcadeMarkError(f"protocol {name!r} starts from human play, which cannot be replayed here; use another")
    screen = facts.screen_shape(game)
    size = facts.resized(settings, screen)
    if size[0] > screen[0] or size[1] > screen[1]:
        raise ArcadeMarkError(
            f"protocol {name!r}: screen_size {size[0]}x{size[1]} does not fit into the {screen[0]}x{screen[1]} screen "
            f"of {game!r}; screens are only shrunk"
        )
    _check_switches(game, settings)
    known = modifications.modifications().get(game, {})
    if settings.modification is not None and settings.modification not in known:
        has = f"it has {', '.join(known)}" if known else "none is known of it"
        raise ArcadeMarkError(f"game {game!r} has no modification {settings.modification}; {has}")


def _check_switches(game: str, settings: protocols.AtariProtocol) -> None:
    switches: tuple[tuple[str, int | None, tuple[int, ...]], ...]
    if game == toy.NAME:
        switches = ("mode", settings.mode, (0,)), ("difficulty", settings.difficulty, (0,))
    else:
        known = tasks.games()[game]
        switches = ("mode", settings.mode, known.modes), ("difficulty", settings.difficulty, known.difficulties)
    for what, value, has in switches:
        if value is not None and value not in has:
            listed = ", ".join(str(number) for number in has)
            raise ArcadeMarkError(f"game {game!r} has no {what} {value}; it has {listed}")
