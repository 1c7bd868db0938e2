"""The documented import path of ``BuilderAgent``."""

from fluid_build.pipeline.builder import BuilderAgent

__all__ = ["BuilderAgent"]
