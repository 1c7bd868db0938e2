"""Which columns of the source each column of a contract is made from, by its lineage."""

from collections.abc import Mapping

from fluid_build.contract.fluid import ContractColumn, Expose
from fluid_build.contract.keys import names_of

Origins = Mapping[str, tuple[str, ...]]
"""For each column, as ``expose.column``, the columns of the source, as ``table.column``."""


def origins_of(lineage: object) -> Origins:
    """Return the origins that the lineage of a contract tells, which needn't be a valid one."""
    origins: dict[str, tuple[str, ...]] = {}
    for upstream in _mappings(lineage, "upstream"):
        labels = upstream.get("labels")
        tables = names_of(labels.get("source-tables")) if isinstance(labels, dict) else ()
        table = tables[0] if len(tables) == 1 else upstream.get("exposeId")
        for mapping in _mappings(upstream, "fieldMappings"):
            origin, target = mapping.get("sourceField"), mapping.get("targetField")
            if isinstance(origin, str) and isinstance(target, str):
                origins[target] = (*origins.get(target, ()), f"{table}.{origin}")
    return origins


def origins_of_column(column: ContractColumn, expose: Expose, origins: Origins) -> tuple[str, ...]:
    """Return the origins of a column; those of its label ``source-columns`` where none are told."""
    labelled = names_of((column.labels or {}).get("source-columns"))
    return origins.get(f"{expose.expose_id}.{column.name}", labelled)


def _mappings(part: object, key: str) -> list[Mapping[str, object]]:
    listed = part.get(key) if isinstance(part, dict) else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
