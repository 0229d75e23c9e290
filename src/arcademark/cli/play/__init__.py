"""Playing: agents, and people."""
