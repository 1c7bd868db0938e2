"""Whether a contract promises what its model builds: the same tables, columns and types."""

from collections.abc import Iterator
from dataclasses import dataclass

from fluid_build.contract.fluid import ContractColumn, Expose, FluidContract
from fluid_build.transform.plan.elements import Build, TransformPlan


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A difference between a contract and its model; ``column`` is None for a whole expose."""

    expose: str
    column: str | None
    what: str

    def __str__(self) -> str:
        place = self.expose if self.column is None else f"{self.expose}.{self.column}"
        return f"{place}: {self.what}"


def disagreements(contract: FluidContract, plan: TransformPlan) -> tuple[Disagreement, ...]:
    """Return every expose and column where the contract differs from what the model builds."""
    exposes = {expose.expose_id: expose for expose in contract.exposes}
    builds = {build.name: build for build in plan.published}
    differing: list[Disagreement] = []
    for name, build in builds.items():
        if name in exposes:
            differing.extend(_compare_expose(exposes[name], build))
        else:
            differing.append(Disagreement(name, None, "in the model but not in the contract"))
    differing.extend(
        Disagreement(name, None, "in the contract but not in the model")
        for name in exposes
        if name not in builds
    )
    return tuple(differing)


def _compare_expose(expose: Expose, build: Build) -> Iterator[Disagreement]:
    promised: dict[str, ContractColumn] = {
        column.name: column for column in expose.contract.columns or ()
    }
    planned = {column.name: column for column in build.columns}
    for name, column in planned.items():
        if name not in promised:
            yield Disagreement(build.name, name, "in the model but not in the contract")
        elif promised[name].type != column.contract_type:
            yield Disagreement(
                build.name,
                name,
                f"{promised[name].type} in the contract, {column.contract_type} in the model",
            )
    for name in promised:
        if name not in planned:
            yield Disagreement(build.name, name, "in the contract but not in the model")
