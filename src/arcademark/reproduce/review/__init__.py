"""What the review prints and states, recomputed from its raw scores."""
