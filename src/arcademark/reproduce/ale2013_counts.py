"""Numbers in the 2013 paper's text that follow from other numbers in it."""

from __future__ import annotations

import math

from arcademark.reproduce import ale2013_scores as data
from arcademark.reproduce.claims import decided, gone
from arcademark.reproduce.comparison import Comparison
from arcademark.suite import tasks

FRAMES_PER_SECOND = 60
FRAMES_PER_ACTION = 5
TILES = 16 * 14
COLOURS, SECAM_COLOURS = 128, 8
MEMORY_BITS = 128 * 8
ACTIONS = len(tasks.JOYSTICK_ACTIONS)


def counts() -> tuple[Comparison, ...]:
    """Check the figures of §2 and §3, in the paper's order."""
    return (*_suite(), *_console(), *_features(), *_search())


def _suite() -> tuple[Comparison, ...]:
    games, training = len(data.games()), int(data.training().sum())
    return (
        decided(
            "Abstract: games with results",
            "over 55",
            str(games),
            holds=games > 55,
            why="§3.1.3 and §3.2.3 count out of 55; Tables 4 and 5 have 55 rows.",
            category="count",
        ),
        decided(
            "§3.1.2: training games and test games",
            "5 and 50",
            f"{training} and {games - training}",
            holds=(training, games - training) == (5, 50),
        ),
    )


def _console() -> tuple[Comparison, ...]:
    minutes = 18_000 / FRAMES_PER_SECOND / 60
    rate = FRAMES_PER_SECOND / FRAMES_PER_ACTION
    return (
        decided(
            "§2.1: actions of joystick and button", "18", f"3 x 3 x 2 = {ACTIONS}", holds=ACTIONS == 3 * 3 * 2 == 18
        ),
        decided("§2.1: bits of memory", "1024", f"128 x 8 = {MEMORY_BITS}", holds=MEMORY_BITS == 1024),
        decided("§3.1.2: length of 18,000 frames", "5 minutes", f"{minutes:g} minutes", holds=minutes == 5),
        decided("§3.1.2: actions a second", "12", f"{rate:g}", holds=rate == 12),
    )


def _features() -> tuple[Comparison, ...]:
    basic, bass, fine = TILES * COLOURS, TILES * SECAM_COLOURS, with_pairs(TILES * COLOURS)
    return (
        decided("§3.1.1: Basic's features", "28,672", f"16 x 14 x 128 = {basic:,}", holds=basic == 28_672),
        decided(
            "§3.1.1: BASS's pairs of features stay tractable with 8 colours",
            "a smaller, 8-colour encoding",
            f"{with_pairs(bass):,} features with pairs; with 128 colours {fine:,}",
            holds=with_pairs(bass) < fine,
        ),
        decided(
            "§3.1.1 and Appendix A.5: RAM's features, each bit and each pair of bits",
            "1024 bits and every pair",
            f"{with_pairs(MEMORY_BITS):,}",
            holds=with_pairs(MEMORY_BITS) == 524_800,
        ),
    )


def _search() -> tuple[Comparison, ...]:
    exponent = FRAMES_PER_SECOND * math.log10(ACTIONS)
    ahead = look_ahead(100_000 * FRAMES_PER_ACTION)
    return (
        decided(
            "§3.2: action sequences of a second, one action a frame",
            "about 10^75",
            f"18^60 = 10^{exponent:.1f}",
            holds=math.floor(exponent) == 75,
        ),
        decided(
            "§3.2.1: how far ahead a full tree of 100,000 steps a frame looks, an action lasting 5 frames",
            "about a third of a second",
            f"{ahead:.2f} s",
            holds=abs(ahead - 1 / 3) < 0.02,
        ),
        gone(
            "§3.2.2: time an action takes",
            "on the order of 15 seconds",
            "Appendix C's limit of frames an action is lost. At §2.2's 6,000 frames a second 15 seconds are 90,000.",
        ),
        decided(
            "§4.1.2: baseline agents",
            "37",
            f"1 + {ACTIONS} + {ACTIONS} = {1 + 2 * ACTIONS}",
            holds=1 + 2 * ACTIONS == data.AGENTS,
        ),
    )


def with_pairs(features: int) -> int:
    """Count features together with all their pairs."""
    return features + math.comb(features, 2)


def look_ahead(frames: int) -> float:
    """Return how many seconds ahead a full search tree looks, a level that is partly there counting in part.

    Parameters
    ----------
    frames : int
        Frames that may be emulated for one choice; a node is `FRAMES_PER_ACTION` of them, and has 18 children.
    """
    left, levels, level = frames // FRAMES_PER_ACTION, 0.0, ACTIONS
    while left > 0:
        levels += min(1.0, left / level)
        left -= level
        level *= ACTIONS
    return levels * FRAMES_PER_ACTION / FRAMES_PER_SECOND
