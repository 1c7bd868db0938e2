"""The basis of a model: what it was designed from, so that the next forge designs it alike.

A folder keeps it in ``design.json``. Its figures are those of the forge in which a table came: what
more rows or other values would suggest doesn't change a model that relations were loaded by.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from pydantic import Field

from fluid_build.modeling.element import ModelPart, SourceColumn
from fluid_build.modeling.evolution import Evolution, RenamedColumn
from fluid_build.observations.observe import NO_OBSERVATIONS, Observations
from fluid_build.profiling.profile import (
    NO_STATISTICS,
    Candidate,
    Evidence,
    ForeignKey,
    ForeignKeyEvidence,
    KeyClaim,
    Profile,
    TableProfile,
)

_R = TypeVar("_R", ForeignKey, Candidate, KeyClaim)
READING = ("type", "declared_type", "measured_type", "reversible", "max_length")
"""What of a column's profile says how it's read."""
_OF_COLUMNS = ("retired_columns", "added_columns", "retyped_columns", "renamed_columns")
"""Fields of an evolution that have columns."""


class WiderDomain(ModelPart):
    """All values of a column that had fewer at first; none where its domain is no closed one."""

    table: str
    column: str
    values: tuple[str, ...] = ()


class WiderType(ModelPart):
    """How a column is read since it got values that its first type doesn't hold."""

    table: str
    column: str
    type: str
    declared_type: str = ""
    measured_type: str | None = None
    reversible: bool = False
    max_length: int | None = None


class Reference(ModelPart):
    """A reference between tables, by what it refers with and to."""

    table: str
    columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]

    @classmethod
    def of(cls, key: ForeignKey | Candidate) -> "Reference":
        """Return what identifies a foreign key."""
        return cls(
            table=key.from_table,
            columns=key.from_columns,
            to_table=key.to_table,
            to_columns=key.to_columns,
        )


class BrokenKey(ModelPart):
    """Columns that identified the rows of a table at first, and didn't always since."""

    table: str
    columns: tuple[str, ...]


class LooserReference(ModelPart):
    """A reference that no longer leads to every row, or from every row: its figures then."""

    reference: Reference
    evidence: ForeignKeyEvidence


class Arrival(ModelPart):
    """What came in one forge after the first: tables, columns of known tables, their observations.

    The model of what was there before is kept, and only this is designed. Rows that ``looser``
    references don't reach any more have come too. Columns that were ``gone`` then are those of
    which a vault had nothing new to load.
    """

    tables: tuple[str, ...] = ()
    columns: tuple[SourceColumn, ...] = ()
    looser: tuple[LooserReference, ...] = ()
    gone: tuple[SourceColumn, ...] = ()
    observations: Observations = NO_OBSERVATIONS


class Basis(ModelPart):
    """What a model was designed from, and what later data contradicted.

    ``profile`` has every table and column that ever came, before decisions, with the figures of the
    forge in which it came. ``observations`` are those of the first forge. ``decisions`` are those
    that applied, as JSON. ``nullable`` columns and ``incomplete`` references had every value at
    first, ``broken_keys`` held, ``domains`` had fewer values, and ``wider`` columns a type that
    holds less: it's the one that they're judged by.
    ``evolution`` is what the model says of all that.
    """

    # An earlier version wrote which tables were chosen, which forge.json says.
    scope: str = Field(default="", exclude=True)
    technique: str
    profile: Profile
    observations: Observations = NO_OBSERVATIONS
    arrivals: tuple[Arrival, ...] = ()
    decisions: tuple[str, ...] = ()
    nullable: tuple[SourceColumn, ...] = ()
    incomplete: tuple[Reference, ...] = ()
    broken_keys: tuple[BrokenKey, ...] = ()
    domains: tuple[WiderDomain, ...] = ()
    wider: tuple[WiderType, ...] = ()
    evolution: Evolution = Evolution()


def as_read(basis: Basis) -> Profile:
    """Return the profile of a basis with the types that columns are read with."""
    wider = {(each.table, each.column): each for each in basis.wider}
    if not wider:
        return basis.profile
    tables = (
        table.model_copy(
            update={
                "columns": tuple(
                    column.model_copy(update=_reading(wider[table.name, column.name]))
                    if (table.name, column.name) in wider
                    else column
                    for column in table.columns
                )
            }
        )
        for table in basis.profile.tables
    )
    return basis.profile.model_copy(update={"tables": tuple(tables)})


def _reading(wider: WiderType) -> dict[str, object]:
    return {name: getattr(wider, name) for name in READING}


def observations_until(basis: Basis, arrivals: int) -> Observations:
    """Return the observations of the first forge and of so many arrivals after it."""
    found = basis.observations
    for arrival in basis.arrivals[:arrivals]:
        found = joined(found, arrival.observations)
    return found


def joined(first: Observations, second: Observations) -> Observations:
    """Return two sets of observations as one, those of the first one first."""
    return replace(
        first,
        **{
            field.name: (*getattr(first, field.name), *getattr(second, field.name))
            for field in fields(Observations)
            if getattr(second, field.name)
        },
    )


def mentioned(value: object) -> Iterator[str]:
    """Yield the texts in an observation: names of tables and columns among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list | frozenset):
        for item in value:
            yield from mentioned(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from mentioned(getattr(value, field.name))
    elif isinstance(value, ModelPart):
        for name in type(value).model_fields:
            yield from mentioned(getattr(value, name))


def profile_until(basis: Basis, profile: Profile, arrivals: int) -> Profile:
    """Return the part of a profile that the first forge and so many arrivals brought."""
    profile = _with_looser(profile, basis.arrivals[:arrivals])
    later = basis.arrivals[arrivals:]
    if not later:
        return profile
    tables = {name for arrival in later for name in arrival.tables}
    columns = {(column.table, column.column) for arrival in later for column in arrival.columns}
    return restricted(profile, tables, columns)


def _with_looser(profile: Profile, arrivals: Sequence[Arrival]) -> Profile:
    """Return a profile with the figures of the references that have become looser."""
    looser = {each.reference: each.evidence for a in arrivals for each in a.looser}
    if not looser:
        return profile
    keys = (
        key.model_copy(update={"evidence": looser.get(Reference.of(key), key.evidence)})
        for key in profile.foreign_keys
    )
    return profile.model_copy(update={"foreign_keys": tuple(keys)})


def restricted(profile: Profile, tables: Set[str], columns: Set[tuple[str, str]]) -> Profile:
    """Return a profile without some tables and columns, and without claims about them."""

    def is_left(key: ForeignKey | Candidate) -> bool:
        ends = (
            *((key.from_table, column) for column in key.from_columns),
            *((key.to_table, column) for column in key.to_columns),
        )
        return not (tables & {key.from_table, key.to_table} or columns & set(ends))

    return profile.model_copy(
        update={
            "tables": tuple(
                _without_columns(table, columns)
                for table in profile.tables
                if table.name not in tables
            ),
            "foreign_keys": tuple(filter(is_left, profile.foreign_keys)),
            "candidates": tuple(filter(is_left, profile.candidates)),
        }
    )


def _without_columns(table: TableProfile, columns: Set[tuple[str, str]]) -> TableProfile:
    gone = {name for owner, name in columns if owner == table.name}
    if not gone:
        return table
    has_key = table.primary_key is not None and not gone & set(table.primary_key)
    kept = {
        "columns": tuple(column for column in table.columns if column.name not in gone),
        "candidate_keys": tuple(key for key in table.candidate_keys if not gone & set(key)),
        "declared_keys": tuple(
            claim for claim in table.declared_keys if not gone & set(claim.columns)
        ),
    }
    no_key = {
        "primary_key": None,
        "primary_key_origin": None,
        "primary_key_reason": "",
        "primary_key_evidence": None,
    }
    return table.model_copy(update=kept if has_key else kept | no_key)


def without_queries(profile: Profile) -> Profile:
    """Return a profile without the queries of its evidence, which follow from its claims."""

    def unasked(key: _R) -> _R:
        return key.model_copy(update={"evidence": _without_sql(key.evidence)})

    return profile.model_copy(
        update={
            "tables": tuple(
                table.model_copy(
                    update={
                        "place": "",
                        "primary_key_evidence": table.primary_key_evidence
                        and _without_sql(table.primary_key_evidence),
                        "declared_keys": tuple(map(unasked, table.declared_keys)),
                    }
                )
                for table in profile.tables
            ),
            "foreign_keys": tuple(map(unasked, profile.foreign_keys)),
            "candidates": tuple(map(unasked, profile.candidates)),
        }
    )


def _without_sql(evidence: Evidence) -> Evidence:
    return evidence.model_copy(update={"sql": ""})


def without_values(profile: Profile, columns: Set[SourceColumn]) -> Profile:
    """Return a profile without the values of columns whose values may not be kept."""
    nothing = {**NO_STATISTICS, "min": None, "max": None, "top_values": ()}
    if not columns:
        return profile
    return profile.model_copy(
        update={
            "tables": tuple(
                table.model_copy(
                    update={
                        "columns": tuple(
                            column.model_copy(update=nothing)
                            if SourceColumn(table=table.name, column=column.name) in columns
                            else column
                            for column in table.columns
                        )
                    }
                )
                for table in profile.tables
            )
        }
    )


def redesigned(basis: Basis, tables: Set[str]) -> Basis:
    """Return a basis as if some of its tables had never come, but that they were loaded."""
    without = forgotten(basis, tables)
    known = basis.evolution.redesigned_tables
    evolution = without.evolution.model_copy(
        update={"redesigned_tables": (*known, *sorted(tables - {*known}))}
    )
    return without.model_copy(update={"evolution": evolution})


def forgotten(basis: Basis, tables: Set[str], columns: Set[tuple[str, str]] = frozenset()) -> Basis:
    """Return a basis as if some of its tables, and columns of others, had never come."""

    def is_kept(texts: set[str]) -> bool:
        return not texts & tables and not any(texts.issuperset(column) for column in columns)

    def is_left(column: SourceColumn | WiderDomain | WiderType | RenamedColumn) -> bool:
        return column.table not in tables and (column.table, column.column) not in columns

    def is_whole(reference: Reference) -> bool:
        ends = (
            *((reference.table, column) for column in reference.columns),
            *((reference.to_table, column) for column in reference.to_columns),
        )
        return not (tables & {reference.table, reference.to_table} or columns & {*ends})

    known = basis.evolution
    evolution = known.model_copy(
        update={
            "retired_tables": tuple(name for name in known.retired_tables if name not in tables),
            "renamed_tables": tuple(e for e in known.renamed_tables if e.table not in tables),
            "rekeyed_tables": tuple(e for e in known.rekeyed_tables if e.table not in tables),
            "otherwise": tuple(e for e in known.otherwise if e.table not in tables),
            **{name: tuple(filter(is_left, getattr(known, name))) for name in _OF_COLUMNS},
        }
    )
    return basis.model_copy(
        update={
            "profile": restricted(basis.profile, tables, columns),
            "observations": selected(basis.observations, is_kept),
            "arrivals": tuple(
                Arrival(
                    tables=tuple(name for name in arrival.tables if name not in tables),
                    columns=tuple(filter(is_left, arrival.columns)),
                    looser=tuple(each for each in arrival.looser if is_whole(each.reference)),
                    gone=tuple(filter(is_left, arrival.gone)),
                    observations=selected(arrival.observations, is_kept),
                )
                for arrival in basis.arrivals
            ),
            "nullable": tuple(filter(is_left, basis.nullable)),
            "incomplete": tuple(filter(is_whole, basis.incomplete)),
            "broken_keys": tuple(
                each
                for each in basis.broken_keys
                if each.table not in tables
                and columns.isdisjoint((each.table, column) for column in each.columns)
            ),
            "domains": tuple(filter(is_left, basis.domains)),
            "wider": tuple(filter(is_left, basis.wider)),
            "evolution": evolution,
        }
    )


def selected(observations: Observations, is_wanted: Callable[[set[str]], bool]) -> Observations:
    """Return the observations whose texts, names among them, are wanted."""
    return replace(
        NO_OBSERVATIONS,
        **{
            field.name: tuple(
                each for each in getattr(observations, field.name) if is_wanted({*mentioned(each)})
            )
            for field in fields(Observations)
        },
    )


def loosened(basis: Basis, references: Iterable[LooserReference]) -> Basis:
    """Return a basis in which references have become looser after all else that came."""
    without_sql = tuple(
        each.model_copy(update={"evidence": each.evidence.model_copy(update={"sql": ""})})
        for each in references
    )
    return basis.model_copy(update={"arrivals": (*basis.arrivals, Arrival(looser=without_sql))})
