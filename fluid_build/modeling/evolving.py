"""The basis of the next model: the earlier one, with what is new and what is contradicted.

What the present data doesn't contradict keeps the figures that it had, so the design of the same
input is the same model. A claim only gets weaker: a column that was never null becomes nullable,
and what is stored gets a wider type, though the column is judged by the one that it had at first. A
narrower type stays wide. What the source has no longer stays.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from fluid_build.decisions.deliveries import partial_tables
from fluid_build.decisions.language import AnyDecision, SetDelivery, SetKey, SetValidity
from fluid_build.decisions.renames import renames
from fluid_build.modeling.basis import (
    READING,
    Arrival,
    Basis,
    BrokenKey,
    Reference,
    WiderDomain,
    WiderType,
    as_read,
    forgotten,
    joined,
    mentioned,
    selected,
)
from fluid_build.modeling.earlier_names import by_model_names, renamed_parts
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.entities import MOST_VALUES, accepted_values, key_columns
from fluid_build.modeling.evolution import (
    Evolution,
    FirstType,
    NarrowerColumn,
    RekeyedTable,
    RenamedColumn,
    RenamedTable,
)
from fluid_build.modeling.partial_evidence import seeming_partial
from fluid_build.modeling.rekeying import by_other_names, newly_rekeyed, with_keys_before
from fluid_build.modeling.types import column_type, family
from fluid_build.modeling.wider_types import longer_text, wider
from fluid_build.observations.aggregates import Aggregate
from fluid_build.observations.observe import Observations
from fluid_build.profiling.profile import (
    ColumnProfile,
    Evidence,
    ForeignKey,
    KeyClaim,
    Profile,
    TableProfile,
)
from fluid_build.sources.sql import quote

_QUERIES = ("sql", "query")
_WITHOUT_HISTORY = "flat"
"""The technique whose relations are the tables of the source, made anew with each load."""
_OF_LINKS = "data_vault_2"
"""The technique whose relations take several columns of a table, and nothing without them."""


@dataclass(frozen=True, slots=True)
class Evolved:
    """A basis that follows on an earlier one, and what is true today.

    ``today`` has the tables, columns and claims of the basis with the figures of the present data.
    Both are as before the decisions.
    """

    basis: Basis
    today: Profile


def first_basis(
    profile: Profile,
    observations: Observations,
    technique: str,
    decisions: Sequence[AnyDecision],
) -> Basis:
    """Return the basis of a model that follows on none."""
    return Basis(
        technique=technique,
        profile=profile,
        observations=observations,
        decisions=_recorded(decisions),
    )


def evolved_basis(
    earlier: Basis,
    present: Profile,
    observations: Observations,
    decisions: Sequence[AnyDecision],
) -> Evolved:
    """Return the basis that follows on an earlier one, and the claims with today's figures.

    ``present`` is the profile before decisions. ``decisions`` are those that apply: of tables that
    others than before are about, the observations are today's.
    """
    evolution = earlier.evolution
    known = evolution.renamed_tables, evolution.renamed_columns
    replaced = {each.was for each in evolution.rekeyed_tables}
    renamed = renamed_parts(earlier.profile, present, renames(decisions), known, replaced)
    rekeyed = _rekeyed(earlier, present, renamed, decisions)
    if rekeyed:
        earlier = earlier.model_copy(update={"profile": with_keys_before(earlier.profile, rekeyed)})
        renamed = _with_rekeyed(renamed, rekeyed)
    rekeyed = (*evolution.rekeyed_tables, *rekeyed)
    present = by_model_names(present, *renamed)
    observations = _of_rekeyed(observations, renamed[0], rekeyed, present)
    new_names = {each.now for each in renamed[0]} | {each.now for each in renamed[1]}
    if new_names:
        # What was observed by other names says nothing of what the model knows.
        observations = selected(observations, lambda texts: not texts & new_names)
    names = {each.now: each.table for each in renamed[0]}
    decided = {
        names.get(each.table, each.table) for each in decisions if isinstance(each, SetDelivery)
    }
    dated = _dated(earlier.decisions) ^ _dated(_recorded(decisions))
    dated_tables = {names.get(table, table) for table in dated}.union(evolution.dated_tables)
    update = {
        "dated_tables": tuple(sorted(dated_tables)),
        "renamed_tables": renamed[0],
        "renamed_columns": renamed[1],
        "rekeyed_tables": rekeyed,
        "seem_partial": seeming_partial(as_read(earlier), present, decided),
    }
    earlier = earlier.model_copy(update={"evolution": evolution.model_copy(update=update)})
    if earlier.technique == _WITHOUT_HISTORY:
        earlier = _following(earlier, present)
    now = {table.name: table for table in present.tables}
    tables = tuple(
        _kept_table(table, now[table.name]) if table.name in now else _retired_table(table)
        for table in earlier.profile.tables
    )
    arrival = _arrival(earlier, present)
    new_tables = tuple(now[name] for name in arrival.tables)
    basis_profile = present.model_copy(
        update={
            "tables": (*tables, *new_tables),
            "foreign_keys": (
                *earlier.profile.foreign_keys,
                *_new_references(earlier.profile, present, arrival),
            ),
        }
    )
    reconsidered = {names.get(text, text) for text in _reconsidered(earlier, decisions)}
    basis = _with_observations(earlier, observations, arrival, reconsidered)
    gone = {table.name for table in tables if table.name not in now}
    basis = _with_queries_of(basis, observations, gone)
    basis = basis.model_copy(
        update={
            "profile": basis_profile,
            "decisions": _recorded(decisions),
            "wider": tuple(_wider_types(earlier, now)),
        }
    )
    partial = {names.get(table, table) for table in partial_tables(decisions)}
    # What repeats in a part of a table repeats in all of it.
    filled = {name: table for name, table in now.items() if table.rows}
    broken = _with_new(earlier.broken_keys, _newly_broken(earlier.profile, filled))
    basis = basis.model_copy(update={"broken_keys": broken})
    today = _today(_without(as_read(basis), broken), present, partial)
    return Evolved(_with_contradictions(basis, today, now), today)


_OF_LOADS = {kind.model_fields["decision"].default for kind in (SetDelivery, SetValidity)}


def _dated(recorded: Iterable[str]) -> set[str]:
    """Return the tables of which decisions, as they're recorded, say that stamps date changes."""
    decisions = map(json.loads, recorded)
    return {each["table"] for each in decisions if each.get("follows") == "stamp"}


# Tables and columns.


_Renamed = tuple[tuple[RenamedTable, ...], tuple[RenamedColumn, ...]]


def _rekeyed(
    earlier: Basis, present: Profile, renamed: _Renamed, decisions: Sequence[AnyDecision]
) -> tuple[RekeyedTable, ...]:
    """Return the tables that get another key with these decisions."""
    if earlier.technique == _WITHOUT_HISTORY:
        return ()
    tables = {each.now: each.table for each in renamed[0]}
    columns = {(each.table, each.now): each.column for each in renamed[1]}
    keys = {}
    for decision in decisions:
        if isinstance(decision, SetKey):
            table = tables.get(decision.table, decision.table)
            keys[table] = tuple(columns.get((table, name), name) for name in decision.columns)
    if not keys:
        return ()
    return tuple(newly_rekeyed(earlier, by_model_names(present, *renamed), keys))


def _with_rekeyed(renamed: _Renamed, rekeyed: Sequence[RekeyedTable]) -> _Renamed:
    """Return what the source calls otherwise, where its rows are those of other tables now."""
    sources = {each.table: each.now for each in renamed[0]}
    was = {each.was for each in rekeyed}
    return (
        *(each for each in renamed[0] if each.table not in was),
        *(RenamedTable(table=r.table, now=sources.get(r.was, r.was)) for r in rekeyed),
    ), tuple(each for each in renamed[1] if each.table not in was)


def _of_rekeyed(
    observations: Observations,
    renamed: Sequence[RenamedTable],
    rekeyed: Sequence[RekeyedTable],
    present: Profile,
) -> Observations:
    """Return observations of rekeyed tables by their names in the model.

    Where a column is called like such a table, nothing tells the two apart.
    """
    new = {each.table for each in rekeyed}
    columns = {column.name for table in present.tables for column in table.columns}
    names = {e.now: e.table for e in renamed if e.table in new and e.now not in columns}
    return by_other_names(observations, names)


def _following(earlier: Basis, present: Profile) -> Basis:
    """Return a basis without what the source no longer has: no row remembers it."""
    now = {table.name: {column.name for column in table.columns} for table in present.tables}
    return forgotten(
        earlier,
        {table.name for table in earlier.profile.tables if table.name not in now},
        {
            (table.name, column.name)
            for table in earlier.profile.tables
            for column in table.columns
            if table.name in now and column.name not in now[table.name]
        },
    )


def _kept_table(earlier: TableProfile, now: TableProfile) -> TableProfile:
    """Return a table with its earlier figures, and the columns that came."""
    columns = {column.name: column for column in now.columns}
    known = {column.name for column in earlier.columns}
    added = [column for column in now.columns if column.name not in known]
    fresh = {column.name for column in added}
    return earlier.model_copy(
        update={
            "place": now.place,
            "source": now.source,
            "comment": now.comment,
            "columns": (
                *(
                    _kept_column(column, columns[column.name]) if column.name in columns else column
                    for column in earlier.columns
                ),
                *added,
            ),
            "candidate_keys": (
                *earlier.candidate_keys,
                *(key for key in now.candidate_keys if fresh & set(key)),
            ),
            "declared_keys": (
                *earlier.declared_keys,
                *(claim for claim in now.declared_keys if fresh & set(claim.columns)),
            ),
        }
    )


def _retired_table(table: TableProfile) -> TableProfile:
    """Return a table that is gone; its place was read from a file, and is never read again."""
    return table.model_copy(update={"place": quote(table.name)})


def _kept_column(earlier: ColumnProfile, now: ColumnProfile) -> ColumnProfile:
    kept = {"nullable": earlier.nullable or now.nullable, "comment": now.comment}
    return earlier.model_copy(update=kept)


def _wider_types(earlier: Basis, now: Mapping[str, TableProfile]) -> Iterator[WiderType]:
    """Yield how columns are read that have held, or hold today, what their first type doesn't."""
    known = {(each.table, each.column): each for each in earlier.wider}
    for first, table in zip(earlier.profile.tables, as_read(earlier).tables, strict=True):
        columns = {c.name: c for c in now[table.name].columns} if table.name in now else {}
        for designed, before in zip(first.columns, table.columns, strict=True):
            read = before
            if before.name in columns:
                read = _wider_column(before, columns[before.name])
            if read is not before or (table.name, read.name) in known:
                reading = {name: getattr(read, name) for name in READING}
                if reading != {name: getattr(designed, name) for name in READING}:
                    which = {"table": table.name, "column": read.name}
                    yield WiderType.model_validate(which | reading)


def _wider_column(before: ColumnProfile, now: ColumnProfile) -> ColumnProfile:
    """Return a column as it's read with today's values; the same one where that's as before."""
    type_, measured = wider(before, now)
    reversible = before.reversible and (now.reversible or not _has_values(now))
    declared, longest = before.declared_type, before.max_length
    if (type_, measured) == (before.type, before.measured_type):
        declared, longest = longer_text(before, now)
        if (declared, longest, reversible) == (
            before.declared_type,
            before.max_length,
            before.reversible,
        ):
            return before
    else:
        declared, longest = now.declared_type, now.max_length
    return before.model_copy(
        update={
            "type": type_,
            "declared_type": declared,
            "measured_type": measured,
            "reversible": reversible,
            "max_length": longest,
        }
    )


def _has_values(column: ColumnProfile) -> bool:
    return column.rows > column.nulls


def _arrival(earlier: Basis, present: Profile) -> Arrival:
    """Return what is new: tables, columns of the others, and of a vault what it can't load."""
    tables = {table.name: table for table in earlier.profile.tables}
    now = {table.name: table for table in present.tables}
    is_vault = earlier.technique == _OF_LINKS
    return Arrival(
        tables=tuple(table.name for table in present.tables if table.name not in tables),
        columns=tuple(
            column
            for name, table in now.items()
            if name in tables
            for column in _columns_beside(table, tables[name])
        ),
        gone=tuple(
            column
            for name, table in tables.items()
            if is_vault
            for column in _columns_beside(table, now.get(name))
        ),
    )


def _columns_beside(table: TableProfile, other: TableProfile | None) -> Iterator[SourceColumn]:
    """Yield the columns of a table that another state of it lacks."""
    known = set() if other is None else {column.name for column in other.columns}
    for column in table.columns:
        if column.name not in known:
            yield SourceColumn(table=table.name, column=column.name)


def _new_references(earlier: Profile, present: Profile, arrival: Arrival) -> Iterator[ForeignKey]:
    """Yield the references of what is new, or to it.

    One between columns that were there before is a judgement that the new data would settle
    differently.
    """
    tables = set(arrival.tables)
    columns = {(column.table, column.column) for column in arrival.columns}
    known = {Reference.of(key) for key in earlier.foreign_keys}
    for key in present.foreign_keys:
        ends = (
            *((key.from_table, column) for column in key.from_columns),
            *((key.to_table, column) for column in key.to_columns),
        )
        is_new = tables & {key.from_table, key.to_table} or columns & set(ends)
        if is_new and Reference.of(key) not in known:
            yield key


# Observations.


def _recorded(decisions: Iterable[AnyDecision]) -> tuple[str, ...]:
    """Return what decisions say, whoever says it and why."""
    hidden = {"by", "reason", "evidence"}
    return tuple(decision.model_dump_json(exclude=hidden) for decision in decisions)


def _reconsidered(earlier: Basis, decisions: Sequence[AnyDecision]) -> set[str]:
    """Return the texts of the decisions that were added or taken back: tables among them."""
    now = dict(zip(_recorded(decisions), decisions, strict=True))
    changed = {
        name
        for name in set(now).symmetric_difference(earlier.decisions)
        # How a table is loaded says nothing of what it is, and today it may deliver a part.
        if json.loads(name)["decision"] not in _OF_LOADS
    }
    return {
        text
        for name in changed
        if name in now
        for text in mentioned(tuple(now[name].model_dump(mode="json").values()))
    } | {
        table.name
        for name in changed - set(now)
        for table in earlier.profile.tables
        if f'"{table.name}"' in name
    }


def _with_observations(
    earlier: Basis, now: Observations, arrival: Arrival, reconsidered: Set[str]
) -> Basis:
    """Return the basis with the observations of what is new, and of what is decided otherwise."""
    tables = {table.name for table in earlier.profile.tables}
    redone = reconsidered & tables
    kept = earlier
    if redone:
        kept = earlier.model_copy(
            update={
                "observations": joined(
                    selected(earlier.observations, lambda texts: not texts & redone),
                    selected(
                        now, lambda texts: bool(texts & redone) and not _is_of(texts, arrival)
                    ),
                ),
                "arrivals": tuple(
                    each.model_copy(
                        update={
                            "observations": selected(
                                each.observations, lambda texts: not texts & redone
                            )
                        }
                    )
                    for each in earlier.arrivals
                ),
            }
        )
    before = next((each.gone for each in reversed(kept.arrivals)), ())
    if not arrival.tables and not arrival.columns and arrival.gone == before:
        return kept
    new = selected(now, lambda texts: _is_of(texts, arrival))
    arrived = arrival.model_copy(update={"observations": new})
    return kept.model_copy(update={"arrivals": (*kept.arrivals, arrived)})


def _is_of(texts: Set[str], arrival: Arrival) -> bool:
    """Return whether an observation with these texts is about what arrived."""
    return bool(texts & set(arrival.tables)) or any(
        {column.table, column.column} <= texts for column in arrival.columns
    )


def _with_queries_of(basis: Basis, now: Observations, gone: Set[str]) -> Basis:
    """Return the basis with the queries of today's observations: those of a file aren't run."""
    return basis.model_copy(
        update={
            "observations": _asked_again(basis.observations, now, gone),
            "arrivals": tuple(
                each.model_copy(update={"observations": _asked_again(each.observations, now, gone)})
                for each in basis.arrivals
            ),
        }
    )


def _asked_again(kept: Observations, now: Observations, gone: Set[str]) -> Observations:
    return replace(
        kept,
        **{
            field.name: tuple(
                _asked_again_of_kind(getattr(kept, field.name), getattr(now, field.name), gone)
            )
            for field in fields(Observations)
        },
    )


def _asked_again_of_kind(kept: Sequence[Any], now: Sequence[Any], gone: Set[str]) -> Iterator[Any]:
    found = {_what(each): each for each in now}
    for each in kept:
        query = next((name for name in _QUERIES if hasattr(each, name)), None)
        if query is None:
            yield each
            continue
        twin = found.get(_what(each))
        if isinstance(each, Aggregate) and each.is_exact and each.table not in gone:
            # A table that is left out has to be computed from others today.
            if twin is not None and twin.is_exact:
                yield replace(each, query=twin.query)
            continue
        yield replace(each, **{query: "" if twin is None else getattr(twin, query)})


def _what(observation: Any) -> tuple[object, ...]:
    """Return what an observation is about, without its figures and queries."""
    return tuple(
        value
        for field in fields(observation)
        if field.name not in _QUERIES
        and (isinstance(value := getattr(observation, field.name), str) or _names(value))
    )


def _names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


# The claims of the basis with today's figures.


def _today(basis: Profile, present: Profile, partial: Set[str]) -> Profile:
    """Return the basis with today's figures; of a part of a table, nobody knows what it lacks.

    So where fewer rows than before are delivered of it, the earlier figures stay: the warehouse
    goes on holding what they were counted in.
    """
    now = {table.name: table for table in present.tables}
    in_part = {
        table.name
        for table in basis.tables
        if table.name in partial and table.name in now and now[table.name].rows < table.rows
    }
    found = {Reference.of(key): key for key in present.foreign_keys}
    doubted = {Reference.of(key): key for key in present.candidates}
    believed = {Reference.of(key) for key in basis.foreign_keys}

    def of_today(key: ForeignKey) -> ForeignKey:
        which = Reference.of(key)
        if key.to_table in partial:
            return key
        now_found = found.get(which)
        missing = now_found and (now_found.evidence.nulls or now_found.evidence.orphans)
        if key.from_table in in_part and which not in doubted and not missing:
            return key
        if now_found is not None:
            claim = {"implied": key.implied, "role": key.role, "cardinality": key.cardinality}
            return now_found.model_copy(update=claim)
        if which in doubted:
            return key.model_copy(update={"evidence": doubted[which].evidence})
        # Nothing shows any more that it leads to every row.
        unseen = {"sql": "", "coverage": None}
        return key.model_copy(update={"evidence": key.evidence.model_copy(update=unseen)})

    return present.model_copy(
        update={
            "tables": tuple(
                _table_in_part(table, now[table.name])
                if table.name in in_part
                else _table_today(table, now[table.name])
                if table.name in now
                else _unread(table)
                for table in basis.tables
            ),
            "foreign_keys": tuple(map(of_today, basis.foreign_keys)),
            "candidates": tuple(
                key for key in present.candidates if Reference.of(key) not in believed
            ),
        }
    )


def _table_in_part(basis: TableProfile, now: TableProfile) -> TableProfile:
    """Return a table with the figures that it had, where it's read today."""
    personal = {column.name for column in now.columns if column.pii}
    return basis.model_copy(
        update={
            "place": now.place,
            "source": now.source,
            "comment": now.comment,
            "columns": tuple(
                column.model_copy(update={"pii": column.pii or column.name in personal})
                for column in basis.columns
            ),
        }
    )


def _unread(table: TableProfile) -> TableProfile:
    """Return a table that is gone, without the queries that would read it."""
    return table.model_copy(
        update={
            "primary_key_evidence": None,
            "declared_keys": tuple(map(_without_query, table.declared_keys)),
        }
    )


def _without_query(claim: KeyClaim) -> KeyClaim:
    return claim.model_copy(update={"evidence": claim.evidence.model_copy(update={"sql": ""})})


def _table_today(basis: TableProfile, now: TableProfile) -> TableProfile:
    columns = {column.name: column for column in now.columns}
    declared = {claim.columns: claim for claim in now.declared_keys}
    same_key = now.primary_key == basis.primary_key
    return now.model_copy(
        update={
            "columns": tuple(
                _column_today(column, columns[column.name]) if column.name in columns else column
                for column in basis.columns
            ),
            "primary_key": basis.primary_key,
            "primary_key_origin": basis.primary_key_origin,
            "primary_key_reason": (now if same_key else basis).primary_key_reason,
            "primary_key_evidence": now.primary_key_evidence
            if same_key
            else _no_query(basis.primary_key_evidence),
            "candidate_keys": basis.candidate_keys,
            "declared_keys": tuple(
                _still_held(claim, declared.get(claim.columns)) for claim in basis.declared_keys
            ),
        }
    )


def _no_query(evidence: Evidence | None) -> Evidence | None:
    return None if evidence is None else evidence.model_copy(update={"sql": ""})


def _is_unique(key: tuple[str, ...], now: TableProfile) -> bool:
    """Return whether columns identify rows today: minimal keys are the ones that are listed."""
    return any(set(unique) <= set(key) for unique in now.candidate_keys)


def _still_held(earlier: KeyClaim, now: KeyClaim | None) -> KeyClaim:
    """Return a declared key as it is today; one that rows broke since stays a key that held.

    Rows that break a key are told apart where they're loaded.
    """
    if now is None or (earlier.holds and not now.holds):
        return _without_query(earlier)
    return now


def _column_today(basis: ColumnProfile, now: ColumnProfile) -> ColumnProfile:
    """Return the figures of today with the reading and the meaning that the model has."""
    return now.model_copy(
        update={
            "nullable": basis.nullable,
            "type": basis.type,
            "measured_type": basis.measured_type,
            "reversible": basis.reversible,
            "semantic_type": basis.semantic_type,
            "semantic_reason": basis.semantic_reason,
            "pii": basis.pii or now.pii,
        }
    )


# What later data contradicts.


def _with_contradictions(basis: Basis, today: Profile, now: Mapping[str, TableProfile]) -> Basis:
    """Return the basis with what the model says of it: what is gone, new, wider or weaker."""
    return basis.model_copy(
        update={
            # Rows that were loaded earlier have nothing where a column came.
            "nullable": _with_new(
                _with_new(basis.nullable, _new_nulls(basis.profile, now)),
                (column for arrival in basis.arrivals for column in arrival.columns),
            ),
            "incomplete": _with_new(basis.incomplete, _new_orphans(basis.profile, today)),
            "domains": tuple(_wider_domains(basis, now)),
            "evolution": _evolution(basis, now),
        }
    )


_T = TypeVar("_T")


def _with_new(known: Sequence[_T], found: Iterable[_T]) -> tuple[_T, ...]:
    return (*known, *(each for each in found if each not in known))


def _new_nulls(basis: Profile, now: Mapping[str, TableProfile]) -> Iterator[SourceColumn]:
    """Yield the columns that have nulls now; rows without their table's key are never loaded."""
    for table in basis.tables:
        if table.name not in now:
            continue
        nulls = {column.name: column.nulls for column in now[table.name].columns}
        for column in table.columns:
            if column.name in nulls and column.name in (table.primary_key or ()):
                continue
            # Rows that are loaded now have nothing where a column is gone.
            if nulls.get(column.name, 1) and not column.nulls:
                yield SourceColumn(table=table.name, column=column.name)


def _newly_broken(basis: Profile, now: Mapping[str, TableProfile]) -> Iterator[BrokenKey]:
    """Yield the keys that hold no more, but for the one that rows are told apart by.

    Rows that break that one are set apart when they're loaded, so it holds of the others.
    """
    for table in basis.tables:
        if table.name in now:
            for key in table.candidate_keys:
                if key != table.primary_key and not _is_unique(key, now[table.name]):
                    yield BrokenKey(table=table.name, columns=key)


def _without(profile: Profile, broken: Iterable[BrokenKey]) -> Profile:
    """Return a profile that no longer claims some keys: one that holds again may break again."""
    gone = {(each.table, each.columns) for each in broken}
    tables = (
        table.model_copy(
            update={
                "candidate_keys": tuple(
                    key for key in table.candidate_keys if (table.name, key) not in gone
                )
            }
        )
        for table in profile.tables
    )
    return profile.model_copy(update={"tables": tuple(tables)})


def _new_orphans(basis: Profile, today: Profile) -> Iterator[Reference]:
    for earlier, now in zip(basis.foreign_keys, today.foreign_keys, strict=True):
        was_complete = not (earlier.evidence.nulls or earlier.evidence.orphans)
        if was_complete and (now.evidence.nulls or now.evidence.orphans):
            yield Reference.of(earlier)


def _wider_domains(basis: Basis, now: Mapping[str, TableProfile]) -> Iterator[WiderDomain]:
    keys = key_columns(basis.profile)
    known = {(domain.table, domain.column): domain for domain in basis.domains}
    for table, read in zip(basis.profile.tables, as_read(basis).tables, strict=True):
        for column, as_now in zip(table.columns, read.columns, strict=True):
            which = (table.name, column.name)
            first = accepted_values(column, keys[table.name]) or ()
            before = known[which].values if which in known else first
            found = None
            if first and before and table.name in now:
                found = next((c for c in now[table.name].columns if c.name == column.name), None)
            values = before if found is None else _domain(before, found)
            if family(column_type(as_now)) != family(column_type(column)):
                # Values of another kind are spelled otherwise, and nobody knows their domain.
                values = ()
            if values != first:
                yield WiderDomain(table=table.name, column=column.name, values=values)


def _domain(before: tuple[str, ...], now: ColumnProfile) -> tuple[str, ...]:
    """Return the values of a domain with today's; none where they aren't all known, or too many."""
    if not _has_values(now):
        return before
    is_known = now.distinct_exact and now.sample is None and len(now.top_values) == now.distinct
    values = {*before, *(value.value for value in now.top_values)}
    if now.pii or not is_known or len(values) > MOST_VALUES:
        return ()
    return before if values == set(before) else tuple(sorted(values))


def _evolution(basis: Basis, now: Mapping[str, TableProfile]) -> Evolution:
    """Return what isn't as it was when relations were first loaded, of this forge and earlier."""
    retyped = (SourceColumn(table=each.table, column=each.column) for each in basis.wider)
    return basis.evolution.model_copy(
        update={
            "retired_tables": tuple(t.name for t in basis.profile.tables if t.name not in now),
            "retired_columns": tuple(
                column
                for table in basis.profile.tables
                if table.name in now
                for column in _columns_beside(table, now[table.name])
            ),
            "added_columns": tuple(
                column for arrival in basis.arrivals for column in arrival.columns
            ),
            "retyped_columns": _with_new(basis.evolution.retyped_columns, retyped),
            "first_types": tuple(_first_types(basis)),
            "narrower_columns": tuple(_narrower(as_read(basis), now)),
            "newly_personal": tuple(_newly_personal(basis.profile, now)),
        }
    )


def _first_types(basis: Basis) -> Iterator[FirstType]:
    for each in basis.wider:
        first = basis.profile.table(each.table).column(each.column)
        type_ = first.measured_type or first.type
        yield FirstType(table=each.table, column=each.column, type=type_)


def _newly_personal(basis: Profile, now: Mapping[str, TableProfile]) -> Iterator[SourceColumn]:
    for table in basis.tables:
        personal = {c.name for c in now[table.name].columns if c.pii} if table.name in now else {}
        for column in table.columns:
            if column.name in personal and not column.pii:
                yield SourceColumn(table=table.name, column=column.name)


def _narrower(basis: Profile, now: Mapping[str, TableProfile]) -> Iterator[NarrowerColumn]:
    for table in basis.tables:
        types = {c.name: c.type for c in now[table.name].columns} if table.name in now else {}
        for column in table.columns:
            type_ = types.get(column.name, column.type)
            if type_ != column.type:
                yield NarrowerColumn(table=table.name, column=column.name, now=type_)
