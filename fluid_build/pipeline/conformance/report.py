"""What a conformance check found, by standard, and its summary in one line."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from fluid_build.text import counted, listed

Standard = Literal["fluid", "osi", "odcs_translation_readiness", "dcs_translation_readiness"]
VALIDATED: tuple[Standard, ...] = ("fluid", "osi")
"""The standards that documents are written in. The readiness checks are about later exports, and
aren't counted as standards of their own."""


@dataclass(frozen=True, slots=True)
class ConformanceFinding:
    """What keeps a document from conforming to a standard.

    ``path`` says where, ``message`` what is wrong in one sentence without a full stop. Both may be
    printed: they are escaped and short. A ``warning`` costs something and breaks nothing.
    """

    standard: Standard
    level: Literal["error", "warning"]
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """The standards that were checked, in order, and what was found."""

    standards: tuple[Standard, ...] = ()
    findings: tuple[ConformanceFinding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not any(finding.level == "error" for finding in self.findings)

    def findings_for(self, standard: Standard) -> tuple[ConformanceFinding, ...]:
        """Return the findings of one standard."""
        return tuple(finding for finding in self.findings if finding.standard == standard)

    def summary(self) -> str:
        """Return the outcome in one line: "conformance: ✓ all 2 standards clean"."""
        if not self.standards:
            return "conformance: nothing to check"
        mark = "✓" if self.ok else "✗"
        counts = [
            f"{standard}: {_counts(self.findings_for(standard))}"
            for standard in self.standards
            if self.findings_for(standard)
        ]
        return f"conformance: {mark} {'; '.join([self._clean_standards(), *counts])}"

    def _clean_standards(self) -> str:
        validated = [standard for standard in self.standards if standard in VALIDATED]
        clean = [standard for standard in validated if not self.findings_for(standard)]
        total = counted(len(validated), "standard")
        if len(clean) < len(validated):
            return f"{len(clean)} of {total} clean"
        return f"all {total} clean" if len(clean) > 1 else f"{total} clean"


def verdicts_by_standard(report: ConformanceReport) -> dict[str, str]:
    """Return for each standard that was checked ``ok``, or how many findings it has."""
    return {
        standard: _counts(findings) if (findings := report.findings_for(standard)) else "ok"
        for standard in report.standards
    }


def conformance_errors(report: ConformanceReport) -> list[str]:
    """Return each error as a sentence: the standard, the place and what is wrong."""
    return [
        f"{finding.standard}: {finding.path}: {finding.message}"
        for finding in report.findings
        if finding.level == "error"
    ]


def _counts(findings: tuple[ConformanceFinding, ...]) -> str:
    numbers: Counter[str] = Counter(finding.level for finding in findings)
    return listed(
        counted(numbers[level], level) for level in ("error", "warning") if numbers[level]
    )
