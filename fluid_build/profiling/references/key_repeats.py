"""How many other tables repeat a key of several columns: those that refer to it do."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice

from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable
from fluid_build.profiling.measure.value_cache import ValueCache
from fluid_build.profiling.references.column_matches import KeyColumnSearch
from fluid_build.profiling.references.inclusion import measure_inclusion
from fluid_build.profiling.references.probing import probe_tuples
from fluid_build.profiling.references.shared_roles import RoleIndex
from fluid_build.profiling.references.single_columns import ColumnReference
from fluid_build.profiling.weights import Weights

_MOST_REPEATS = 3
"""Tables that count at most, so that the tables of one star don't outweigh everything else."""
_MOST_MEASURED = 5
"""Tables that are measured for one key at most: each costs a join."""
_MOST_COMPARED = 30
"""Tables that are asked whether they repeat a wider key: enough for a majority."""
_LEAST_WIDER_SCORE = 0.7
"""The name score of columns that repeat a key or a wider one: ``city`` repeats a city's ``name``.
Columns that aren't meant are rarely left out of the one and not of the other."""


class KeyRepeats:
    """The tables that repeat keys of several columns, measured on their values."""

    def __init__(
        self,
        cache: ValueCache,
        tables: Sequence[MeasuredTable],
        references: Sequence[ColumnReference],
        weights: Weights,
    ) -> None:
        self.cache = cache
        targets = {id(reference.child): reference.parent for reference in references}
        self.search = KeyColumnSearch(tables, targets, weights.names)
        self._tables = tables
        self.weights = weights.composite
        self._known: dict[int, dict[int, list[tuple[float, MeasuredColumn]]]] = {}

    @cached_property
    def roles(self) -> RoleIndex:
        """The columns that share a role."""
        return RoleIndex(self._tables)

    @cached_property
    def named(self) -> dict[str, list[MeasuredColumn]]:
        """The columns by the words, glued together, with which their names begin or end."""
        named: dict[str, list[MeasuredColumn]] = defaultdict(list)
        for column in (c for table in self._tables for c in table.columns if c.stats.present):
            words = column.parsed_name.entity
            parts = {words[cut:] for cut in range(len(words))}
            for part in parts | {words[:cut] for cut in range(1, len(words))}:
                named["".join(part)].append(column)
        return named

    def count_named(self, key: MeasuredColumn) -> int:
        """Return how many columns that are named for a key's table hold values of the key alone."""
        words = key.table.parsed_name.entity
        names = {"".join(words[cut:] + words[:cut]) for cut in range(len(words))}
        named = [
            column
            for name in sorted(names)
            for column in self.named[name]
            if column.key_kind == key.key_kind and column.table is not key.table
        ]
        return sum(
            not measure_inclusion(self.cache, [column], [key]).orphans
            for column in named[:_MOST_MEASURED]
        )

    def count(self, key: Sequence[MeasuredColumn]) -> int:
        """Return how many other tables have columns of these names with the key's values."""
        holding = (child for child in self._with_same_names(key) if self._holds(child, key))
        return len(list(islice(holding, _MOST_REPEATS)))

    def tables(self, key: Sequence[MeasuredColumn]) -> list[int]:
        """Return the indices of the other tables that repeat a key."""
        children = self._with_same_names(key)
        return [child[0].table.index for child in children if self._holds(child, key)]

    def are_wider(
        self, key: Sequence[MeasuredColumn], wider: Sequence[MeasuredColumn], fewest: int
    ) -> bool:
        """Return whether most of the tables that repeat a key repeat the wider one."""
        namesakes = self._with_similar_names(key)[:_MOST_COMPARED]
        narrow = [child for child in namesakes if self._holds(child, key)]
        repeating = {child[0].table.index for child in narrow}
        wide = [
            child
            for child in self._with_similar_names(wider)
            if child[0].table.index in repeating and self._holds(child, wider)
        ]
        return len(wide) >= fewest and len(wide) > len(narrow) / 2

    def in_roles(self, key: Sequence[MeasuredColumn]) -> list[tuple[MeasuredColumn, ...]]:
        """Return the columns of other tables that repeat a key in some role, all of its members."""
        groups = (shared.columns for shared in self.roles.of(key))
        others = (group for group in groups if group[0].table is not key[0].table)
        return [group for group in islice(others, _MOST_COMPARED) if self._holds(group, key)]

    def _with_same_names(
        self, key: Sequence[MeasuredColumn]
    ) -> Iterator[tuple[MeasuredColumn, ...]]:
        """Return the first columns of other tables that have the names of a key's."""
        return islice(self.search.namesakes(key), _MOST_MEASURED)

    def _with_similar_names(
        self, key: Sequence[MeasuredColumn]
    ) -> list[tuple[MeasuredColumn, ...]]:
        """Return the columns of other tables that have names like those of a key's."""
        matches = [self.matches(column) for column in key]
        return [
            tuple(by_table[index][0][1] for by_table in matches)
            for index in sorted(set.intersection(*map(set, matches)))
            if all(by_table[index][0][0] >= _LEAST_WIDER_SCORE for by_table in matches)
        ]

    def matches(self, column: MeasuredColumn) -> dict[int, list[tuple[float, MeasuredColumn]]]:
        """Return the columns that may refer to a key's column, best first, by table's index."""
        if id(column) not in self._known:
            self._known[id(column)] = self.search.matches(column) if column.key_kind else {}
        return self._known[id(column)]

    def _holds(self, child: Sequence[MeasuredColumn], key: Sequence[MeasuredColumn]) -> bool:
        if key[0].table.is_sampled:
            # What isn't among the keys that were read may be among the others.
            return False
        connection = self.cache.connection
        if probe_tuples(connection, child, key) < self.weights.least_probed:
            return False
        return measure_inclusion(self.cache, child, key).share >= self.weights.least_share
