"""The documented import path of ``ValidatorAgent``."""

from fluid_build.pipeline.validator import ValidatorAgent

__all__ = ["ValidatorAgent"]
