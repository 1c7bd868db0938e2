"""Conformance: whether a model and a contract obey the standards that they are written in."""

from fluid_build.modeling.osi_dialects import OSI_SUPPORTED_DIALECTS
from fluid_build.pipeline.conformance.agent import ConformanceAgent
from fluid_build.pipeline.conformance.report import ConformanceFinding, ConformanceReport

__all__ = [
    "OSI_SUPPORTED_DIALECTS",
    "ConformanceAgent",
    "ConformanceFinding",
    "ConformanceReport",
]
