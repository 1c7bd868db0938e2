"""The keys that a model relies on, as tests of the staging: they fail before anything is loaded.

A measured key is a guess about future rows. Once it stops holding, two rows share one hub, link or
member, and what's loaded from them is wrong. ``dbt build`` skips everything that reads a relation
with a failed test, so such a load doesn't start.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.modeling.conceptual import ConceptualModel, Entity
from fluid_build.modeling.identifiers import identifiers
from fluid_build.modeling.sql_names import SqlNames, fit
from fluid_build.text import listed
from fluid_build.transform.plan.construction_tests import not_null
from fluid_build.transform.plan.elements import BuildTest


@dataclass(frozen=True, slots=True)
class ReliedKey:
    """Columns of a source table that a model relies on as a key, and where they are tested.

    ``relation`` is a staging of the table. ``columns`` are the source's; where the relation has a
    hash of them, ``hashed`` are the columns to test instead. A ``complete`` key identifies rows, so
    no part of it may become null. Other keys are only used for lookups: a row with a null is never
    found, and does no harm.
    """

    relation: str
    table: str
    columns: tuple[str, ...]
    hashed: tuple[str, ...] = ()
    complete: bool = True


def key_tests(
    keys: Iterable[ReliedKey], conceptual: ConceptualModel, names: SqlNames
) -> dict[str, tuple[BuildTest, ...]]:
    """Return the tests of the keys, by the staging relation that they're on."""
    by_relation: dict[str, list[ReliedKey]] = {}
    for key in _once(keys):
        by_relation.setdefault(key.relation, []).append(key)
    return {
        relation: tuple(_of_relation(relation, relied_keys, conceptual, names))
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


def _of_relation(
    relation: str, keys: Sequence[ReliedKey], conceptual: ConceptualModel, names: SqlNames
) -> Iterator[BuildTest]:
    entity = conceptual.entity(keys[0].table)
    complete = [key for key in keys if key.complete]
    for part in dict.fromkeys(part for key in complete or keys for part in key.columns):
        if entity.attribute(part).required:
            reason = f"It identifies a row of {entity.name}, so it's never null."
            test = not_null(relation, names.column(entity.name, part), reason)
            # A row that's only looked up isn't found without its key, and does no harm.
            yield test if complete else test.model_copy(update={"severity": "warn"})
    labels = identifiers(" ".join(key.columns) for key in keys)
    for key in keys:
        yield _unique(entity, key, names, labels)


def _unique(
    entity: Entity, key: ReliedKey, names: SqlNames, labels: Mapping[str, str]
) -> BuildTest:
    known = next(
        (candidate for candidate in entity.keys if set(candidate.attributes) == set(key.columns)),
        None,
    )
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
