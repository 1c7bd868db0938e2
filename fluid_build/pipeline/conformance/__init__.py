"""Conformance: whether a model and a contract obey the standards that they are written in.

``checks`` has one check a standard, and ``dialect_mapper`` fills in OSI dialects.
"""

from fluid_build.modeling.osi_dialects import OSI_SUPPORTED_DIALECTS
from fluid_build.pipeline.conformance.agent import ConformanceAgent
from fluid_build.pipeline.conformance.report import ConformanceFinding, ConformanceReport

__all__ = [
    "OSI_SUPPORTED_DIALECTS",
    "ConformanceAgent",
    "ConformanceFinding",
    "ConformanceReport",
]
