"""The builder: the contract of a model, and which remembered models were known when it was made."""

from __future__ import annotations

from dataclasses import dataclass

from fluid_build.contract.fluid import FluidContract
from fluid_build.copilot.scratchpad import Scratchpad
from fluid_build.forging import ForgeOptions
from fluid_build.forging.stages import Designed, write_contract


@dataclass(frozen=True, slots=True)
class BuiltContract:
    """A contract, and the keys of the remembered models most similar to it."""

    contract: FluidContract
    similar_models: tuple[str, ...] = ()


class BuilderAgent:
    """The agent that writes contracts. It needs no model: a contract promises what is built."""

    def build(
        self,
        designed: Designed,
        options: ForgeOptions,
        *,
        scratchpad: Scratchpad,
    ) -> BuiltContract:
        """Return the contract of what the plan builds, with its provenance."""
        contract = write_contract(designed, options)
        similar = tuple(result.key for result in scratchpad.top_retrievals())
        return BuiltContract(contract, similar)
