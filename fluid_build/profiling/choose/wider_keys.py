"""Keys with the columns that people count as part of them, though fewer columns are unique."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

from fluid_build.profiling.keys.likelihood import DISTINGUISHING_WORDS
from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable
from fluid_build.profiling.references.key_repeats import KeyRepeats
from fluid_build.profiling.references.single_columns import ColumnReference

_FEWEST_TENANT_TABLES = 5
"""Tables that a tenant column must lead: a few may begin with the same constant by chance."""
_NAMED_LIKE_LABEL = 0.5
"""The least ``own_key_score`` of a key's column: a plain ``name`` may be its table's key."""
_FEW_ROWS = 50
"""Rows up to which it says little that a code is unique."""
_FEWEST_WIDER = 2
"""Tables that must repeat a key with a column within or after it: one may have copied it."""
_FEWEST_TENANT_ROWS = 2
"""Rows from which it says something that a column has a single value."""


class KeyWidening:
    """The columns by which keys are widened, given the references of single columns."""

    def __init__(
        self,
        tables: Sequence[MeasuredTable],
        references: Sequence[ColumnReference],
        repeats: KeyRepeats,
    ) -> None:
        self.repeats = repeats
        self.references = {id(reference.child) for reference in references}
        # While a database has one tenant, ``client_id`` leads many tables, has a single value
        # wherever it occurs, and refers to a table.
        namesakes: dict[Hashable, list[MeasuredColumn]] = defaultdict(list)
        for table in tables:
            for column in table.columns:
                if column.key_kind in {"integer", "text", "uuid"} and column.stats.present:
                    namesakes[column.parsed_name.squashed].append(column)
        self.tenants: dict[int, MeasuredColumn] = {}
        for columns in namesakes.values():
            if _are_tenants(columns, self.references):
                referring = (c for c in columns if id(c) in self.references)
                self.tenants.update((column.table.index, column) for column in referring)
        self.referring: dict[int, list[MeasuredColumn]] = defaultdict(list)
        for reference in references:
            if reference.child.table is not reference.parent.table:
                self.referring[id(reference.parent)].append(reference.child)

    def widened(self, key: tuple[MeasuredColumn, ...]) -> tuple[MeasuredColumn, ...]:
        """Return a table's key with the columns that belong to it."""
        wider = self._with_columns_before(self._with_column_of_roles(self._with_tenant(key)))
        return self._with_repeated(wider) if len(wider) > 1 else wider

    def _with_tenant(self, key: tuple[MeasuredColumn, ...]) -> tuple[MeasuredColumn, ...]:
        """Return a key with its table's tenant column if the tables that repeat the key have one.

        While a database has a single tenant, no minimal key has the column in it.
        """
        tenant = self.tenants.get(key[0].table.index)
        if tenant is None or tenant in key or tenant.position > key[0].position:
            return key
        if len(key) == 1:
            children = sorted({column.table.index for column in self.referring[id(key[0])]})
        else:
            children = self.repeats.tables(key)
        with_tenant = sum(1 for index in children if index in self.tenants)
        return (tenant, *key) if 2 * with_tenant > len(children) else key

    def _with_column_of_roles(self, key: tuple[MeasuredColumn, ...]) -> tuple[MeasuredColumn, ...]:
        """Return a key with the column before it if others repeat the two in one role.

        ``base_source, base_code`` of other tables say that a code belongs to its source, though no
        two sources happen to have the same.
        """
        table, last = key[0].table, key[0].position
        if len(key) > 1 or last != 1 or (before := table.columns[0]).stats.nulls:
            return key
        children = {id(c) for c in self.referring[id(key[0])] if not c.is_primary_key}
        if before.stats.is_key or not before.key_kind or len(children) < _FEWEST_WIDER:
            return key
        wider = (before, *key)
        repeating = {id(group[-1]) for group in self.repeats.in_roles(wider)} & children
        return wider if 2 * len(repeating) > len(children) else key

    def _with_columns_before(self, key: tuple[MeasuredColumn, ...]) -> tuple[MeasuredColumn, ...]:
        """Return a key with all columns before it if the tables that repeat the key have them all.

        In few rows, a code may be unique by chance that is numbered within what comes before it.
        """
        table, last = key[0].table, max(column.position for column in key)
        before = tuple(c for c in table.columns[: last + 1] if c in key or c.stats.distinct > 1)
        if table.stats.rows > _FEW_ROWS or len(before) == len(key):
            return key
        if any(c.parsed_name.is_generic or c.is_dense for c in key) or any(
            c.stats.nulls or not c.key_kind or c.is_measure for c in before
        ):
            return key
        return before if self.repeats.are_wider(key, before, fewest=1) else key

    def _with_repeated(self, key: tuple[MeasuredColumn, ...]) -> tuple[MeasuredColumn, ...]:
        """Return a key with the columns before, within and right after it that others repeat too.

        With the team and the year, the league is known, and yet every table that refers to the team
        has all three.
        """
        if not any(column.own_key_score >= _NAMED_LIKE_LABEL for column in key):
            return key
        for column in key[0].table.columns:
            last = max(part.position for part in key)
            if column.position > last + 1:
                break
            if column in key or column.stats.nulls or column.is_measure or not column.key_kind:
                continue
            if not self._may_be_part(column):
                continue
            wider = tuple(sorted((*key, column), key=lambda part: part.position))
            if self.repeats.are_wider(key, wider, _FEWEST_WIDER):
                key = wider
        return key

    def _may_be_part(self, column: MeasuredColumn) -> bool:
        name = column.parsed_name
        is_named = name.has_key_word or not DISTINGUISHING_WORDS.isdisjoint(name.bare)
        return is_named or id(column) in self.references


def _are_tenants(columns: Sequence[MeasuredColumn], referring: set[int]) -> bool:
    """Return whether columns of one name hold a tenant; a ``status`` that is 1 everywhere doesn't.

    In a table of one row, every column has a single value.
    """
    if len(columns) < _FEWEST_TENANT_TABLES:
        return False
    values = Counter(value for column in columns for value, _ in column.stats.values)
    if len(values) != 1 or any(column.stats.nulls for column in columns):
        return False
    telling = [
        column
        for column in columns
        if column.stats.rows >= _FEWEST_TENANT_ROWS
        if column.position == 0 and id(column) in referring
    ]
    return len(telling) >= _FEWEST_TENANT_TABLES and 2 * len(telling) > len(columns)
