"""The logical model: what a profile means, in one layer for each way of storing it."""
