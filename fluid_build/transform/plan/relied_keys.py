"""The keys that a model relies on, and those of them that the staging tests.

A measured key is a guess about future rows. Once it stops holding, two rows share one hub, link or
member, and what's loaded from them is wrong. So rows that break one go to the quarantine
(``quarantine.py``). What it can't see is tested: keys that differ and share a hash, and more
exceptions from a declared key than are known. ``dbt build`` skips everything that reads a relation
with a failed test.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.modeling.conceptual import ConceptualModel, Entity, EntityKey
from fluid_build.modeling.identifiers import identifiers
from fluid_build.modeling.sql_names import SqlNames, fit
from fluid_build.text import listed
from fluid_build.transform.plan.elements import EVERY_ROW, BuildTest, RowScope


@dataclass(frozen=True, slots=True)
class ReliedKey:
    """Columns of a source table that a model relies on as a key, and where they are staged.

    ``relation`` is a staging of the table. ``columns`` are the source's; where keys that differ may
    share a hash there, ``hashed`` are the columns to test. A ``complete`` key identifies rows, so
    no part of it may become null. Other keys are only used for lookups: a row with a null is never
    found, and does no harm.
    """

    relation: str
    table: str
    columns: tuple[str, ...]
    hashed: tuple[str, ...] = ()
    complete: bool = True


def key_tests(
    keys: Iterable[ReliedKey],
    conceptual: ConceptualModel,
    names: SqlNames,
    scopes: Mapping[str, RowScope],
) -> dict[str, tuple[BuildTest, ...]]:
    """Return the tests of the keys, by the staging relation that they're on.

    ``scopes`` are the rows that are loaded of tables that have others in their staging.
    """
    by_relation: dict[str, list[ReliedKey]] = {}
    for key in _once(keys):
        by_relation.setdefault(key.relation, []).append(key)
    return {
        relation: tuple(_of_relation(relied_keys, conceptual, names, scopes))
        for relation, relied_keys in by_relation.items()
    }


def _once(keys: Iterable[ReliedKey]) -> Iterator[ReliedKey]:
    """Return each key once, complete if any use of it needs that.

    No two rows that differ in a hash agree in what it's made of, so the hash's test is enough.
    """
    unique_keys: dict[tuple[str, frozenset[str]], ReliedKey] = {}
    for key in keys:
        place = key.relation, frozenset(key.hashed or key.columns)
        if place not in unique_keys or key.complete:
            unique_keys[place] = key
    hashes = {(key.relation, frozenset(key.columns)) for key in unique_keys.values() if key.hashed}
    for key in unique_keys.values():
        if key.hashed or (key.relation, frozenset(key.columns)) not in hashes:
            yield key


def is_broken(entity: Entity, columns: Sequence[str]) -> bool:
    """Whether rows are known that share these columns, though the source declares them a key."""
    key = _known(entity, columns)
    return key is not None and key.evidence.violations > 0


def _known(entity: Entity, columns: Sequence[str]) -> EntityKey | None:
    return next((key for key in entity.keys if set(key.attributes) == set(columns)), None)


def _of_relation(
    keys: Sequence[ReliedKey],
    conceptual: ConceptualModel,
    names: SqlNames,
    scopes: Mapping[str, RowScope],
) -> Iterator[BuildTest]:
    entity = conceptual.entity(keys[0].table)
    labels = identifiers(" ".join(key.columns) for key in keys)
    for key in keys:
        if key.hashed or is_broken(entity, key.columns):
            test = _unique(entity, key, names, labels)
            yield test.model_copy(update={"scope": scopes.get(entity.name, EVERY_ROW)})


def _unique(
    entity: Entity, key: ReliedKey, names: SqlNames, labels: Mapping[str, str]
) -> BuildTest:
    known = _known(entity, key.columns)
    return BuildTest(
        name=fit(key.relation, labels[" ".join(key.columns)], "unique"),
        kind="unique",
        columns=key.hashed or names.columns_of(key.table, key.columns),
        severity="warn" if known and known.evidence.violations else "error",
        allowed=known.evidence.violations if known else 0,
        evidence=known.evidence if known else None,
        key_kind=known.kind if known else None,
        reason=(
            f"The model relies on {listed(key.columns)} as a key of {entity.name}. If rows share a"
            " key, nothing is loaded from the table: fix the duplicates at the source, or run"
            " `fluid forge` again."
        ),
    )
