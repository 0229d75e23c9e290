"""A few tasks for all of them."""
