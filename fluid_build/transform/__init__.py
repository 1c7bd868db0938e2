"""How a logical model is built from its source: the plan, the dbt project, and the proof."""
