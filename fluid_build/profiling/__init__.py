"""What is true in the data: columns, keys, relations and meanings, each with its evidence."""

from fluid_build.profiling.profiler import profile_source

__all__ = ["profile_source"]
