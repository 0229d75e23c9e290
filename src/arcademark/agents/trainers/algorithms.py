"""Algorithms of the review and those it builds on, with the agents that train or play them.

A trainer that is added gets a line in `arcademark.agents.loading`, and its name here.
"""

from __future__ import annotations

from dataclasses import dataclass

STABLE_BASELINES = "Stable-Baselines3"
CONTRIB = "sb3-contrib"
RLLIB = "RLlib, installed from examples/rllib"


@dataclass(frozen=True)
class ReviewedAlgorithm:
    """A published algorithm, with the agent that implements it here.

    in_review: Whether Fan 2021 reports its scores.
    agent: The agent that implements it or the nearest one; "" if only scores are available.
    library: Library of the implementation.
    """

    name: str
    citation: str
    in_review: bool
    agent: str = ""
    library: str = ""
    note: str = ""


ALGORITHMS: tuple[ReviewedAlgorithm, ...] = (
    ReviewedAlgorithm("DQN", "Mnih et al. 2015", False, "dqn", STABLE_BASELINES),
    ReviewedAlgorithm("A3C", "Mnih et al. 2016", False, "a2c", STABLE_BASELINES, "as A2C, with games in step"),
    ReviewedAlgorithm("PPO", "Schulman et al. 2017", False, "ppo", STABLE_BASELINES, "recurrent-ppo has an LSTM"),
    ReviewedAlgorithm("C51", "Bellemare, Dabney and Munos 2017", False),
    ReviewedAlgorithm("QR-DQN", "Dabney et al. 2018", False, "qr-dqn", CONTRIB),
    ReviewedAlgorithm("Ape-X", "Horgan et al. 2018", False),
    ReviewedAlgorithm("Rainbow", "Hessel et al. 2018", True, "rainbow", RLLIB),
    ReviewedAlgorithm("IMPALA", "Espeholt et al. 2018", True, "impala", RLLIB),
    ReviewedAlgorithm("LASER", "Schmitt, Hessel and Simonyan 2020", True),
    ReviewedAlgorithm("R2D2", "Kapturowski et al. 2019", True),
    ReviewedAlgorithm("NGU", "Badia et al. 2020b", True),
    ReviewedAlgorithm("Agent57", "Badia et al. 2020a", True),
    ReviewedAlgorithm("GDI-I3", "Fan, Xiao and Huang 2021", True),
    ReviewedAlgorithm("GDI-H3", "Fan, Xiao and Huang 2021", True),
    ReviewedAlgorithm("SimPLe", "Kaiser et al. 2020", True),
    ReviewedAlgorithm(
        "DreamerV2", "Hafner et al. 2021", True, "dreamerv3", RLLIB, "its successor (Hafner et al. 2023)"
    ),
    ReviewedAlgorithm("MuZero", "Schrittwieser et al. 2020", True),
    ReviewedAlgorithm("Muesli", "Hessel et al. 2021", True),
    ReviewedAlgorithm(
        "Go-Explore",
        "Ecoffet et al. 2019",
        True,
        "go-explore",
        "our own",
        "exploration alone, by planning",
    ),
)
"""By kind and year."""


def here(algorithm: ReviewedAlgorithm) -> str:
    """Describe an algorithm's implementation here."""
    if not algorithm.agent:
        return "scores only"
    what = f"agent {algorithm.agent} ({algorithm.library})"
    return f"{what}: {algorithm.note}" if algorithm.note else what
