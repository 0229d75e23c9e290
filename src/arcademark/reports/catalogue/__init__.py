"""What is shown of the published scores."""
