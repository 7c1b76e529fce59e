"""Plugin tools: a folder with a ``plugin.json``, and tool files in it. Start reading at ``contract.py``."""
