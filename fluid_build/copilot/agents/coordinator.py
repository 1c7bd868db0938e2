"""The documented import path of ``Coordinator``."""

from fluid_build.pipeline.coordinator import Coordinator

__all__ = ["Coordinator"]
