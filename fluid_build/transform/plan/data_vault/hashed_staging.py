"""The staging of each table with its hash keys, so that each is computed once a load."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fluid_build.modeling.data_vault.elements import HubReference, Link, Lookup
from fluid_build.modeling.types import is_number
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.data_vault.columns import (
    RECORD_SOURCE,
    link_key,
    reference_key,
    row_key,
)
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import Build, PlanColumn
from fluid_build.transform.plan.hashing import (
    exact,
    first_form,
    hashed,
    hashed_row,
    written,
    written_or_others,
    written_or_token,
    zero_key,
)
from fluid_build.transform.plan.quarantine import (
    BROKEN_RULE,
    SOUND_ROWS,
    with_sound_rows,
)
from fluid_build.transform.plan.sql_layout import (
    Column,
    as_text,
    join,
    nested,
    query,
    select_list,
    with_ctes,
)
from fluid_build.transform.plan.staging import by_spelling, read_relations, staged_rows


def hashed_staging(sources: VaultSources) -> Iterator[Build]:
    """Return one table for each table of the source that has a hash key in the vault."""
    built = {table.table for table in sources.vault.reference_tables}
    for table in _parents_first(sources, built):
        yield _hashed(sources, table, frozenset(built))
        built.add(table)


def _parents_first(sources: VaultSources, code_lists: Collection[str]) -> Iterator[str]:
    """Return tables so that each follows those in which its business keys are looked up.

    Some that look each other up are after one that is looked up in them.
    """
    seen = set(code_lists)

    def visit(table: str) -> Iterator[str]:
        if table in seen:
            return
        seen.add(table)
        for reference in sources.references[table].values():
            if reference.lookup is not None:
                yield from visit(reference.lookup.table)
        yield table

    for table in sources.staged:
        yield from visit(table)


def _hashed(sources: VaultSources, table: str, built: frozenset[str]) -> Build:
    staged = sources.staged[table]
    references = tuple(sources.references[table].values())
    links = sources.links[table]
    keys = _Keys(sources, table, built)
    names, parents = sources.names, keys.parents()
    selected: list[Column] = ["staged.*"]
    selected += [(keys.of_hub(reference), reference.hash_key) for reference in references]
    selected += [(keys.of_link(link), link.hash_key) for link in links]
    added = [reference_key(sources, table, reference) for reference in references]
    added += [_key_of_link(sources, link) for link in links]
    counted = sources.counted.get(table)
    if counted is not None:
        selected.append((keys.of_row(), row_key(counted).name))
        added.append(row_key(counted))
    selected.append((literal(sources.record_source(table)), "record_source"))
    read = read_relations(
        (each for each in (table, *parents) if each not in built), names, sources.present
    )
    broken = table in sources.keys
    return Build(
        name=sources.names.staging(table),
        layer="staging",
        materialization="table",
        title=table,
        description=staged.description,
        **_query(sources, table, selected, keys.joins()),
        ref_models=(
            *((names.quarantine(table),) if broken else ()),
            *read["ref_models"],
            *(names.staging(parent) for parent in parents if parent in built),
        ),
        ref_sources=read["ref_sources"],
        columns=(*staged.columns, *([BROKEN_RULE] if broken else []), *added, RECORD_SOURCE),
        key=staged.key,
        mapped_source_tables=staged.mapped_source_tables,
        source_columns=staged.source_columns,
        reason=(
            "One table per source table, with all of its rows, renamed and typed, and the hash keys"
            " that the vault is loaded by: each is computed once per load."
        ),
    )


def _query(
    sources: VaultSources, table: str, selected: Sequence[Column], joins: Sequence[str]
) -> dict[str, Any]:
    """Return the SQL of a staging; where its table has a key, of which rows break it."""
    staged = sources.staged[table]
    if table not in sources.keys:
        return {"sql": with_ctes([("staged", staged.sql)], query(selected, "staged", *joins))}
    select = query(selected, SOUND_ROWS, *joins)
    return with_sound_rows(staged, sources.names, sources.keys[table], select, marked=True)


def _key_of_link(sources: VaultSources, link: Link) -> PlanColumn:
    """Return the link's hash key as the staging has it: null where a row lacks the reference."""
    required = not sources.is_of_a_reference(link)
    return link_key(link).model_copy(update={"required": required, "tags": ("hash-key",)})


@dataclass(frozen=True)
class _Keys:
    """The hash keys of one table's rows, as SQL on ``staged`` and the lookups joined to it.

    A lookup reads the staging of a table among ``built``, so that it waits for the tests of the key
    that it's looked up by. Of tables that look each other up, one has to read the source.
    """

    sources: VaultSources
    table: str
    built: frozenset[str]

    @cached_property
    def lookups(self) -> dict[str, HubReference]:
        """The references whose business key is looked up in another table, by alias."""
        references = self.sources.references[self.table].values()
        looked_up = (reference for reference in references if reference.lookup is not None)
        return {f"lookup_{n}": reference for n, reference in enumerate(looked_up, start=1)}

    def of_hub(self, reference: HubReference) -> str:
        """Return the hub's hash key; the zero key or null where the reference is missing."""
        strategy = self.sources.vault.hash_key_strategy
        is_anchor = self.sources.is_anchor(self.table, reference)
        write = written_or_token if is_anchor else written
        key = hashed([write(*part, strategy) for part in self._business_key(reference)], strategy)
        if not self.sources.has_zero_key(self.table, reference):
            return key
        return f"COALESCE(\n{select_list([key, zero_key(strategy)])}\n)"

    def of_link(self, link: Link) -> str:
        """Return the link's hash key, null where the row has no such reference."""
        strategy = self.sources.vault.hash_key_strategy
        is_of_rows = not self.sources.is_of_a_reference(link)
        is_of_a_hub = self.sources.is_of_a_hub(link)
        parts = []
        for reference in link.hubs:
            is_present = is_of_rows or self.sources.is_anchor(self.table, reference)
            write = written_or_token if is_present else written
            first, *more = self._business_key(reference)
            if is_of_rows and not is_of_a_hub and reference.lookup is not None:
                # Rows that find no business key are told apart by the columns that found none.
                own = [self._part(column) for column in reference.columns]
                parts.append(written_or_others(first, own, strategy))
            else:
                parts.append(write(*first, strategy))
            parts += [write(*part, strategy) for part in more]
        for column in link.dependent_child_keys:
            parts.append(written_or_token(*self._part(column), strategy))
        return hashed(parts, strategy)

    def of_row(self) -> str:
        """Return the hash of the whole row."""
        strategy = exact(self.sources.vault.hash_key_strategy)
        columns = self.sources.staged[self.table].columns
        values = [
            self._as_first(column, sql) if self._first_type(column) else (sql, column.type)
            for column in columns
            for sql in (f"staged.{column.name}",)
        ]
        parts = [written_or_token(*value, strategy) for value in values]
        return hashed_row(parts, strategy)

    def parents(self) -> tuple[str, ...]:
        """Return the tables that business keys are looked up in."""
        lookups = (reference.lookup for reference in self.lookups.values())
        return tuple(dict.fromkeys(lookup.table for lookup in lookups if lookup is not None))

    def joins(self) -> list[str]:
        """Return the joins that look up business keys."""
        return [self._join(alias, reference) for alias, reference in self.lookups.items()]

    def _join(self, alias: str, reference: HubReference) -> str:
        """Return a join that finds at most one key for a row, whatever the parent holds."""
        assert reference.lookup is not None, "only looked up references are joined"
        lookup = reference.lookup
        matched = self.sources.columns(lookup.table, lookup.match)
        found = self.sources.columns(lookup.table, lookup.found)
        by_key = f"PARTITION BY {_listed(matched)} ORDER BY {_listed(found)}"
        candidates = query(
            [
                *((column.name, f"match_{n}") for n, column in enumerate(matched, start=1)),
                *((column.name, f"found_{n}") for n, column in enumerate(found, start=1)),
                (f"ROW_NUMBER() OVER ({by_key})", "candidate"),
            ],
            self._parent_rows(lookup),
        )
        own = self.sources.columns(self.table, reference.columns)
        conditions = [
            equal(f"{alias}.match_{n}", matched_by, f"staged.{child.name}", child)
            for n, (matched_by, child) in enumerate(zip(matched, own, strict=True), start=1)
        ]
        return join("LEFT JOIN", nested(candidates), alias, (*conditions, f"{alias}.candidate = 1"))

    def _parent_rows(self, lookup: Lookup) -> str:
        names = self.sources.names
        if lookup.table in self.built:
            return f"model.{names.staging(lookup.table)}"
        parent = self.sources.conceptual.entity(lookup.table)
        read = {*lookup.match, *lookup.found}
        rows = staged_rows(parent, names, by_spelling, self.sources.present, read)
        return f"{nested(rows)} AS parents"

    def _business_key(self, reference: HubReference) -> list[tuple[str, str]]:
        """Return the parts of a business key, each as SQL and its type."""
        if reference.lookup is None:
            return [self._part(column) for column in reference.columns]
        key = reference.hash_key
        alias = next(name for name, other in self.lookups.items() if other.hash_key == key)
        columns = self.sources.columns(reference.lookup.table, reference.lookup.found)
        return [
            self._as_first(column, f"{alias}.found_{n}")
            for n, column in enumerate(columns, start=1)
        ]

    def _part(self, column: str) -> tuple[str, str]:
        staged = self.sources.column(self.table, column)
        return self._as_first(staged, f"staged.{staged.name}")

    def _as_first(self, column: PlanColumn, expression: str) -> tuple[str, str]:
        """Return SQL for a part of a key as it was written when its column was first loaded."""
        return first_form(expression, column.type, self._first_type(column))

    def _first_type(self, column: PlanColumn) -> str:
        return next(map(self.sources.present.first_type, column.source_columns), "")


def equal(left: str, left_column: PlanColumn, right: str, right_column: PlanColumn) -> str:
    """Return a comparison of two columns: of numbers by value, of different types as text."""
    types = (left_column.type, right_column.type)
    if len(set(types)) == 1 or all(map(is_number, types)):
        return f"{left} = {right}"
    return f"{as_text(left, types[0])} = {as_text(right, types[1])}"


def _listed(columns: Sequence[PlanColumn]) -> str:
    return ", ".join(column.name for column in columns)
