"""Dimensions of expressions are all the same here."""
