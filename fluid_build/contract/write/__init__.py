"""From a plan to a contract, and a contract to YAML."""
