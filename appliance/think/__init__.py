"""Thinking: soul, conversation, the model loop, and the box's own offline brain."""
