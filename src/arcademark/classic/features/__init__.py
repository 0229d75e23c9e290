"""What a learning agent sees of a game: linear features of screens and memory."""
