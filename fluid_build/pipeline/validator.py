"""The validator: whether a contract is valid, a plan can be built, and a model loses nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fluid_build.contract.fluid import FluidContract
from fluid_build.copilot.scratchpad import CriticFinding
from fluid_build.forging.documents import contract_faults
from fluid_build.transform.proof.proof import Proof


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """What is wrong with a run's results, each fault as a sentence.

    ``loss`` is what the proof says was lost, empty where nothing was.
    """

    contract_errors: tuple[str, ...] = ()
    conformance_errors: tuple[str, ...] = ()
    critic_errors: tuple[str, ...] = ()
    loss: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    @property
    def faults(self) -> tuple[str, ...]:
        """Return everything that is wrong."""
        return (
            *self.contract_errors,
            *self.conformance_errors,
            *self.critic_errors,
            *([self.loss] if self.loss else []),
        )


class ValidatorAgent:
    """The agent that judges results by the contract's schema and by the proof."""

    def validate(self, contract: FluidContract, proof: Proof) -> ValidationReport:
        """Return what is wrong with a contract, and with the model that was proven."""
        loss = proof.reason if proof.verdict == "lost" else ""
        return ValidationReport(contract_errors=contract_faults(contract), loss=loss)


def with_critic_errors(
    report: ValidationReport, findings: Iterable[CriticFinding]
) -> ValidationReport:
    """Return the report with the critic's findings of severity ``error``."""
    errors = tuple(finding.message for finding in findings if finding.severity == "error")
    return replace(report, critic_errors=errors)
