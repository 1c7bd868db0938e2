"""What a page shows: a source, what was built from it, and the run that did so."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fluid_build.decisions.language import AnyDecision
from fluid_build.modeling.logical import LogicalModel
from fluid_build.report.judgements.judgement import Judgement
from fluid_build.report.page.run_facts import RunFacts
from fluid_build.report.view import SourceView
from fluid_build.transform.plan.elements import TransformPlan


@dataclass(frozen=True, slots=True)
class BuiltContent:
    """What was built: the model with its plan, the contract, and what is still to be decided.

    ``contract`` is the text of the contract, ``queries`` the SQL of the relations by their names,
    as the dbt project has it. ``folder`` is its name, for commands that run in the one around it,
    and ``decided`` are the decisions that are recorded there. ``edited`` are the files of the build
    that were edited after they were proven.
    """

    model: LogicalModel
    plan: TransformPlan
    contract: str
    queries: Mapping[str, str] = field(default_factory=dict)
    judgements: tuple[Judgement, ...] = ()
    folder: str = ""
    decided: tuple[AnyDecision, ...] = ()
    edited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageContent:
    """Everything that a page shows.

    ``built`` is None for a profile alone, ``run`` where no run is recorded.
    """

    view: SourceView
    built: BuiltContent | None = None
    run: RunFacts | None = None
    next_steps: tuple[tuple[str, str], ...] = ()

    @property
    def table_addresses(self) -> dict[str, str]:
        """Return where the page shows each table, by its name."""
        return {table.name: f"table-{n}" for n, table in enumerate(self.view.tables, start=1)}

    @property
    def column_addresses(self) -> dict[tuple[str, str], str]:
        """Return where the page shows each column of the source, by its table and name."""
        tables = self.table_addresses
        return {
            (table.name, column.measured.name): f"{tables[table.name]}-{n}"
            for table in self.view.tables
            for n, column in enumerate(table.columns, start=1)
        }
