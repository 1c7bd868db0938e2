"""The measures of all tables: what a name means in one table, it means in the others."""

from collections.abc import Mapping, Set

from fluid_build.modeling.element import Alternative
from fluid_build.modeling.measures.formula_evidence import (
    TableMeasures,
    with_formulas,
    with_other_rows,
)
from fluid_build.modeling.measures.measure_role import MeasureRole
from fluid_build.modeling.measures.name_words import name_words
from fluid_build.modeling.measures.number_names import read_number_name
from fluid_build.modeling.measures.roles import table_measures
from fluid_build.observations.observe import NO_OBSERVATIONS, Observations
from fluid_build.observations.row_formulas import RowFormula
from fluid_build.profiling.names.words import Words
from fluid_build.profiling.profile import Profile


def profile_measures(
    profile: Profile,
    key_columns: Mapping[str, Set[str]],
    observations: Observations = NO_OBSERVATIONS,
) -> dict[str, TableMeasures]:
    """Return the measures of each table, by the table's name.

    ``key_columns`` are the columns of each table that are part of a key or refer to another table.
    What the rows show comes before what names and values suggest.
    """
    first = {table.name: table_measures(table, key_columns[table.name]) for table in profile.tables}
    names = _measured_names(profile, key_columns, first)
    formulas: dict[str, list[RowFormula]] = {table.name: [] for table in profile.tables}
    for formula in observations.row_formulas:
        formulas[formula.table].append(formula)
    suggested = {
        table.name: table_measures(table, key_columns[table.name], names)
        for table in profile.tables
    }
    by_rows = {
        table.name: with_formulas(table, suggested[table.name], formulas[table.name])
        for table in profile.tables
    }
    shown = with_other_rows(profile, by_rows, observations)
    return {
        table: {
            column: _with_suggested(role, suggested[table].get(column))
            for column, role in roles.items()
        }
        for table, roles in shown.items()
    }


def _with_suggested(role: MeasureRole, suggested: MeasureRole | None) -> MeasureRole:
    """Return a role with the one that name and values suggest, where the rows contradict it."""
    if suggested is None or suggested.additivity == role.additivity:
        return role
    article = "an" if suggested.additivity == "additive" else "a"
    lost = Alternative(
        choice=f"{article} {suggested.additivity} measure",
        reason="only the name suggests it, and the rows show more",
    )
    return role.model_copy(update={"alternatives": (*role.alternatives, lost)})


def _measured_names(
    profile: Profile, key_columns: Mapping[str, Set[str]], measures: Mapping[str, TableMeasures]
) -> set[Words]:
    """Return names that say nothing themselves, but whose values do where they're most."""
    largest: dict[Words, tuple[int, bool]] = {}
    for table in profile.tables:
        for column in table.columns:
            is_unexplained = read_number_name(column.name).meaning == "unknown"
            if is_unexplained and column.name not in key_columns[table.name]:
                values = (column.rows - column.nulls, column.name in measures[table.name])
                words = name_words(column.name)
                largest[words] = max(values, largest.get(words, values))
    return {words for words, (_, is_measure) in largest.items() if is_measure and words}
