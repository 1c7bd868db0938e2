"""A plan in parts: what is built for which comparison, so that little of it is there at a time.

A part is some comparisons with the builds that they read and that no earlier part has built. What
neither a later build nor a later comparison reads can be dropped, and which part comes next is
chosen so that little is kept.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from fluid_build.transform.plan.elements import Build, TransformPlan
from fluid_build.transform.plan.parallel_sessions import ROW_GROUP

FEW_CELLS = ROW_GROUP
"""Relations made of fewer values are built together and kept: dropping them takes time as well."""

_CANDIDATES = 16
"""How many comparisons are weighed against each other to find the next one."""

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class Part:
    """Builds in the order of building, the source tables that are compared after them, and reads.

    ``reads`` are the relations that the comparison reads.
    """

    builds: tuple[Build, ...]
    tables: tuple[str, ...]
    reads: Names


class Parts:
    """The parts of a plan, and what is still read while they are gone through.

    ``rows`` has how many rows each source table has.
    """

    def __init__(self, plan: TransformPlan, rows: Mapping[str, int]) -> None:
        self._builds = {build.name: build for build in plan.builds}
        self._needs: dict[str, Names] = {}
        self._visible: dict[str, Names] = {}
        self._tables: dict[str, Names] = {}
        self._weights: dict[str, int] = {}
        tables = {source.id: source for source in plan.sources}
        cells = {each.table: rows.get(each.table, 0) * len(each.columns) for each in plan.sources}
        for build in plan.builds:
            refs = [ref for ref in build.ref_models if ref in self._needs]
            self._needs[build.name] = _united(self._needs[ref] for ref in refs) | {build.name}
            read = _united(self._visible[ref] for ref in refs) if _is_view(build) else Names()
            self._visible[build.name] = read | {build.name}
            own = frozenset(tables[name].table for name in build.ref_sources if name in tables)
            of_build = _united(self._tables[ref] for ref in refs) | own
            self._tables[build.name] = of_build
            most = max((cells[table] for table in of_build), default=0)
            self._weights[build.name] = 0 if _is_view(build) else most
        self._pending: dict[tuple[str, ...], Names] = {}
        self._planned: set[str] = set()
        self._there: list[str] = []
        self._done: set[str] = set()

    @property
    def count(self) -> int:
        """How many relations have been built."""
        return len(self._done)

    def with_needs(self, names: Names) -> tuple[Build, ...]:
        """Return what has to be built for relations to be there, in the order of building."""
        needed = self._all_needed(names) - self._planned
        self._planned |= needed
        return tuple(build for build in self._builds.values() if build.name in needed)

    def in_turn(self, reads: Mapping[tuple[str, ...], Names]) -> Iterator[Part]:
        """Yield the parts; each is built and compared before the next is asked for.

        ``reads`` has the relations that comparisons read, by the source tables that are compared
        together. What none of them reads is in a part of its own.
        """
        self._pending = dict(reads)
        compared = self._all_needed(_united(reads.values()))
        unread = [name for name in self._builds if name not in compared | self._planned]
        few = Names(name for name in unread if self._weights[name] <= FEW_CELLS)
        alone: dict[tuple[str, ...], Names] = {
            (f"model.{name}",): Names([name]) for name in unread if name not in few
        }
        alone |= {("model.",): few} if few else {}
        self._pending |= alone
        while self._pending:
            tables = min(islice(self._pending, _CANDIDATES), key=self._cost)
            names = self._pending.pop(tables)
            yield Part(self.with_needs(names), () if tables in alone else tables, names)

    def note(self, builds: Sequence[Build]) -> None:
        """Note that relations have been built."""
        self._done |= {build.name for build in builds}
        self._there += [build.name for build in builds if not _is_view(build)]

    def unread(self, reading: Names) -> list[str]:
        """Return which large relations are there that nothing will read, and forget them.

        ``reading`` are those that the present comparison reads.
        """
        gone = self._unread(self._there, self._done, [*self._pending.values(), reading])
        self._there = [name for name in self._there if name not in gone]
        return gone

    def any_of(self, names: Iterable[str], tables: Names) -> bool:
        """Whether any of the relations, or what it's built from, is of one of the tables."""
        return any(self._tables[name] & tables for name in names)

    def _all_needed(self, names: Iterable[str]) -> Names:
        return _united(self._needs[name] for name in names if name in self._needs)

    def _unread(
        self, there: Iterable[str], done: Collection[str], comparisons: Iterable[Names]
    ) -> list[str]:
        read = set(_united(self._visible[name] for name in _united(comparisons)))
        for name, build in self._builds.items():
            if name not in done and not _is_view(build):
                read |= _united(self._visible[ref] for ref in build.ref_models)
        return [name for name in there if name not in read and self._weights[name] > FEW_CELLS]

    def _cost(self, tables: tuple[str, ...]) -> int:
        """Return how much more there is to keep after a part than before it."""
        needed = self._all_needed(self._pending[tables]) - self._planned
        others = [read for other, read in self._pending.items() if other != tables]
        there = [*self._there, *needed]
        gone = self._unread(there, self._planned | needed, others)
        weigh = self._weights.__getitem__
        return sum(map(weigh, needed)) - sum(map(weigh, gone))


def _is_view(build: Build) -> bool:
    return build.materialization == "view"


def _united(sets: Iterable[Names]) -> Names:
    return Names().union(*sets)
