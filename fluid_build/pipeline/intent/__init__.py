"""Intents: what a business wants of a data product, in its own words or as a list of entities.

``intent`` has the types and ``reading`` reads them. ``anchoring`` turns an intent into decisions
about a source, ``schema_sql`` into CREATE TABLE statements where there is none, and ``agent`` lets
a model find the entities in a text.
"""
