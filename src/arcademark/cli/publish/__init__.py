"""Commands for the catalogue and the leaderboard."""
