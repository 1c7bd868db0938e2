"""From a plan to a contract, and a contract to YAML.

The names, types and rules are the plan's.
"""
