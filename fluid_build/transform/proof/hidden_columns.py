"""Which columns hold personal or nested data, so that no value of theirs is ever shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fluid_build.modeling.conceptual import Attribute
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.measure.figures import hides_values
from fluid_build.transform.plan.elements import PlanColumn, TransformPlan
from fluid_build.transform.plan.present_source import present_source


@dataclass(frozen=True, slots=True)
class HiddenColumns:
    """Personal columns of each source table, and the names that any relation may show.

    ``shown`` are lower-case names of columns, source or built, that hold no personal data anywhere.
    A column with any other name (an alias in a query, say) isn't shown.
    """

    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()

    def of_table(self, table: str) -> frozenset[str]:
        """Return the personal columns of a source table, as they are read."""
        return self.tables.get(table, frozenset())


def hidden_columns(model: LogicalModel, plan: TransformPlan) -> HiddenColumns:
    """Return the personal columns of a model's source and builds."""
    tables: dict[str, frozenset[str]] = {}
    names: set[str] = set()
    hidden: set[str] = set()
    present = present_source(model)
    for entity in model.conceptual.entities:
        by_alias = dict(present.columns(entity))
        hidden_aliases = frozenset(
            alias for alias, attribute in by_alias.items() if _is_hidden(attribute)
        )
        tables[entity.name] = hidden_aliases
        names |= {alias.lower() for alias in by_alias}
        hidden |= {alias.lower() for alias in hidden_aliases}
    for build in plan.builds:
        names |= {column.name.lower() for column in build.columns}
        hidden |= {column.name.lower() for column in build.columns if _is_built_hidden(column)}
    return HiddenColumns(tables=tables, shown=frozenset(names - hidden))


def _is_hidden(attribute: Attribute) -> bool:
    return attribute.pii or hides_values(attribute.source_type)


def _is_built_hidden(column: PlanColumn) -> bool:
    return column.pii or hides_values(column.type)
