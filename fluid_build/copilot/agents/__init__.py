"""Agents: what they may raise, what they share, and how they are composed."""
