"""The leaderboard: everything that is published or was played here, as one document and as pages that show it."""
