"""The leaderboard of published scores and own runs, as one document."""
