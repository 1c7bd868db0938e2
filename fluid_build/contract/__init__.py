"""The data contract: its types, its validator, and how it is read and written."""
