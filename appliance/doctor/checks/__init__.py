"""What is looked at, one concept in each file. A check that blocks takes a ``Machine`` and runs on a thread."""
