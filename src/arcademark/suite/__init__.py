"""Facts: tasks, reference scores, subsets and protocols. They need only msgspec and the standard library."""
