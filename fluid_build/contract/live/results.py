"""The result of testing live data against a contract."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from fluid_build.contract.fluid.quality import DqSeverity

Status = Literal["passed", "failed", "not_checked"]
Subject = Literal["schema", "rule"]
FAILING: frozenset[DqSeverity] = frozenset({"error", "critical"})
"""The severities that make a failed check a failed test; the others warn."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A promise of the contract, and how the data keeps it.

    ``subject`` distinguishes a rule of the contract from what its schema promises. ``type`` is the
    rule's, or one of table, column, type, required, rows, extra_column. ``rows`` is how many rows
    the check is about and ``violations`` how many of them break it, None where rows are not what
    is counted. ``reason`` says why it was not checked. ``sql`` shows the rows that break it, on
    the source. No value of a row is in it.
    """

    id: str
    subject: Subject
    type: str
    severity: DqSeverity
    status: Status
    columns: tuple[str, ...] = ()
    expected: str = ""
    observed: str = ""
    rows: int | None = None
    violations: int | None = None
    reason: str = ""
    description: str = ""
    sql: str = ""

    @property
    def fails(self) -> bool:
        """Whether the whole test fails for it."""
        return self.status == "failed" and self.severity in FAILING

    @property
    def warns(self) -> bool:
        """Whether it is broken and only worth a warning."""
        return self.status == "failed" and self.severity == "warn"


@dataclass(frozen=True, slots=True)
class ExposeResult:
    """The checks of one expose. ``table`` is the live table, None where there is none."""

    expose_id: str
    table: str | None
    rows: int | None
    checks: tuple[CheckResult, ...]


@dataclass(frozen=True, slots=True)
class LiveResult:
    """All checks of a contract, in its order."""

    contract_id: str
    contract_name: str
    source_name: str
    source_kind: str
    exposes: tuple[ExposeResult, ...]

    @property
    def checks(self) -> Iterator[CheckResult]:
        """Every check of every expose."""
        for expose in self.exposes:
            yield from expose.checks

    @property
    def passed(self) -> bool:
        """Whether no check of the severity error or above failed."""
        return not any(check.fails for check in self.checks)
