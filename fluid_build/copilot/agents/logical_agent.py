"""The documented import path of ``LogicalAgent``."""

from fluid_build.pipeline.logical.agent import LogicalAgent

__all__ = ["LogicalAgent"]
