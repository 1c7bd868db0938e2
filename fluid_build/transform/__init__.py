"""How a logical model is built from its source: the plan, the dbt project, and the proof.

``plan`` says what is built, ``dbt`` and ``ddl`` write it for a warehouse, and ``proof`` compares
what was built with the source.
"""
