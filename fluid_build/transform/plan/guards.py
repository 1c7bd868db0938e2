"""What the warehouse holds of each table, so that a delivery that lacks much of it isn't loaded.

A table that arrives empty, or in part, would be loaded as the deletion of all the rest. Where rows
of it are held is known from what keeps the promises of its columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from fluid_build.modeling.conceptual import ConceptualModel, Entity
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.transform.plan.carried_tests import Carrier, Carriers
from fluid_build.transform.plan.deliveries import kept_name, unmarked
from fluid_build.transform.plan.elements import Build, Guard
from fluid_build.transform.plan.present_source import PresentSource
from fluid_build.transform.plan.quarantine import TableKeys, held_argument


def with_guards(
    builds: Sequence[Build],
    conceptual: ConceptualModel,
    names: SqlNames,
    present: PresentSource,
    carriers: Carriers,
    left_out: Mapping[str, TableKeys],
) -> tuple[Build, ...]:
    """Return the builds, in which the staging of each table has its guard.

    ``left_out`` are the keys of tables whose staging is without the rows in quarantine.
    """
    # Relations that only get rows say by the last row of a key whether it's there.
    insert_only = {build.name for build in builds if build.materialization == "incremental"}
    types = {build.name: {column.name: column.type for column in build.columns} for build in builds}
    guards: dict[str, Guard] = {}
    for entity in conceptual.entities:
        holding = [
            carrier
            for carrier in carriers.get(entity.name, ())
            if carrier.is_whole
            and carrier.is_once
            and (carrier.scope.latest_of or carrier.relation not in insert_only)
        ]
        if present.has_table(entity.name) and holding:
            guard = _guard(entity, names, present, holding)
            update: dict[str, object] = {"is_kept": present.delivery(entity.name) is not None}
            if left := unmarked(entity, present, partial(names.column, entity.name)):
                kept = kept_name(entity.name, names)
                update |= {"delivered": kept, "marked": f"NOT ({left})"}
            staging = names.staging(entity.name)
            if entity.name in left_out:
                key = {arriving: types[staging][arriving] for _, arriving in guard.keys}
                held = held_argument(entity.name, key if guard.exact else {}, names, left_out)
                update |= {"quarantine": held.get("quarantine", ""), "types": held.get("key", {})}
            guards[staging] = guard.model_copy(update=update)
    return tuple(
        build.model_copy(update={"guard": guards[build.name]}) if build.name in guards else build
        for build in builds
    )


def _guard(
    entity: Entity, names: SqlNames, present: PresentSource, holding: Sequence[Carrier]
) -> Guard:
    """Return a table's guard: by a key as far as a relation has one, or else by counts."""
    keys_of_table = {frozenset(key.attributes) for key in entity.keys if key.holds}
    # With more than a key beside it, a row that refers to something else is another one.
    ordered = sorted(holding, key=lambda carrier: not keys_of_table & carrier.keys.keys())
    exact = (guard for carrier in ordered for guard in _exact(entity, names, present, carrier))
    found = next(exact, None)
    if found is not None:
        return found
    carrier = holding[0]
    # What tells the rows of a history apart isn't a key of the table: a change may be in it.
    keys = tuple((name, name) for name in carrier.scope.latest_of)
    return Guard(
        table=entity.name,
        relation=carrier.relation,
        scope=carrier.scope,
        keys=keys,
        exact=False,
    )


def _exact(
    entity: Entity, names: SqlNames, present: PresentSource, carrier: Carrier
) -> Iterator[Guard]:
    """Yield the guards by keys of the table, with what a relation has in its key beside them."""
    for key in entity.keys:
        if not key.holds or not present.has(entity.name, *key.attributes):
            continue
        pairs: tuple[tuple[str, str], ...] = ()
        if carrier.scope.latest_of:
            if any(told_apart_by >= set(key.attributes) for told_apart_by in carrier.keys):
                pairs = tuple((name, name) for name in carrier.scope.latest_of)
        elif set(key.attributes) <= carrier.columns.keys():
            pairs = tuple(
                (carrier.columns[name], names.column(entity.name, name)) for name in key.attributes
            )
        if pairs:
            yield Guard(
                table=entity.name, relation=carrier.relation, scope=carrier.scope, keys=pairs
            )
