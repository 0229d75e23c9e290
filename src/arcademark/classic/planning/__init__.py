"""Planning agents, which search in a model of the game before each action."""
