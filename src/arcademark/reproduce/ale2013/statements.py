"""Statements of the 2013 paper, checked against the recovered scores (collection "ale-2013").

Bellemare, Naddaf, Veness and Bowling, "The Arcade Learning Environment: An Evaluation Platform for General Agents",
2013. The available text lacks its tables; scores were recovered from public copies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from arcademark.reproduce.ale2013 import metrics as ale2013_metrics
from arcademark.reproduce.ale2013 import results as ale2013_results
from arcademark.reproduce.ale2013 import scores as data
from arcademark.reproduce.ale2013.scores import PAPER, stated
from arcademark.reproduce.comparison import PrintedComparison, Reproduction
from arcademark.suite import tasks

FRAMES_PER_SECOND = 60
FRAMES_PER_ACTION = 5
TILES = 16 * 14
COLOURS, SECAM_COLOURS = 128, 8
MEMORY_BITS = 128 * 8
ACTIONS = len(tasks.JOYSTICK_ACTIONS)


def statements() -> tuple[Reproduction, ...]:
    """Check the paper's statements, in groups without numbers, in the paper's order."""
    groups = {
        "§2 and §3: what can be counted": counts(),
        "§3.1.3: reinforcement learning": ale2013_results.learning(),
        "§3.2.3: planning": ale2013_results.planning(),
        "§4.1 and Figure 2: normalised scores": ale2013_metrics.normalised(),
        "§4.2, Figures 3 and 4: aggregate scores": ale2013_metrics.aggregated(),
        "§4.3, Tables 1 to 5 and Appendix C: what is not available": lost(),
    }
    return tuple(Reproduction(PAPER, title, None, tuple(result)) for title, result in groups.items())


def counts() -> Iterator[PrintedComparison]:
    """Check the figures of §2 and §3 that follow from other numbers in the text."""
    games, training = len(data.games()), int(data.training().sum())
    yield stated("games", str(games), games > 55)
    yield stated("training-games", f"{training} and {games - training}")
    yield stated("actions", f"3 x 3 x 2 = {ACTIONS}", ACTIONS == 3 * 3 * 2 == 18)
    yield stated("memory", f"128 x 8 = {MEMORY_BITS}", MEMORY_BITS == 1024)
    yield stated("minutes", f"{18_000 / FRAMES_PER_SECOND / 60:g} minutes")
    yield stated("actions-a-second", f"{FRAMES_PER_SECOND / FRAMES_PER_ACTION:g}")
    basic, bass, fine = TILES * COLOURS, with_pairs(TILES * SECAM_COLOURS), with_pairs(TILES * COLOURS)
    yield stated("basic-features", f"16 x 14 x 128 = {basic:,}", basic == 28_672)
    yield stated("bass-features", f"{bass:,} features with pairs; with 128 colours {fine:,}", bass < fine)
    yield stated("ram-features", f"{with_pairs(MEMORY_BITS):,}", with_pairs(MEMORY_BITS) == 524_800)
    exponent = FRAMES_PER_SECOND * math.log10(ACTIONS)
    yield stated("sequences", f"18^60 = 10^{exponent:.1f}", math.floor(exponent) == 75)
    ahead = look_ahead(100_000 * FRAMES_PER_ACTION)
    yield stated("look-ahead", f"{ahead:.2f} s", abs(ahead - 1 / 3) < 0.02)
    yield stated("seconds-an-action")
    agents = 1 + 2 * ACTIONS
    yield stated("baseline-agents", f"1 + {ACTIONS} + {ACTIONS} = {agents}", agents == data.AGENTS)


def lost() -> Iterator[PrintedComparison]:
    """Yield statements that neither the available text nor the public copies of its tables can decide."""
    yield from map(stated, ("table-1", "table-2", "table-3", "table-4", "tables-4-and-5", "table-5", "appendix-c"))


def with_pairs(features: int) -> int:
    """Return the number of features plus the number of their pairs."""
    return features + math.comb(features, 2)


def look_ahead(frames: int) -> float:
    """Return the depth, in seconds, of a full search tree of this number of emulated frames.

    A node is `FRAMES_PER_ACTION` frames and has 18 children; an incomplete level counts by its complete share.
    """
    left, levels, level = frames // FRAMES_PER_ACTION, 0.0, ACTIONS
    while left > 0:
        levels += min(1.0, left / level)
        left -= level
        level *= ACTIONS
    return levels * FRAMES_PER_ACTION / FRAMES_PER_SECOND
