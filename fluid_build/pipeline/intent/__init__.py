"""Intents: what a business wants of a data product, in its own words or as a list of entities."""
