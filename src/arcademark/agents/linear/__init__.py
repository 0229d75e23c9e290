"""Linear action values that are learnt with traces: kernels and the objects around them."""
