"""What is true in the data: columns, keys, foreign keys and semantic types."""

from fluid_build.profiling.profiler import profile_source

__all__ = ["profile_source"]
