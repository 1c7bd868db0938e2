"""Columns that name a key's members in one role: ``base_source, base_code`` of (source, code)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable
from fluid_build.profiling.names.similarity import ending_similarity, phrase_similarity
from fluid_build.profiling.names.words import Words, stem


@dataclass(frozen=True, slots=True)
class SharedRole:
    """The columns of a table that pair up with a key's members, and the words they have besides."""

    columns: tuple[MeasuredColumn, ...]
    role: Words

    def names(self, table: MeasuredTable) -> bool:
        """Return whether the role is a table's name, or one of the two ends in the other."""
        role, entity = stem(self.role), table.parsed_name.entity
        return bool(
            phrase_similarity(role, entity)
            or ending_similarity(role, entity)
            or ending_similarity(entity, role)
        )


class RoleIndex:
    """The columns of a schema by every beginning and every end of their names.

    What a key's members are called is one end of a column's name, and the role is the rest.
    """

    def __init__(self, tables: Iterable[MeasuredTable]) -> None:
        self.by_words: dict[tuple[int, Words], MeasuredColumn] = {}
        self.by_part: dict[Words, list[tuple[int, Words, Words]]] = defaultdict(list)
        self._known: dict[tuple[int, ...], Sequence[SharedRole]] = {}
        for column in (c for table in tables for c in table.columns if c.key_kind):
            index, full = column.table.index, column.parsed_name.full
            self.by_words[index, full] = column
            for cut in range(1, len(full)):
                self.by_part[full[cut:]].append((index, full[:cut], ()))
                self.by_part[full[:cut]].append((index, (), full[cut:]))

    def of(self, key: Sequence[MeasuredColumn]) -> Sequence[SharedRole]:
        """Return the roles in which a table has a column for each member of a key."""
        known = tuple(map(id, key))
        if known not in self._known:
            self._known[known] = list(self._roles(key))
        return self._known[known]

    def _roles(self, key: Sequence[MeasuredColumn]) -> Iterator[SharedRole]:
        names = [_names(member) for member in key]
        found = [{each for part in parts for each in self.by_part.get(part, ())} for parts in names]
        for index, front, back in sorted(set.intersection(*found)):
            mates = [
                next(c for part in parts if (c := self.by_words.get((index, front + part + back))))
                for parts in names
            ]
            pairs = zip(mates, key, strict=True)
            if all(c.stats.present and c.key_kind == member.key_kind for c, member in pairs):
                yield SharedRole(tuple(mates), front or back)


def _names(member: MeasuredColumn) -> list[Words]:
    """Return how a role may name a key's member: a city's ``name`` is its ``ship_city``, too."""
    name = member.parsed_name
    of_table = [member.table.parsed_name.entity] if name.is_generic and member.own_key_score else []
    return [words for words in (name.full, name.bare, *of_table) if words]
