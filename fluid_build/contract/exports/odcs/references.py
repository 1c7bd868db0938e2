"""How ODCS points at a table's column: by names where they are plain, by ids where they are not.

https://bitol-io.github.io/open-data-contract-standard/v3.1.0/references/
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from fluid_build.contract.exports.odcs.custom_properties import custom_properties
from fluid_build.contract.exports.tracking import Json, without_none
from fluid_build.contract.fluid import Expose
from fluid_build.contract.keys import Keys, TableReference
from fluid_build.text import free_name

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]+")

Spot = tuple[int, str]
"""An expose by its place in the contract, and the name of a column of it."""


@dataclass(frozen=True, slots=True)
class Names:
    """How to point at each column of a reference, and the ids needed for that."""

    spelled: dict[Spot, str]
    tables: dict[int, str]
    columns: dict[Spot, str]

    def pointers(self, expose: int, columns: Sequence[str]) -> str | list[str]:
        """Return one pointer for one column, a list for several."""
        texts = [self.spelled[expose, column] for column in columns]
        return texts[0] if len(texts) == 1 else texts


def names_of_references(exposes: Sequence[Expose], keys: Sequence[Keys]) -> Names:
    """Return pointers for every column of every reference.

    Names are used where both are plain and no other expose or column has them.
    """
    ids = Counter(expose.expose_id for expose in exposes)
    names = Names({}, {}, {})
    for spot in dict.fromkeys(_spots(keys)):
        index, column = spot
        expose = exposes[index]
        same = sum(1 for other in expose.contract.columns or () if other.name == column)
        is_plain = _PLAIN.fullmatch(expose.expose_id) and _PLAIN.fullmatch(column)
        if is_plain and same == 1 and ids[expose.expose_id] == 1:
            names.spelled[spot] = f"{expose.expose_id}.{column}"
            continue
        names.tables.setdefault(index, _id(expose.expose_id, names.tables.values()))
        used_ids = {id_ for (at, _), id_ in names.columns.items() if at == index}
        names.columns[spot] = _id(column, used_ids)
        names.spelled[spot] = f"schema/{names.tables[index]}/properties/{names.columns[spot]}"
    return names


def relationship(names: Names, expose: int, reference: TableReference, *, implied: bool) -> Json:
    """Return a reference as a relationship; ``implied`` where it's at its own column."""
    start: Json = {} if implied else {"from": names.pointers(expose, reference.columns)}
    return without_none(
        {
            "type": "foreignKey",
            **start,
            "to": names.pointers(reference.expose, reference.to_columns),
            "customProperties": custom_properties({"rule": reference.rule}),
        }
    )


def _spots(keys: Sequence[Keys]) -> Iterator[Spot]:
    for index, each in enumerate(keys):
        for reference in each.references:
            if reference.holds:
                yield from ((index, column) for column in reference.columns)
                yield from ((reference.expose, column) for column in reference.to_columns)


def _id(name: str, used_ids: Collection[str]) -> str:
    return free_name(plain_id(name), used_ids)


def plain_id(name: str) -> str:
    """Return a name as an id of ODCS."""
    return _NOT_IN_IDS.sub("_", name) or "_"
