"""The Data Vault 2.0 layer: hubs on business keys, links between them, satellites around them.

Rules: Dan Linstedt and Michael Olschimke, "Building a Scalable Data Warehouse with Data Vault 2.0".
"""

from typing import Literal

from fluid_build.modeling.element import Element, ModelPart
from fluid_build.profiling.profile import Evidence, Origin

BusinessKeyKind = Literal["natural", "surrogate"]
LinkType = Literal["standard", "hierarchical", "transactional", "same-as"]
RateOfChange = Literal["slow", "fast", "unknown"]


class HashKeyStrategy(ModelPart):
    """How a business key becomes a hash key.

    The parts of a key are joined by ``delimiter``; a delimiter or ``escape`` inside a part is
    preceded by ``escape``, so that two different keys never share a hash input. A null part
    becomes ``null_token``.
    """

    algorithm: Literal["md5", "sha256"] = "md5"
    delimiter: str = "||"
    escape: str = "\\"
    null_token: str = "^^"
    case: Literal["preserve", "upper"] = "preserve"


class Hub(Element):
    """The list of all business keys of one entity."""

    name: str
    entity_name: str
    description: str = ""
    business_key_columns: tuple[str, ...]
    business_key_kind: BusinessKeyKind
    business_key_origin: Origin
    hash_key: str
    evidence: Evidence


class HubReference(ModelPart):
    """One end of a link: the hub, in which role, by which columns of the link's source table."""

    hub: str
    role: str = ""
    columns: tuple[str, ...]
    hash_key: str


class Link(Element):
    """A relationship between hubs. ``dependent_child_keys`` part rows that share all of them."""

    name: str
    description: str = ""
    link_type: LinkType
    hubs: tuple[HubReference, ...]
    dependent_child_keys: tuple[str, ...] = ()
    hash_key: str


class Satellite(Element):
    """Descriptive columns of one hub or link, with their history.

    ``multi_active_keys`` part the rows that are valid at the same time for one parent.
    """

    name: str
    description: str = ""
    parent: str
    columns: tuple[str, ...]
    multi_active_keys: tuple[str, ...] = ()
    rate_of_change: RateOfChange = "unknown"


class ReferenceTable(Element):
    """A small code list that is looked up and not historised around a hub."""

    name: str
    description: str = ""
    key_columns: tuple[str, ...]
    columns: tuple[str, ...]


class KeylessTable(Element):
    """A table whose rows nothing identifies: kept as a row hash with its multiplicity."""

    name: str
    description: str = ""
    columns: tuple[str, ...]


class DataVaultModel(ModelPart):
    """The vault as a whole."""

    hash_key_strategy: HashKeyStrategy = HashKeyStrategy()
    hubs: tuple[Hub, ...] = ()
    links: tuple[Link, ...] = ()
    satellites: tuple[Satellite, ...] = ()
    reference_tables: tuple[ReferenceTable, ...] = ()
    keyless_tables: tuple[KeylessTable, ...] = ()
