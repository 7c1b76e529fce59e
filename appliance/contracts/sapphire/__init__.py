"""contracts/sapphire."""
