"""The figures of the links: each relates the very keys that the rows of its table relate.

A satellite may hold the columns of a reference, and then its table comes back without the link.
"""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.data_vault.elements import HubReference, Link, Satellite
from fluid_build.transform.plan.data_vault.hashed_staging import equal
from fluid_build.transform.plan.data_vault.satellites import satellite_history
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import Check
from fluid_build.transform.plan.history import current_rows
from fluid_build.transform.plan.sql_layout import join, nested, query


def link_checks(sources: VaultSources) -> Iterator[Check]:
    """Return a check for each link that has a key; one of whole rows comes back row by row.

    What a row was under an earlier key, only the loads of then know, and what one that is loaded no
    more relates, the source doesn't say.
    """
    for link in sources.vault.links:
        is_told = sources.remaining.has_link(link) and sources.earlier_key(link) is None
        if is_told and not link.of_rows:
            yield _check(sources, link)


def _satellites(sources: VaultSources, link: Link) -> list[Satellite]:
    return [s for s in sources.satellites[link.table] if s.parent == link.name]


def _check(sources: VaultSources, link: Link) -> Check:
    width = len(link.dependent_child_keys) + sum(
        len(sources.hub(reference.hub).business_key_columns) for reference in link.hubs
    )
    names = [f"k{number}" for number in range(1, width + 1)]
    expected, actual = _in_source(sources, link, names), _in_vault(sources, link, names)
    # Without a satellite a link holds all relations that ever were, and never ends one.
    compare = _differing if _satellites(sources, link) else _missing
    return Check(
        name=f"{link.name} relates the right keys",
        kind="reference",
        table=link.table,
        expected="SELECT CAST(0 AS BIGINT)",
        actual=compare(expected, actual, names),
        differing=f"{expected}\nEXCEPT ALL\n{actual}",
        reason="The link leads to what the rows of the source refer to.",
    )


def _in_source(sources: VaultSources, link: Link, names: Sequence[str]) -> str:
    """Return a query on the source: the business keys that each row relates, by its references."""
    is_of_rows = not sources.is_of_a_reference(link)
    columns: list[str] = []
    where: list[str] = []
    joins = []
    for number, reference in enumerate(link.hubs, start=1):
        alias = "own" if reference.lookup is None else f"lookup_{number}"
        if reference.lookup is not None:
            joins.append(_lookup(sources, link.table, reference, alias))
        table, found = link.table, reference.columns
        if reference.lookup is not None:
            table, found = reference.lookup.table, reference.lookup.found
        parts = [f"{alias}.{column.name}" for column in sources.columns(table, found)]
        if not sources.is_anchor(link.table, reference):
            filled = [f"{part} IS NOT NULL" for part in parts]
            # A key that is null in part leads to no hub.
            parts = [f"CASE WHEN {' AND '.join(filled)} THEN {part} END" for part in parts]
            where += [] if is_of_rows else filled
        columns += [_spelled(sources, part) for part in parts]
    children = sources.columns(link.table, link.dependent_child_keys)
    columns += [_spelled(sources, f"own.{column.name}") for column in children]
    own = f"{nested(sources.staged[link.table].sql)} AS own"
    return query(zip(columns, names, strict=True), own, *joins, where=where)


def _lookup(sources: VaultSources, table: str, reference: HubReference, alias: str) -> str:
    lookup = reference.lookup
    assert lookup is not None, "only looked up references are joined"
    pairs = zip(
        sources.columns(lookup.table, lookup.match),
        sources.columns(table, reference.columns),
        strict=True,
    )
    same = [
        equal(f"{alias}.{theirs.name}", theirs, f"own.{ours.name}", ours) for theirs, ours in pairs
    ]
    return join("LEFT JOIN", nested(sources.staged[lookup.table].sql), alias, same)


def _in_vault(sources: VaultSources, link: Link, names: Sequence[str]) -> str:
    """Return a query on the vault: the business keys that each current row of a link relates."""
    satellites = _satellites(sources, link)
    current = f"SELECT *\nFROM model.{link.name}"
    if satellites:
        current = current_rows(satellite_history(satellites[0], sources), (link.hash_key,))
    same = f"link.{link.hash_key} = current_link.{link.hash_key}"
    joins = [join("JOIN", f"model.{link.name}", "link", [same])]
    columns: list[str] = []
    for number, reference in enumerate(link.hubs, start=1):
        hub, alias = sources.hub(reference.hub), f"hub_{number}"
        same = f"{alias}.{hub.hash_key} = link.{reference.hash_key}"
        joins.append(join("LEFT JOIN", f"model.{hub.name}", alias, [same]))
        columns += [f"{alias}.{part.name}" for part in sources.business_key(hub)]
    children = sources.columns(link.table, link.dependent_child_keys)
    columns += [f"link.{column.name}" for column in children]
    spelled = [_spelled(sources, column) for column in columns]
    rows = f"{nested(current)} AS current_link"
    return query(zip(spelled, names, strict=True), rows, *joins)


def _spelled(sources: VaultSources, column: str) -> str:
    """Return a part of a key as text, spelled as it's hashed where spellings are compared so."""
    strategy = sources.vault.hash_key_strategy
    if not strategy.folds_keys:
        return column
    text = f"CAST({column} AS VARCHAR)"
    text = f"TRIM({text})" if strategy.style is not None and strategy.style.trim else text
    return f"UPPER({text})" if strategy.case == "upper" else text


def _differing(expected: str, actual: str, names: Sequence[str]) -> str:
    """Return a query for how many rows one of two queries has more often than the other."""
    both = "\nUNION ALL\n".join(
        (
            f"SELECT 1 AS sign, *\nFROM {nested(expected)} AS ours",
            f"SELECT -1 AS sign, *\nFROM {nested(actual)} AS theirs",
        )
    )
    surplus = query(
        [("ABS(SUM(sign))", "surplus")], f"{nested(both)} AS both_sides", group_by=names
    )
    return query(["CAST(COALESCE(SUM(surplus), 0) AS BIGINT)"], f"{nested(surplus)} AS differing")


def _missing(expected: str, actual: str, names: Sequence[str]) -> str:
    """Return a query for how many of the rows of one query the other doesn't have."""
    columns = ", ".join(names)
    missing = f"SELECT {columns}\nFROM {nested(expected)} AS ours"
    missing += f"\nEXCEPT\nSELECT {columns}\nFROM {nested(actual)} AS theirs"
    return query(["count(*)"], f"{nested(missing)} AS missing")
