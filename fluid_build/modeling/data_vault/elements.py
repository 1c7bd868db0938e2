"""The Data Vault 2.0 layer: hubs on business keys, links between them, satellites around them.

Rules: Dan Linstedt and Michael Olschimke, "Building a Scalable Data Warehouse with Data Vault 2.0".

Columns have their names in the source, and each list of columns is of one source table. Relations
and hash keys have the names that they are built under.
"""

from typing import Literal, Self

from pydantic import model_validator

from fluid_build.decisions.conventions import Hashing
from fluid_build.modeling.data_vault.business_elements import BusinessVault
from fluid_build.modeling.element import (
    DecidedElement,
    ModelPart,
    NoOrRelationName,
    RelationName,
)
from fluid_build.profiling.profile import Evidence, Origin

BusinessKeyKind = Literal["natural", "surrogate"]
LinkType = Literal["standard", "hierarchical", "transactional", "same-as"]
RateOfChange = Literal["slow", "fast", "unknown"]
SatelliteKind = Literal["descriptive", "effectivity"]


class HashKeyStrategy(ModelPart):
    """How a business key becomes a hash key.

    The parts of a key are joined by ``delimiter``. A null part becomes ``null_token``. Inside a
    part, ``escape`` precedes every character that a delimiter, a null token or an escape begins
    with, so two different keys never share a hash input. A ``style`` says how another tool writes
    the parts, and what it does with columns that describe.
    """

    algorithm: Literal["md5", "sha1", "sha256"] = "md5"
    delimiter: str = "||"
    escape: str = "\\"
    null_token: str = "^^"
    case: Literal["preserve", "upper"] = "preserve"
    style: Hashing | None = None

    @model_validator(mode="after")
    def _check_first_characters(self) -> Self:
        if len(self.escape) != 1 or not self.delimiter or not self.null_token:
            raise ValueError(
                "The escape must be a single character; the delimiter and the null token can't be"
                " empty."
            )
        if len({self.escape, self.delimiter[0], self.null_token[0]}) < 3:
            raise ValueError(
                "The escape, the delimiter and the null token must begin with different characters."
            )
        return self

    @property
    def folds_keys(self) -> bool:
        """Whether keys with different spellings may be one."""
        return self.case == "upper" or (self.style is not None and self.style.trim)

    @property
    def special(self) -> tuple[str, ...]:
        """Return the characters that are escaped inside a part, the escape itself first."""
        return (self.escape, self.delimiter[0], self.null_token[0])


class Lookup(ModelPart):
    """Where to look up the business key of a hub by other columns than its own.

    The row of ``table`` whose ``match`` columns equal the referring columns has the business key
    in its ``found`` columns, in the order of the hub's key.
    """

    table: str
    match: tuple[str, ...]
    found: tuple[str, ...]


class HubReference(ModelPart):
    """How rows of a source table reach a hub: by which of the table's columns, in which role.

    ``columns`` hold the business key, in the order of the hub's key, or with a ``lookup`` the
    values that its ``match`` columns have. ``hash_key`` is the column that carries the hub's hash
    key. An ``optional`` reference leads to the hub's ghost record where a row has none.
    """

    hub: RelationName
    role: str = ""
    columns: tuple[str, ...]
    hash_key: str
    optional: bool = False
    lookup: Lookup | None = None


class KeyMatch(ModelPart):
    """Columns of tables of two sources that hold the same keys, as measured.

    ``keys`` and ``other_keys`` count the values of each, ``shared`` those that are in both. ``sql``
    counts these.
    """

    table: str
    column: str
    keys: int
    other_table: str
    other_column: str
    other_keys: int
    shared: int
    sql: str


class Hub(DecidedElement):
    """The list of all business keys of one entity.

    ``business_key_columns`` are columns of the entity's own table. With ``has_ghost`` it also
    holds the ghost record under the zero key, which optional references lead to. ``key_matches``
    is the evidence for a hub that several sources share.
    """

    name: RelationName
    entity_name: str
    description: str = ""
    business_key_columns: tuple[str, ...]
    business_key_kind: BusinessKeyKind
    business_key_origin: Origin
    hash_key: str
    has_ghost: bool = False
    evidence: Evidence
    key_matches: tuple[KeyMatch, ...] | None = None


class Link(DecidedElement):
    """A relationship between hubs, as one source table has it.

    ``dependent_child_keys`` tell rows apart that share all of the hubs. A link ``of_rows`` has no
    key: its hash key is that of whole rows, ``columns`` are the payload, which it holds itself, and
    equal rows are counted. ``key_match`` is the evidence for a link between rows of two sources
    that are the same. A link goes on ``instead_of`` another one, where the source dropped a part of
    what that relates.
    """

    name: RelationName
    table: str
    description: str = ""
    link_type: LinkType
    hubs: tuple[HubReference, ...]
    dependent_child_keys: tuple[str, ...] = ()
    of_rows: bool = False
    columns: tuple[str, ...] = ()
    hash_key: str
    key_match: KeyMatch | None = None
    instead_of: NoOrRelationName = None

    def as_satellite(self) -> "Satellite":
        """Return what a link ``of_rows`` says itself, in the terms of a satellite of it."""
        return Satellite(
            name=self.name,
            table=self.table,
            parent=self.name,
            hash_key=self.hash_key,
            columns=self.columns,
            mapped_source_tables=self.mapped_source_tables,
            source_columns=self.source_columns,
        )


class Satellite(DecidedElement):
    """What one source table says about a hub or link, with its history and its deletions.

    ``via`` says how the table's rows reach the parent where that is a hub. ``columns`` are the
    payload; an ``effectivity`` satellite has none and records from when to when a row was there.
    ``multi_active_keys`` tell the rows apart that are valid at the same time for one parent.
    """

    name: RelationName
    table: str
    kind: SatelliteKind = "descriptive"
    description: str = ""
    parent: RelationName
    hash_key: str
    via: HubReference | None = None
    columns: tuple[str, ...]
    multi_active_keys: tuple[str, ...] = ()
    rate_of_change: RateOfChange = "unknown"


class ReferenceTable(DecidedElement):
    """A small code list with its history, under its own code and without a hub."""

    name: RelationName
    table: str
    description: str = ""
    key_columns: tuple[str, ...]
    columns: tuple[str, ...]


class KeylessTable(DecidedElement):
    """A table whose rows nothing identifies and that refers to no hub.

    Each row is stored by its hash, with how often it occurs.
    """

    name: RelationName
    table: str
    description: str = ""
    columns: tuple[str, ...]


class DataVaultModel(ModelPart):
    """The vault as a whole; ``business_vault`` is None unless it was asked for."""

    hash_key_strategy: HashKeyStrategy = HashKeyStrategy()
    hubs: tuple[Hub, ...] = ()
    links: tuple[Link, ...] = ()
    satellites: tuple[Satellite, ...] = ()
    reference_tables: tuple[ReferenceTable, ...] = ()
    keyless_tables: tuple[KeylessTable, ...] = ()
    business_vault: BusinessVault | None = None

    @property
    def relation_names(self) -> frozenset[str]:
        """The names of all relations of the vault."""
        business = self.business_vault
        return frozenset(
            (
                *(hub.name for hub in self.hubs),
                *(link.name for link in self.links),
                *(satellite.name for satellite in self.satellites),
                *(table.name for table in self.reference_tables),
                *(table.name for table in self.keyless_tables),
                *(() if business is None else business.relation_names),
            )
        )

    def hub(self, name: str) -> Hub:
        """Return the hub of that exact name; raise KeyError if there is none."""
        for hub in self.hubs:
            if hub.name == name:
                return hub
        raise KeyError(name)
