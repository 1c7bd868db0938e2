"""What the project's README says about erasing a person from a vault, and from a star.

A vault's personal columns have satellites of their own, whose rows are deleted. A member of a star
stays, because facts refer to it by its key: its personal columns are emptied, in the dimension and
in the history that it's made of. So are those that a fact or bridge keeps although the source
dropped them, since nothing overwrites them there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.markdown import code, codes, fenced
from fluid_build.modeling.data_vault.elements import DataVaultModel, Satellite
from fluid_build.modeling.dimensional.elements import Dimension, DimensionalModel
from fluid_build.modeling.evolution import GONE
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import sql_names
from fluid_build.sources.sql import literal
from fluid_build.text import listed
from fluid_build.transform.plan.elements import Build, TransformPlan

_HEADING = "## Erasing a person"


def erasing(plan: TransformPlan, model: LogicalModel) -> str:
    """Return how to erase a person; "" where nothing that remembers has personal columns."""
    sections = [_from_deliveries(plan), _from_quarantine(plan)]
    if model.dv2 is not None:
        sections.insert(0, _from_a_vault(plan, model, model.dv2))
    if model.dimensional is not None:
        sections.insert(0, _from_a_star(plan, model, model.dimensional))
    found = "\n\n".join(filter(None, sections))
    return f"{_HEADING}\n\n{found}" if found else ""


def _from_deliveries(plan: TransformPlan) -> str:
    """Return how to erase a person from what was delivered, which the staging reads."""
    kept = [
        build for build in plan.builds if build.layer == "deliveries" and _personal_columns(build)
    ]
    if not kept:
        return ""
    names = codes(tuple(build.name for build in kept))
    command = fenced(f"DELETE FROM {kept[0].name}\nWHERE ...;", "sql")
    return (
        f"What was delivered is kept in {names}. Delete all of the person's rows from there first,"
        f" or the next load reads them again:\n\n{command}"
    )


def _from_quarantine(plan: TransformPlan) -> str:
    """Return how to erase a person from the rows that were set apart: these have whole rows."""
    staged = {build.title: build for build in plan.builds if build.layer == "staging"}
    personal = [each for each in plan.quarantines if _personal_columns(staged[each.title])]
    if not personal:
        return ""
    names = codes(tuple(build.name for build in personal))
    key = staged[personal[0].title].key
    found = " AND ".join(f"CAST(key_values AS JSON) ->> {literal(name)} = '...'" for name in key)
    where = found or "source_row LIKE '%...%'"
    command = fenced(f"DELETE FROM {personal[0].name}\nWHERE {where};", "sql")
    return (
        f"Rows that broke a key are in {names} as they arrived, once for each load. Delete the"
        " person's rows from there too; one that lacks its key is found by what its `source_row`"
        f" says:\n\n{command}"
    )


def _from_a_vault(plan: TransformPlan, model: LogicalModel, vault: DataVaultModel) -> str:
    hubs = {hub.name: hub for hub in vault.hubs}
    apart = [each for each in vault.satellites if _is_personal(each, model)]
    example = next((each for each in apart if each.parent in hubs), None)
    if example is None:
        return ""
    names = tuple(each.name for each in apart)
    mixed = _personal(
        build.name
        for build in plan.builds
        if build.layer == "raw_vault" and build.name not in names and _personal_columns(build)
    )
    again = " Then make every snapshot again, as said above." if vault.business_vault else ""
    hub = hubs[example.parent]
    key = sql_names(model.conceptual).columns_of(hub.entity_name, hub.business_key_columns)
    command = fenced(
        f"DELETE FROM {example.name}\nWHERE {example.hash_key} IN (\n    SELECT {hub.hash_key}"
        f" FROM {hub.name}\n    WHERE {_is_the_person(key)}\n);",
        "sql",
    )
    return (
        f"These satellites hold personal data only: {codes(names)}."
        f"{mixed} Erase the person in the source, load, and delete all of the person's rows"
        " from them, so that the history of the other columns stays. Later loads add only what the"
        f" source still has.{again}\n\n{command}"
    )


def _is_personal(satellite: Satellite, model: LogicalModel) -> bool:
    entity = model.conceptual.entity(satellite.table)
    return bool(satellite.columns) and all(
        entity.attribute(column).pii for column in satellite.columns
    )


@dataclass(frozen=True, slots=True)
class _Remembered:
    """What a star remembers of a person: in a dimension, and in its history where that has any.

    ``emptied`` are the personal columns of the dimension that nothing refers to.
    """

    dimension: Dimension
    members: Build
    history: Build | None
    emptied: tuple[str, ...]


def _from_a_star(plan: TransformPlan, model: LogicalModel, star: DimensionalModel) -> str:
    found = [each for one in star.dimensions if (each := _remembered(plan, model, one))]
    kept = _kept(plan, star)
    if not found:
        return _from_kept_columns(kept)
    emptied = [each for each in found if each.emptied]
    names = [each.members.name for each in found]
    histories = [each.history.name for each in found if each.history is not None]
    mixed = _personal(
        build.name
        for build in plan.builds
        if build.layer == "mart"
        and build.name not in (*names, *histories)
        and _personal_columns(build)
    )
    keyed = tuple(
        each.members.name
        for each in found
        if not {*_personal_columns(each.members)} <= {*each.emptied}
    )
    sections = [
        f"These dimensions keep personal data of members that the source has lost:"
        f" {codes(tuple(names))}.{mixed} Delete the person or overwrite the data in the source,"
        " load, and empty the personal columns of the person's rows. Facts keep the key, and later"
        " loads add only what the source still has."
    ]
    if emptied:
        example = max(emptied, key=lambda each: (each.history is not None, len(each.emptied)))
        sections.append(fenced("\n\n".join(_statements(plan, example)), "sql"))
    if keyed:
        sections.append(
            f"In {codes(keyed)} personal columns are also keys, by which rows find each other."
            " Emptying these would part facts from their member, so delete its rows instead, from"
            " the history too, once the source has no fact of it any more."
        )
    return "\n\n".join(filter(None, (*sections, _from_kept_columns(kept))))


@dataclass(frozen=True, slots=True)
class _Kept:
    """The personal columns of a fact or bridge whose values the source no longer has."""

    build: Build
    columns: tuple[str, ...]


def _kept(plan: TransformPlan, star: DimensionalModel) -> list[_Kept]:
    """Return what facts and bridges keep that the source dropped, or had on an earlier day."""
    rows = {fact.name for fact in star.facts} | {bridge.name for bridge in star.bridges}
    kept = []
    for build in plan.builds:
        if build.name not in rows or build.next_load is None:
            continue
        columns = tuple(
            column.name
            for column in build.columns
            if column.pii and (column.description.endswith(GONE) or not build.follows_source)
        )
        if columns:
            kept.append(_Kept(build, columns))
    return kept


def _from_kept_columns(kept: Sequence[_Kept]) -> str:
    """Return how to erase a person from columns that no load overwrites."""
    if not kept:
        return ""
    named = listed(f"{code(each.build.name)} ({codes(each.columns)})" for each in kept)
    example = kept[0]
    found = example.build.key or example.columns[:1]
    command = fenced(
        _update(example.build.name, dict.fromkeys(example.columns, "NULL"), found), "sql"
    )
    return (
        f"The source can't overwrite what rows keep that it no longer has: {named}. Empty that in"
        f" the person's rows too:\n\n{command}"
    )


def _remembered(
    plan: TransformPlan, model: LogicalModel, dimension: Dimension
) -> _Remembered | None:
    """Return what a dimension remembers of its members; None where that's nothing personal."""
    builds = {build.name: build for build in plan.builds}
    members, history = builds[dimension.name], builds.get(dimension.history)
    personal = _personal_columns(members)
    if not personal or members.next_load is None:
        return None
    referred_to = {
        column
        for relationship in model.conceptual.relationships
        if relationship.to_entity == dimension.entity_name
        for column in relationship.to_attributes
    }
    keys = {*dimension.natural_key_columns} | {
        attribute.name
        for attribute in dimension.attributes
        if not attribute.source and attribute.attribute in referred_to
    }
    return _Remembered(
        dimension,
        members,
        history,
        tuple(column for column in personal if column not in keys),
    )


def _statements(plan: TransformPlan, remembered: _Remembered) -> Iterator[str]:
    """Yield what empties a person's rows, of the history first: the next load reads it."""
    dimension, history = remembered.dimension, remembered.history
    if history is not None:
        key = [column for column in history.key if column != plan.column_names.load_date]
        emptied = [column for column in _personal_columns(history) if column not in key]
        if emptied:
            # The hash is made of what was in the columns. Without it, a load adds what is left.
            emptied.append(plan.column_names.row_hash)
            yield _update(history.name, dict.fromkeys(emptied, "NULL"), key)
    said = {each.name: literal(each.unknown) for each in dimension.attributes if each.unknown}
    values = {column: said.get(column, "NULL") for column in remembered.emptied}
    yield _update(dimension.name, values, dimension.natural_key_columns)


def _update(relation: str, values: Mapping[str, str], key: Sequence[str]) -> str:
    assignments = ",\n    ".join(f"{column} = {value}" for column, value in values.items())
    return f"UPDATE {relation}\nSET\n    {assignments}\nWHERE {_is_the_person(key)};"


def _is_the_person(key: Sequence[str]) -> str:
    return " AND ".join(f"{column} = ..." for column in key)


def _personal_columns(build: Build) -> tuple[str, ...]:
    return tuple(column.name for column in build.columns if column.pii)


def _personal(names: Iterable[str]) -> str:
    """Return which other relations may have personal data; "" for none."""
    found = tuple(names)
    return f" Other columns that may be personal are in {codes(found)}." if found else ""
