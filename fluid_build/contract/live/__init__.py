"""Live data checked against a contract: ``check_live(contract, source, now=...)``.

Queries are made from a rule's structure, and never from SQL in the contract.
"""

from fluid_build.contract.live.junit import junit_xml
from fluid_build.contract.live.report import result_document
from fluid_build.contract.live.results import CheckResult, ExposeResult, LiveResult
from fluid_build.contract.live.testing import check_live

__all__ = [
    "CheckResult",
    "ExposeResult",
    "LiveResult",
    "check_live",
    "junit_xml",
    "result_document",
]
