"""The staging of each table with its hash keys, so that each is worked out once a load."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.data_vault.elements import HubReference, KeylessTable, Link
from fluid_build.modeling.types import is_number
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.data_vault.columns import (
    RECORD_SOURCE,
    ROW_HASH,
    link_key,
    plain,
    reference_key,
)
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import Build, PlanColumn
from fluid_build.transform.plan.hashing import (
    exact,
    hashed,
    written,
    written_or_token,
    zero_key,
)

_INDENT = "    "


def hashed_staging(sources: VaultSources) -> Iterator[Build]:
    """One table for each table of the source that has a hash key in the vault."""
    keyless = {table.table: table for table in sources.vault.keyless_tables}
    lists = {table.table for table in sources.vault.reference_tables}
    for table in sources.staged:
        if table not in lists:
            yield _hashed(sources, table, keyless.get(table))


def _hashed(sources: VaultSources, table: str, keyless: KeylessTable | None) -> Build:
    staged = sources.staged[table]
    references = tuple(sources.references[table].values())
    looked_up = [reference for reference in references if reference.lookup is not None]
    lookups = {one.hash_key: f"lookup_{number}" for number, one in enumerate(looked_up, start=1)}
    keys = _Keys(sources, table, lookups)
    selected = [f"{_INDENT}staged.{column.name}" for column in staged.columns]
    selected += [f"{_INDENT}{keys.hub(one)} AS {one.hash_key}" for one in references]
    selected += [f"{_INDENT}{keys.link(link)} AS {link.hash_key}" for link in sources.links[table]]
    added = [reference_key(sources, table, reference) for reference in references]
    added += [_optional(sources, link) for link in sources.links[table]]
    if keyless is not None:
        selected.append(f"{_INDENT}{keys.row()} AS row_hash")
        added.append(ROW_HASH)
    selected.append(f"{_INDENT}{literal(sources.record_source(table))} AS record_source")
    joins = [_join(sources, table, one, lookups[one.hash_key]) for one in looked_up]
    read = (sources.staged[one.lookup.table].name for one in looked_up if one.lookup)
    return Build(
        name=sources.hashed[table],
        layer="staging",
        materialization="table",
        title=table,
        description=f"The rows of {staged.name} with the hash keys that the vault is loaded by.",
        sql="SELECT\n"
        + ",\n".join(selected)
        + f"\nFROM model.{staged.name} AS staged"
        + "".join(joins),
        ref_models=tuple(dict.fromkeys((staged.name, *read))),
        columns=(*plain(staged.columns), *added, RECORD_SOURCE),
        key=staged.key,
        mapped_source_tables=staged.mapped_source_tables,
        source_columns=staged.source_columns,
        reason="Each hash key is worked out once a load, from one look at the source.",
    )


class _Keys:
    """The hash keys of one table's rows, as SQL on ``staged`` and its lookups."""

    def __init__(self, sources: VaultSources, table: str, lookups: dict[str, str]) -> None:
        self._sources = sources
        self._table = table
        self._lookups = lookups
        self._strategy = sources.vault.hash_key_strategy

    def hub(self, reference: HubReference) -> str:
        """The hub's hash key; the zero key or null where the reference is missing."""
        own = self._sources.is_anchor(self._table, reference)
        write = written_or_token if own else written
        parts = [write(*part, self._strategy) for part in self._business_key(reference)]
        if not reference.optional:
            return hashed(parts, self._strategy, _INDENT)
        inner = hashed(parts, self._strategy, _INDENT + _INDENT)
        zero = zero_key(self._strategy)
        return f"COALESCE(\n{_INDENT * 2}{inner},\n{_INDENT * 2}{zero}\n{_INDENT})"

    def link(self, link: Link) -> str:
        """The link's hash key, null where the row has no such reference."""
        parts = []
        whole = not self._sources.is_of_a_reference(link)
        for reference in link.hubs:
            own = whole or self._sources.is_anchor(self._table, reference)
            write = written_or_token if own else written
            parts += [write(*part, self._strategy) for part in self._business_key(reference)]
        parts += [
            written_or_token(*self._staged(column), self._strategy)
            for column in link.dependent_child_keys
        ]
        return hashed(parts, self._strategy, _INDENT)

    def row(self) -> str:
        """The hash of the whole row."""
        strategy = exact(self._strategy)
        columns = self._sources.staged[self._table].columns
        parts = [
            written_or_token(f"staged.{column.name}", column.type, strategy) for column in columns
        ]
        return hashed(parts, strategy, _INDENT)

    def _business_key(self, reference: HubReference) -> list[tuple[str, str]]:
        """The parts of a business key, each as SQL and its type."""
        if reference.lookup is None:
            return [self._staged(column) for column in reference.columns]
        alias, lookup = self._lookups[reference.hash_key], reference.lookup
        types = [column.type for column in self._sources.columns(lookup.table, lookup.found)]
        return [(f"{alias}.found_{n}", type_) for n, type_ in enumerate(types, start=1)]

    def _staged(self, column: str) -> tuple[str, str]:
        staged = self._sources.column(self._table, column)
        return f"staged.{staged.name}", staged.type


def _optional(sources: VaultSources, link: Link) -> PlanColumn:
    """The link's hash key as it is in the staging: null where a row has no such reference."""
    key = link_key(link)
    return key.model_copy(
        update={"required": not sources.is_of_a_reference(link), "tags": ("hash-key",)}
    )


def _join(sources: VaultSources, table: str, reference: HubReference, alias: str) -> str:
    """The join that finds a business key, at most one for a row whatever the parent holds."""
    assert reference.lookup is not None, "only a looked up reference is joined"
    lookup = reference.lookup
    matched = sources.columns(lookup.table, lookup.match)
    found = sources.columns(lookup.table, lookup.found)
    selected = [f"{column.name} AS match_{n}" for n, column in enumerate(matched, start=1)]
    selected += [f"{column.name} AS found_{n}" for n, column in enumerate(found, start=1)]
    selected.append(
        f"ROW_NUMBER() OVER (\n{_INDENT * 3}PARTITION BY {_names(matched)}"
        f"\n{_INDENT * 3}ORDER BY {_names(found)}\n{_INDENT * 2}) AS place"
    )
    inner = f",\n{_INDENT * 2}".join(selected)
    ours = sources.columns(table, reference.columns)
    conditions = [
        _equal(f"{alias}.match_{n}", theirs, f"staged.{one.name}", one)
        for n, (theirs, one) in enumerate(zip(matched, ours, strict=True), start=1)
    ]
    return (
        f"\nLEFT JOIN (\n{_INDENT}SELECT\n{_INDENT * 2}{inner}"
        f"\n{_INDENT}FROM model.{sources.staged[lookup.table].name}\n) AS {alias}\n{_INDENT}ON "
        + f"\n{_INDENT}AND ".join((*conditions, f"{alias}.place = 1"))
    )


def _equal(left: str, left_column: PlanColumn, right: str, right_column: PlanColumn) -> str:
    """A comparison of two columns whose types may differ: of numbers by value, else of texts."""
    types = {left_column.type, right_column.type}
    if len(types) == 1 or all(map(is_number, types)):
        return f"{left} = {right}"
    return f"CAST({left} AS VARCHAR) = CAST({right} AS VARCHAR)"


def _names(columns: Sequence[PlanColumn]) -> str:
    return ", ".join(column.name for column in columns)
