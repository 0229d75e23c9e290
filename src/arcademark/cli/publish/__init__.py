"""What is published: the catalogue and the leaderboard."""
