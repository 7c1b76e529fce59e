"""contracts/kotoba."""
