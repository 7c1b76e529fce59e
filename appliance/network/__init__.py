"""The network: the one door to HTTP, the only place where httpx is imported."""
