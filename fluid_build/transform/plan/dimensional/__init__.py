"""The dimensional technique: its builds, and how they are compared with the source."""
