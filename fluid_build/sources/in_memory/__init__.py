"""Tables of this process as a source: data frames, Arrow tables and DuckDB relations.

They are copied into the engine, so that later changes of a frame don't show.
"""
