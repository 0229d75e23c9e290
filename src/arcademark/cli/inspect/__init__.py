"""Commands that show runs and facts, and check them."""
