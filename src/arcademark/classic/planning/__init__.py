"""Agents that plan: they search ahead in a model of the game, an action at a time."""
