"""The measures of all tables: what a name means in one table, it means in the others."""

from collections.abc import Mapping, Set

from fluid_build.modeling.measures.formula_evidence import with_formulas
from fluid_build.modeling.measures.number_names import name_words, read_number_name
from fluid_build.modeling.measures.other_rows_evidence import TableMeasures, with_other_rows
from fluid_build.modeling.measures.roles import table_measures
from fluid_build.observations.observed import NO_OBSERVATIONS, Observations
from fluid_build.observations.row_formulas import RowFormula
from fluid_build.profiling.names import Words
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
    measures = {
        table.name: with_formulas(
            table, table_measures(table, key_columns[table.name], names), formulas[table.name]
        )
        for table in profile.tables
    }
    return with_other_rows(profile, measures, observations)


def _measured_names(
    profile: Profile,
    key_columns: Mapping[str, Set[str]],
    measures: Mapping[str, TableMeasures],
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
