"""A home as a whole: keeping it in one file, bringing it back, and emptying it before the box is given away."""
