"""A shop whose structure changes under a loaded warehouse, and what is asked of that then."""
