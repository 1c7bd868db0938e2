"""What other rows show of how a number adds up: the row before it, and the lines of a header.

- What changes from row to row by another number of the row is a level; the other is its movement.
- What a header has as the sum of its lines is an amount, of the line and of the header.
"""

from collections.abc import Mapping

from fluid_build.modeling.measures.formula_evidence import NEVER_AMOUNTS, UNCERTAIN, factor_roles
from fluid_build.modeling.measures.measure_role import MeasureRole, additive, semi_additive
from fluid_build.modeling.measures.number_names import read_number_name
from fluid_build.modeling.measures.row_context import row_context
from fluid_build.observations.header_totals import HeaderTotal
from fluid_build.observations.observe import Observations
from fluid_build.observations.running_levels import RunningLevel
from fluid_build.profiling.profile import Profile

TableMeasures = Mapping[str, MeasureRole]
"""The measures of one table, by column."""


def with_other_rows(
    profile: Profile, measures: Mapping[str, TableMeasures], observations: Observations
) -> dict[str, TableMeasures]:
    """Return the measures of all tables after what the order of rows and headers show."""
    judged = {table: dict(roles) for table, roles in measures.items()}
    for level in observations.running_levels:
        judged[level.table] |= _level_roles(level)
    for total in observations.header_totals:
        if read_number_name(total.total).meaning not in NEVER_AMOUNTS:
            judged[total.line] |= _line_roles(profile, judged[total.line], total)
            judged[total.header] |= _header_roles(judged[total.header], total)
    return dict(judged)


def _level_roles(observed: RunningLevel) -> TableMeasures:
    of_member = f" of one {observed.member}" if observed.member else ""
    computed = (
        f"{observed.level} changes by {observed.movement} from row to row{of_member} in"
        f" {_counted(observed.matches, observed.rows, 'rows')}"
    )
    level = semi_additive(f"a level, as {computed}")
    roles = {observed.level: level, observed.movement: additive(f"a movement, as {computed}")}
    return {
        name: role
        for name, role in roles.items()
        if read_number_name(name).meaning not in NEVER_AMOUNTS
    }


def _line_roles(profile: Profile, roles: TableMeasures, observed: HeaderTotal) -> TableMeasures:
    """Return the roles of the line's columns that a header sums up."""
    line = profile.table(observed.line)
    reason = f"as {observed.header}.{observed.total} is {_describe(observed)}"
    if len(observed.amounts) == 2:
        left, right = (line.column(name) for name in observed.amounts)
        return factor_roles(roles, left, right, reason)
    for amount in observed.amounts:
        meaning = read_number_name(amount).meaning
        is_price = meaning in {"price", "sale_price"} and not row_context(line, set()).counts_units
        if meaning not in NEVER_AMOUNTS and (
            amount not in roles or meaning in UNCERTAIN or is_price
        ):
            return {amount: additive(f"an amount, {reason}")}
    return {}


def _header_roles(roles: TableMeasures, observed: HeaderTotal) -> TableMeasures:
    """Return the role of the header's column that sums up its lines; a level stays one."""
    known = roles.get(observed.total)
    if known is not None and known.additivity == "semi-additive":
        return {}
    return {observed.total: additive(_describe(observed))}


def _describe(observed: HeaderTotal) -> str:
    lines = observed.line
    of_lines = {
        0: f"the number of its {lines} rows",
        1: f"the sum of {lines}.{' times '.join(observed.amounts)}",
        2: f"the sum of {lines}'s {' times '.join(observed.amounts)}",
    }[len(observed.amounts)]
    return f"{of_lines} in {_counted(observed.matches, observed.rows, 'rows with several')}"


def _counted(matches: int, rows: int, noun: str) -> str:
    return f"all {rows:,} {noun}" if matches == rows else f"{matches:,} of {rows:,} {noun}"
