"""Structure declared in SQL text. ``open_ddl(path)`` is the one way in."""

from fluid_build.sources.ddl.source import open_ddl

__all__ = ["open_ddl"]
