"""The documented import path of conformance checks; see ``fluid_build.pipeline.conformance``."""

from fluid_build.pipeline.conformance import (
    OSI_SUPPORTED_DIALECTS,
    ConformanceAgent,
    ConformanceFinding,
    ConformanceReport,
)

__all__ = [
    "OSI_SUPPORTED_DIALECTS",
    "ConformanceAgent",
    "ConformanceFinding",
    "ConformanceReport",
]
