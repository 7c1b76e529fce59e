"""The face: a mood becomes numbers here, and only numbers reach the backends."""
