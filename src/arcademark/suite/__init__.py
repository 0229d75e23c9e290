"""Facts: tasks, reference scores, subsets and protocols. They need msgspec, beside the standard library."""
