"""The critic: rules that review a logical model, a contract and a transform plan.

A rule is a function in a tuple. ``reading`` reads our models, objects and dicts alike, and
``findings`` bounds what a rule says.
"""
