"""Functions and reductions that are always there."""
