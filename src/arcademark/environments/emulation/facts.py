"""Facts about games' ROMs that are needed before loading, measured with ale-py 0.12 and tested on every ROM."""

from __future__ import annotations

from typing import Literal

from arcademark.environments import toy
from arcademark.suite import protocols
from arcademark.suite.task_suites import TaskSuite
from arcademark.suite.tasks import TOY

Standard = Literal["NTSC", "PAL"]

REAL_RESET = frozenset({"amidar", "koolaid", "qbert", "tetris", "trondead"})
"""Games in which a restored start does not replay exactly, but a reset of the emulator does."""

NOT_EXACT = frozenset(("miniature_golf", "pitfall2", "tic_tac_toe_3d", "video_checkers", "video_chess", "yars_revenge"))
"""Games whose saved states on ale-py lack something that later frames or states depend on; planners do not use them.

Missing are, in Yars' Revenge and 3-D Tic-Tac-Toe, the sprites' positions at the end of a frame; in the latter and both
board games, that frames are cut short while the machine thinks, and the pictures; in Miniature Golf, the score card,
whose numbers are saved as truth values; in Pitfall II, the fraction of a tick of the sound generator.
"""

TWO_PLAYER = frozenset({"combat", "joust", "maze_craze", "warlords"})
"""Games whose ROM ends the Python interpreter when it is loaded for one player."""

PAL = frozenset(
    (
        *("adventure", "air_raid", "keystone_kapers", "king_kong", "klax"),
        *("laser_gates", "mr_do", "pacman", "sir_lancelot", "space_war"),
    )
)
"""Games whose ROM is for PAL television: other colours, taller screens."""

SCREEN_WIDTH = 160
SCREEN_HEIGHT = 210
SCREEN_HEIGHTS = {**dict.fromkeys(PAL, 250), "carnival": 214, "journey_escape": 230, "pooyan": 220}
"""Heights other than 210."""

RAM_SIZE = 128


def standard(game: str, suite: TaskSuite | None = None) -> Standard:
    """Return the television standard of a game's ROM, or of a suite's description of the game."""
    if suite is not None:
        return suite.cartridge(game).television
    return "PAL" if game in PAL else "NTSC"


def screen_shape(game: str, suite: TaskSuite | None = None) -> tuple[int, int]:
    """Return the height and width of a game's screen in pixels, or those of a suite's description of the game."""
    if suite is not None:
        return suite.cartridge(game).screen_rows, SCREEN_WIDTH
    if game == TOY:
        return toy.SIZE, toy.SIZE
    return SCREEN_HEIGHTS.get(game, SCREEN_HEIGHT), SCREEN_WIDTH


def ram_size(game: str) -> int:
    """Return a game's bytes of memory."""
    return toy.RAM_SIZE if game == TOY else RAM_SIZE


def observation_shape(game: str, settings: protocols.AtariProtocol) -> tuple[int, ...]:
    """Return the shape of one observation; a `frame_stack` of 1 adds no axis."""
    if settings.observation == "ram":
        single: tuple[int, ...] = (ram_size(game),)
    else:
        single = resized(settings, screen_shape(game, settings.suite)) + ((3,) if settings.observation == "rgb" else ())
    return single if settings.frame_stack == 1 else (settings.frame_stack, *single)


def resized(settings: protocols.AtariProtocol, screen: tuple[int, int]) -> tuple[int, int]:
    """Return the (height, width) to which a screen is resized; the toy game's smaller screen is unchanged."""
    size = settings.screen_size
    return screen if size is None or screen == (toy.SIZE, toy.SIZE) else size
