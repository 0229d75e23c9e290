"""What scores say."""
