"""Agents: the session they share, agents of one call, and composite agents."""
