"""What follows from a source, its options, and what was measured of it: no step saves it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fluid_build.contract.fluid import FluidContract
from fluid_build.decisions.verdicts import Verdict
from fluid_build.decisions.weighing import amended
from fluid_build.forging import ForgeOptions
from fluid_build.forging.documents import contract_faults
from fluid_build.forging.folder import Outputs
from fluid_build.forging.stages import Decided, Designed, design, write_contract
from fluid_build.modeling.basis import Basis
from fluid_build.observations.observe import Observations
from fluid_build.pipeline.conformance.agent import ConformanceAgent
from fluid_build.pipeline.conformance.report import conformance_errors
from fluid_build.pipeline.critic.agent import review_everything
from fluid_build.profiling.profile import Profile
from fluid_build.sources.base import Source


@dataclass
class Derived:
    """The model of a run and everything that is written of it, each computed on first use.

    ``profile`` is as measured, before the decisions that ``verdicts`` are about. ``earlier`` is
    what the folder's model was designed from.
    """

    source: Source
    options: ForgeOptions
    out: Path
    profile: Profile
    verdicts: tuple[Verdict, ...]
    observations: Observations
    earlier: Basis | None = None
    overwrite: bool = False

    @cached_property
    def decided(self) -> Decided:
        """Return the profile with the decisions that apply."""
        return Decided(amended(self.profile, self.verdicts), self.verdicts, self.profile)

    @cached_property
    def designed(self) -> Designed:
        """Return the model and its plan."""
        return design(self.decided, self.observations, self.options, self.earlier)

    @cached_property
    def contract(self) -> FluidContract:
        """Return the contract of what the plan builds."""
        return write_contract(self.designed, self.options)

    @cached_property
    def outputs(self) -> Outputs:
        """Return everything that is written of it."""
        return Outputs(
            self.source, self.options, self.out, self.designed, self.contract, self.overwrite
        )


def errors_of(derived: Derived) -> set[str]:
    """Return what the validator, the conformance checks and the critic call errors."""
    designed = derived.designed
    findings = review_everything(designed.model, derived.contract, designed.plan)
    conformance = ConformanceAgent().run(logical=designed.model, contract=derived.contract)
    return {
        *contract_faults(derived.contract),
        *conformance_errors(conformance),
        *(finding.message for finding in findings if finding.severity == "error"),
    }
