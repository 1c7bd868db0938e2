"""The logical model of a profile, by one technique or another of storing it."""
