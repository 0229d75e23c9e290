"""A protocol made runnable on the Arcade Learning Environment."""
