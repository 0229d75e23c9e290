"""Agents: their interface, loading and checking; trained networks and trainers."""
