"""What feature sets see of games, and what shows it."""
