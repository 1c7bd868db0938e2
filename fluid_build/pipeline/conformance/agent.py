"""The ConformanceAgent: checks standards before anything is written, and fills in dialects.

Source: Agentic Primitives, "ConformanceAgent".
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fluid_build.modeling.osi_dialects import OSI_SUPPORTED_DIALECTS
from fluid_build.pipeline.conformance.checks import (
    DocumentCheck,
    check_dcs_readiness,
    check_fluid,
    check_odcs_readiness,
    check_osi,
)
from fluid_build.pipeline.conformance.dialect_mapper import map_dialects
from fluid_build.pipeline.conformance.documents import as_json, contract_document, osi_part
from fluid_build.pipeline.conformance.report import (
    ConformanceFinding,
    ConformanceReport,
    Standard,
)

Logical = TypeVar("Logical")

_OF_CONTRACTS: Mapping[Standard, DocumentCheck] = {
    "fluid": check_fluid,
    "odcs_translation_readiness": check_odcs_readiness,
    "dcs_translation_readiness": check_dcs_readiness,
}
_ORDER: tuple[Standard, ...] = (
    "fluid",
    "osi",
    "odcs_translation_readiness",
    "dcs_translation_readiness",
)


class ConformanceAgent:
    """A linter of a model and its contract against FLUID, OSI, ODCS and DCS."""

    def run(self, *, logical: object = None, contract: object = None) -> ConformanceReport:
        """Check what is given, in parallel, and report it in a fixed order.

        ``logical`` may be a ``LogicalModel`` or anything with an ``osi`` layer, ``contract`` a
        ``FluidContract`` or its document. A standard without its document isn't checked.
        """
        jobs: dict[Standard, tuple[DocumentCheck, object]] = {}
        if contract is not None:
            document = contract_document(contract)
            jobs |= {standard: (check, document) for standard, check in _OF_CONTRACTS.items()}
        osi = osi_part(logical)
        if osi is not None:
            jobs["osi"] = (check_osi, as_json(osi))
        standards = tuple(standard for standard in _ORDER if standard in jobs)
        with ThreadPoolExecutor(max_workers=len(_ORDER)) as pool:
            findings = pool.map(_checked, (jobs[standard] for standard in standards))
        return ConformanceReport(standards, tuple(item for items in findings for item in items))

    def apply_dialect_mapper(
        self, logical: Logical, dialects: Iterable[str] = OSI_SUPPORTED_DIALECTS
    ) -> Logical:
        """Return the model with each OSI expression in all of the dialects it can be written in.

        Our own models are frozen and copied, others are filled in place. What sqlglot can't
        translate stays as it is; ``run`` reports it.
        """
        return map_dialects(logical, dialects)


def _checked(job: tuple[DocumentCheck, object]) -> list[ConformanceFinding]:
    check, document = job
    return list(check(document))
