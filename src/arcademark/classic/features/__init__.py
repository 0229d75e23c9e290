"""Linear features of screens and memory."""
