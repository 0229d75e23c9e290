"""What there is, and whether it is right."""
