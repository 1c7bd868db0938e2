"""Generated databases that no rule was written for."""
