"""What scores say: `analysis` of one table (`report` is its result), `compare` of algorithms (`comparison`)."""
