"""What formulas between the columns of a row show of how they add up.

- A product of a quantity and something else is an amount; the something else is for one unit.
- A sum has parts that add up as it does: one that is known to be additive shows it of the others.
- The difference of two levels is a movement, which adds up; a part of a price is for one unit too.
"""

from collections.abc import Mapping, Sequence

from fluid_build.lexicon import terms
from fluid_build.modeling.measures.code_values import is_whole
from fluid_build.modeling.measures.measure_role import (
    MeasureRole,
    additive,
    non_additive,
    semi_additive,
)
from fluid_build.modeling.measures.number_names import Meaning, read_number_name
from fluid_build.modeling.measures.roles import row_context
from fluid_build.observations.header_totals import HeaderTotal
from fluid_build.observations.observe import Observations
from fluid_build.observations.period_levels import PeriodLevel
from fluid_build.observations.row_formulas import RowFormula
from fluid_build.observations.running_levels import RunningLevel
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile
from fluid_build.text import listed

Roles = Mapping[str, MeasureRole]

_PER_UNIT: frozenset[Meaning] = frozenset({"price", "sale_price"})
UNCERTAIN: frozenset[Meaning] = frozenset({"unknown", "reading"})
"""What a name says that doesn't say whether the number adds up."""
_ADDING: frozenset[Meaning] = frozenset({"count", "addable"})
NEVER_AMOUNTS: frozenset[Meaning] = frozenset(
    {"code", "ratio", "extreme", "intensity", "cumulative"}
)
"""What no formula makes an amount, since it may hold by accident."""


def with_formulas(
    table: TableProfile, roles: Roles, formulas: Sequence[RowFormula]
) -> dict[str, MeasureRole]:
    """Return the roles of a table's measures after its formulas, products first."""
    judged = dict(roles)
    for formula in formulas:
        if formula.operation == "product":
            judged |= _product_roles(table, judged, formula)
    for formula in formulas:
        if formula.operation == "sum":
            judged |= _sum_roles(judged, formula)
    return judged


def _product_roles(table: TableProfile, roles: Roles, formula: RowFormula) -> Roles:
    """Return the roles of an amount, and of what it's the product of."""
    if _meaning(formula.result) in NEVER_AMOUNTS:
        return {}
    left, right = (table.column(name) for name in formula.operands)
    reason = f"as {_describe(formula)} in {_counted(formula)}"
    judged = dict(factor_roles(roles, left, right, reason))
    if not judged:
        return {}
    additivities = {(judged.get(name) or roles[name]).additivity for name in formula.operands}
    if "additive" in additivities:
        judged[formula.result] = additive(f"an amount, {reason}")
    elif "semi-additive" in additivities:
        judged[formula.result] = semi_additive(f"the amount of a level, {reason}")
    return judged


def factor_roles(roles: Roles, left: ColumnProfile, right: ColumnProfile, reason: str) -> Roles:
    """Return the roles of a quantity and of what it's multiplied with; none if it's undecided.

    ``reason`` is a clause that says of what they're factors.
    """
    difference = _likeness_to_quantity(left) - _likeness_to_quantity(right)
    if not difference:
        return {}
    quantity, price = (left, right) if difference > 0 else (right, left)
    judged = {price.name: non_additive(f"for one unit, {reason}")}
    if quantity.name not in roles or _meaning(quantity.name) in UNCERTAIN:
        judged[quantity.name] = additive(f"a quantity, {reason}")
    return judged


def _likeness_to_quantity(column: ColumnProfile) -> int:
    """Return how much a factor is like a quantity, rather than like a price or a share.

    Of ``total = a * b``, the names of the factors may both say nothing; 3, 12 and 40 are pieces
    rather than 9.99 is.
    """
    name = read_number_name(column.name)
    likeness = int(is_whole(column))
    if name.meaning in _ADDING:
        likeness += 3 if name.word in terms("quantity", "count") or name.meaning == "count" else 1
    if name.meaning in _PER_UNIT | {"ratio", "share_of_money", "extreme"}:
        likeness -= 2
    return likeness


def _sum_roles(roles: Roles, formula: RowFormula) -> Roles:
    """Return the roles of the columns of a sum that others of them settle."""
    names = (formula.result, *formula.operands)
    meanings = {name: _meaning(name) for name in names}
    if "code" in meanings.values() or set(meanings.values()) & (NEVER_AMOUNTS - {"cumulative"}):
        return {}
    computed = f"{_describe(formula)} in {_counted(formula)}"
    per_unit = [name for name in names if meanings[name] in _PER_UNIT]
    if len(per_unit) > 1:
        role = non_additive(f"part of a price, as {computed}")
        return {name: role for name in names if name not in per_unit}
    levels = [n for n in names if n in roles and roles[n].additivity == "semi-additive"]
    if len(levels) > 1:
        movements = (name for name in names if name not in levels)
        return {name: additive(f"the change of a level, as {computed}") for name in movements}
    if levels or per_unit:
        return {}
    unsettled = [
        n
        for n in names
        if n not in roles or (meanings[n] in UNCERTAIN and roles[n].additivity != "additive")
    ]
    return {name: additive(f"it adds up like the others, as {computed}") for name in unsettled}


def _meaning(name: str) -> Meaning:
    return read_number_name(name).meaning


def _describe(formula: RowFormula) -> str:
    left, right = formula.operands
    if formula.operation == "sum":
        return f"{formula.result} is {left} plus {right}"
    less = f", less the share {formula.discount}," if formula.discount else ""
    return f"{formula.result} is {left} times {right}{less}"


def _counted(formula: RowFormula) -> str:
    if formula.matches == formula.rows:
        return f"all {formula.rows:,} rows that show it"
    return f"{formula.matches:,} of {formula.rows:,} rows that show it"


TableMeasures = Mapping[str, MeasureRole]
"""The measures of one table, by column."""


def with_other_rows(
    profile: Profile, measures: Mapping[str, TableMeasures], observations: Observations
) -> dict[str, TableMeasures]:
    """Return the measures of all tables after what the order of rows and headers show."""
    judged = {table: dict(roles) for table, roles in measures.items()}
    for level in observations.running_levels:
        judged[level.table] |= _level_roles(level)
    for period_level in observations.period_levels:
        judged[period_level.table] |= _period_roles(
            profile.table(period_level.table), judged[period_level.table], period_level
        )
    for total in observations.header_totals:
        if read_number_name(total.total).meaning not in NEVER_AMOUNTS:
            judged[total.line] |= _line_roles(profile, judged[total.line], total)
            judged[total.header] |= _header_roles(judged[total.header], total)
    return dict(judged)


def _level_roles(observed: RunningLevel) -> TableMeasures:
    of_member = f" of one {observed.member}" if observed.member else ""
    computed = (
        f"{observed.level} changes by {observed.movement} from row to row{of_member} in"
        f" {_counted_rows(observed.matches, observed.rows, 'rows')}"
    )
    level = semi_additive(f"a level, as {computed}")
    roles = {observed.level: level, observed.movement: additive(f"a movement, as {computed}")}
    return {
        name: role
        for name, role in roles.items()
        if read_number_name(name).meaning not in NEVER_AMOUNTS
    }


def _period_roles(
    table: TableProfile, roles: TableMeasures, observed: PeriodLevel
) -> TableMeasures:
    """Return the roles of levels that go on from one period to the next.

    What ended a period and begins the next one is a level whatever it's called. A number that
    merely changes little is one if it counts, and its name doesn't say what moved: a price or a
    temperature changes as little.
    """
    step = f"{observed.period} for each {listed(list(observed.members))}"
    if observed.carried_from:
        steps = _counted_rows(observed.matches, observed.steps, "steps of")
        before = f"{observed.column} is the {observed.carried_from} before it"
        reason = f"a level, as {before} in {steps} {step}"
        levels = [observed.column, observed.carried_from]
    else:
        name = read_number_name(observed.column)
        counts = name.meaning in {"count", "unknown"} or name.word in terms("quantity")
        is_level = counts and not name.movement and is_whole(table.column(observed.column))
        reason = f"a level, as it changes little in {observed.steps:,} steps of {step}"
        levels = [observed.column] if is_level else []
    return {
        level: semi_additive(reason)
        for level in levels
        if level in roles and _meaning(level) not in NEVER_AMOUNTS
    }


def _line_roles(profile: Profile, roles: TableMeasures, observed: HeaderTotal) -> TableMeasures:
    """Return the roles of the line's columns that a header sums up."""
    line = profile.table(observed.line)
    reason = f"as {observed.header}.{observed.total} is {_describe_total(observed)}"
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
    return {observed.total: additive(_describe_total(observed))}


def _describe_total(observed: HeaderTotal) -> str:
    lines = observed.line
    of_lines = {
        0: f"the number of its {lines} rows",
        1: f"the sum of {lines}.{' times '.join(observed.amounts)}",
        2: f"the sum of {lines}'s {' times '.join(observed.amounts)}",
    }[len(observed.amounts)]
    return f"{of_lines} in {_counted_rows(observed.matches, observed.rows, 'rows with several')}"


def _counted_rows(matches: int, rows: int, noun: str) -> str:
    return f"all {rows:,} {noun}" if matches == rows else f"{matches:,} of {rows:,} {noun}"
