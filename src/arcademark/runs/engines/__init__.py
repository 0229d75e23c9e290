"""Where trials run. Every engine gives the same scores."""
