"""Contracts from Python: whether one is valid, and whether live data keeps it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias, Unpack

from fluid_build.api.arguments import OpenSettings, SourceLike, opening, reporting
from fluid_build.api.html import tested_html
from fluid_build.contract.consistency import check_consistency
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.live import (
    CheckResult,
    ExposeResult,
    LiveResult,
    check_live,
    result_document,
)
from fluid_build.contract.live.report import counts
from fluid_build.contract.read.files import read_contract, read_located
from fluid_build.contract.validation import Finding, parse_contract
from fluid_build.contract.validation import validate as validate_document
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.progress import OnProgress
from fluid_build.text import counted

ContractLike: TypeAlias = FluidContract | Mapping[str, Any] | str | os.PathLike[str]
"""A contract: as ``forge`` returns it, as the data of a document, or a YAML or JSON file."""


def validate(contract: ContractLike) -> "ValidateResult":
    """Check a contract against FLUID 0.7.2.

    Errors are what the schema forbids. Warnings are names that refer to nothing or are used twice;
    they don't make a contract invalid. Raises SourceError where a file can't be read as one.
    """
    if isinstance(contract, str | os.PathLike):
        located = read_located(os.fspath(contract))
        document, lines = located.document, located.lines
    else:
        document, lines = _document(contract), {}
    errors = validate_document(document, lines=lines)
    return ValidateResult(errors or check_consistency(document, lines=lines))


def test(
    contract: ContractLike,
    source: SourceLike,
    *,
    on_progress: OnProgress | None = None,
    **options: Unpack[OpenSettings],
) -> "TestResult":
    """Test live data against a contract: its tables, columns, types and quality rules.

    No SQL from the contract is run, and no value of a row is in the result. Raises ContractError
    for an invalid contract, SourceNotFoundError where the source holds no table of it, and
    SourceError.
    """
    promised = _parse(contract)
    with reporting(on_progress) as report, opening(source, options).session(report) as opened:
        now = datetime.now(UTC).replace(tzinfo=None)
        return TestResult(check_live(promised, opened, now=now, on_progress=report))


# pytest takes functions and classes with these names for tests where they are imported.
test.__test__ = False  # type: ignore[attr-defined]


@dataclass(frozen=True)
class ValidateResult:
    """Whether a document is a FLUID contract; true in a condition if it is."""

    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        """Return whether nothing in it breaks the schema."""
        return not self.errors

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Return what the schema forbids."""
        return tuple(finding for finding in self.findings if finding.level == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Return the names that refer to nothing or are used twice."""
        return tuple(finding for finding in self.findings if finding.level == "warning")

    def __bool__(self) -> bool:
        return self.valid

    def __repr__(self) -> str:
        verdict = "Valid" if self.valid else "Invalid"
        return f"<{verdict}: {counted(len(self.findings), 'finding')}>"


@dataclass(frozen=True)
class TestResult:
    """How live data keeps a contract; true in a condition if no check fails.

    Checks of the severities error and critical fail; the others warn.
    """

    __test__ = False

    _result: LiveResult = field(repr=False)

    @property
    def passed(self) -> bool:
        """Return whether no check fails."""
        return self._result.passed

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """Return every check, in the order of the contract."""
        return tuple(self._result.checks)

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """Return the checks that make the test fail."""
        return tuple(check for check in self._result.checks if check.fails)

    @property
    def exposes(self) -> tuple[ExposeResult, ...]:
        """Return the checks by the table that they are about."""
        return self._result.exposes

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``fluid test --json`` prints."""
        return result_document(self._result)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        numbers = counts(self._result)
        verdict = "Passed" if self.passed else "Failed"
        figures = f"{counted(numbers['passed'], 'check')} passed, {numbers['failed']:,} failed"
        return f"<{verdict}: {figures}>"

    def _repr_html_(self) -> str:
        return tested_html(self._result)


def _parse(contract: ContractLike) -> FluidContract:
    if isinstance(contract, FluidContract):
        return contract
    if isinstance(contract, str | os.PathLike):
        return parse_contract(read_contract(os.fspath(contract)))
    return parse_contract(dict(contract))


def _document(contract: FluidContract | Mapping[str, Any]) -> dict[str, Any]:
    return as_document(contract) if isinstance(contract, FluidContract) else dict(contract)
