"""An agent and a feature set for ArcadeMark."""
