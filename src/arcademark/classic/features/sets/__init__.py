"""The feature sets of the papers, a module each, and the parts that several share (`tiles`, `offsets`, `pairs`)."""
