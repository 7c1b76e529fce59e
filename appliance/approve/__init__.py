"""approve."""
