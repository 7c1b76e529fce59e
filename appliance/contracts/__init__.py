"""The two public plugin contracts, and the host that keeps a stranger's code away from our loop."""
