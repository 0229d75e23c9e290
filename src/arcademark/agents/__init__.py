"""What plays: the baselines of the papers, and anyone's own agent."""
