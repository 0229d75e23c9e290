"""RLlib's algorithms as agents that ArcadeMark trains and plays: `trainers`; `parts` has the games and networks."""
