"""The Open Data Contract Standard: how contracts are written in it, and read from it.

What FLUID has no key for becomes labels when it's read, and goes back out as custom properties.
"""

from fluid_build.contract.exports.format import ExportFormat
from fluid_build.contract.exports.odcs.reading import import_odcs
from fluid_build.contract.exports.odcs.versions import ODCS_VERSIONS, READABLE, odcs_findings
from fluid_build.contract.exports.odcs.writing import best_version, odcs_document

__all__ = ["ODCS", "import_odcs"]

ODCS = ExportFormat(
    name="odcs",
    title="the Open Data Contract Standard",
    notes="What the standard can't represent becomes custom properties.",
    versions=ODCS_VERSIONS,
    write=odcs_document,
    findings=odcs_findings,
    best_version=best_version,
    version_note="the newest that has a type for every column",
    read=import_odcs,
    readable=f"{READABLE[0][:3]} to {READABLE[-1][:3]}",
)
