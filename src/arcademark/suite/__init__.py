"""Facts: tasks, reference scores, subsets and protocols. Standard library only."""
