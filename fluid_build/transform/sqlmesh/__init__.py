"""The sqlmesh project of a plan, from the same plan and the same reading of sources as dbt's.

``sources`` says how a project reads the tables of the source: what DuckDB attaches in
``config.yaml``, and the SQL that stands for each table. ``models`` writes a model for each build;
its SQL is the plan's query for a relation that exists already, which reads an empty one as well.
``audits`` states the plan's tests, and ``readme`` how to run it and what sqlmesh does otherwise.
"""
