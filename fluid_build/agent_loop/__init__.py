"""The agent loop: a model that works with tools on a user's data, and these tools."""
