"""SARSA as it is, but for checkpoints every few episodes, so that a test can interfere between them."""

from arcademark.agents.sarsa import Sarsa


class Often(Sarsa):
    checkpoint_frames = 1500
