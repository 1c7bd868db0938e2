"""The Data Vault 2.0 layer: hubs on business keys, links between them, satellites around them.

Rules: Dan Linstedt and Michael Olschimke, "Building a Scalable Data Warehouse with Data Vault 2.0".

Columns are named as the source names them, each list of them belonging to one table of the source;
relations and hash keys have the names that they are built under.
"""

from typing import Literal, Self

from pydantic import model_validator

from fluid_build.modeling.element import Element, ModelPart
from fluid_build.profiling.profile import Evidence, Origin

BusinessKeyKind = Literal["natural", "surrogate"]
LinkType = Literal["standard", "hierarchical", "transactional", "same-as"]
RateOfChange = Literal["slow", "fast", "unknown"]
SatelliteKind = Literal["descriptive", "effectivity"]


class HashKeyStrategy(ModelPart):
    """How a business key becomes a hash key.

    The parts of a key are joined by ``delimiter``. Inside a part, every character that a
    delimiter, a null token or an ``escape`` could begin with is preceded by ``escape``, so that two
    different keys never share a hash input. A null part becomes ``null_token``.
    """

    algorithm: Literal["md5", "sha256"] = "md5"
    delimiter: str = "||"
    escape: str = "\\"
    null_token: str = "^^"
    case: Literal["preserve", "upper"] = "preserve"

    @model_validator(mode="after")
    def _can_be_told_apart(self) -> Self:
        if len(self.escape) != 1 or not self.delimiter or not self.null_token:
            raise ValueError("the escape is one character, delimiter and null token at least one")
        if len({self.escape, self.delimiter[0], self.null_token[0]}) < 3:
            raise ValueError("escape, delimiter and null token begin with different characters")
        return self

    @property
    def special(self) -> tuple[str, ...]:
        """The characters that are escaped inside a part, the escape itself first."""
        return (self.escape, self.delimiter[0], self.null_token[0])


class Lookup(ModelPart):
    """Where the business key of a hub is looked up by other columns than its own.

    A row of ``table`` whose columns ``match`` hold what the referring columns hold has the
    business key in its columns ``found``, in the order of the hub's.
    """

    table: str
    match: tuple[str, ...]
    found: tuple[str, ...]


class HubReference(ModelPart):
    """How rows of a source table reach a hub: by which of the table's columns, in which role.

    ``columns`` hold the business key itself, in the order of the hub's, or with a ``lookup`` what
    its ``match`` holds. ``hash_key`` is the column that carries the hub's hash key. Where a row
    may come without the reference and needs one all the same, it is ``optional`` and leads to the
    hub's ghost record.
    """

    hub: str
    role: str = ""
    columns: tuple[str, ...]
    hash_key: str
    optional: bool = False
    lookup: Lookup | None = None


class Hub(Element):
    """The list of all business keys of one entity.

    ``business_key_columns`` are those of the entity's own table. ``has_ghost`` says that it holds
    the record of the zero key, which optional references lead to.
    """

    name: str
    entity_name: str
    description: str = ""
    business_key_columns: tuple[str, ...]
    business_key_kind: BusinessKeyKind
    business_key_origin: Origin
    hash_key: str
    has_ghost: bool = False
    evidence: Evidence


class Link(Element):
    """A relationship between hubs, as one source table has it.

    ``dependent_child_keys`` part rows that share all of the hubs.
    """

    name: str
    table: str
    description: str = ""
    link_type: LinkType
    hubs: tuple[HubReference, ...]
    dependent_child_keys: tuple[str, ...] = ()
    hash_key: str


class Satellite(Element):
    """What one source table says of a hub or link, with its history and with what was deleted.

    ``via`` says how the table's rows reach the parent where that is a hub. ``columns`` are
    descriptive; an ``effectivity`` satellite has none and tells from when to when a row was there.
    ``multi_active_keys`` part the rows that are valid at the same time for one parent.
    """

    name: str
    table: str
    kind: SatelliteKind = "descriptive"
    description: str = ""
    parent: str
    hash_key: str
    via: HubReference | None = None
    columns: tuple[str, ...]
    multi_active_keys: tuple[str, ...] = ()
    rate_of_change: RateOfChange = "unknown"


class ReferenceTable(Element):
    """A small code list, kept under its own code and with its history, without a hub."""

    name: str
    table: str
    description: str = ""
    key_columns: tuple[str, ...]
    columns: tuple[str, ...]


class KeylessTable(Element):
    """A table whose rows nothing identifies: kept as a row hash with its multiplicity.

    ``hubs`` are those that its rows refer to.
    """

    name: str
    table: str
    description: str = ""
    columns: tuple[str, ...]
    hubs: tuple[HubReference, ...] = ()


class DataVaultModel(ModelPart):
    """The vault as a whole."""

    hash_key_strategy: HashKeyStrategy = HashKeyStrategy()
    hubs: tuple[Hub, ...] = ()
    links: tuple[Link, ...] = ()
    satellites: tuple[Satellite, ...] = ()
    reference_tables: tuple[ReferenceTable, ...] = ()
    keyless_tables: tuple[KeylessTable, ...] = ()

    def hub(self, name: str) -> Hub:
        """The hub of that exact name; KeyError if there is none."""
        for hub in self.hubs:
            if hub.name == name:
                return hub
        raise KeyError(name)
