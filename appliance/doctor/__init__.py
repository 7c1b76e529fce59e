"""Finds out what is wrong with the box, and says the one thing to do about it."""
