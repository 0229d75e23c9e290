"""What is shown of subsets: searches, predictions, studies and costs."""
