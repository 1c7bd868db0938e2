"""The dbt project of a plan, and running dbt on it."""
