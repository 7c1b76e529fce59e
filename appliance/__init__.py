"""A voice assistant appliance for a small board: it hears, thinks, runs tools, answers, and shows a face.

Start reading at ``appliance/assistant.py``: one turn as a story.
"""

__version__ = "0.1.0"
