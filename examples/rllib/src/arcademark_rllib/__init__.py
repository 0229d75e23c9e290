"""RLlib's algorithms as agents of ArcadeMark: `trainers` trains and plays them; `parts` has games and networks."""
