"""Tools: what the model may call, who runs a call, and how it ends."""
