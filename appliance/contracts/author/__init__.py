"""The author's kit: new plugins, and what is wrong with one, said before it runs on a box."""
