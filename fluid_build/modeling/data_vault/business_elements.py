"""The business vault: tables derived from the raw vault that spare queries its expensive joins.

Rules: Dan Linstedt and Michael Olschimke, "Building a Scalable Data Warehouse with Data Vault 2.0".
A point-in-time table says for each key and snapshot which row of each satellite was valid, a bridge
which keys a chain of links led to. Both hold keys and load dates alone, so that they can be dropped
and made again from the raw vault.
"""

from collections.abc import Iterable, Sequence

from fluid_build.modeling.element import Element, ModelPart


class SnapshotCalendar(Element):
    """The moments that there are snapshots of: every load that changed the vault."""

    name: str
    description: str = ""


class PointInTimeSatellite(ModelPart):
    """A satellite of a point-in-time table, and the columns there that lead to its valid row."""

    satellite: str
    hash_key: str
    load_date: str


class BusinessTable(Element):
    """A table of the business vault.

    ``query`` shows how to read it, ``raw_query`` returns the same rows from the raw vault. Both are
    as of the last load; their timestamps can be replaced by any other moment.
    """

    name: str
    description: str = ""
    query: str
    raw_query: str


class PointInTimeTable(BusinessTable):
    """Which row of each satellite was valid for a key of a hub, at every snapshot.

    ``hash_key`` is the hub's. Where no row was valid, the columns lead to the satellite's ghost
    record.
    """

    hub: str
    hash_key: str
    satellites: tuple[PointInTimeSatellite, ...]


class BridgeHub(ModelPart):
    """A hub that the start of a bridge itself refers to, and the column with its hash key."""

    hub: str
    hash_key: str


class BridgeHop(ModelPart):
    """A link that a bridge follows from one hub to the next; the link of an event leads to several.

    ``own_key`` and ``referred_key`` are the hash keys in the link, by which a row of the first hub
    refers to one of the next. ``satellite`` says when that was so. In the bridge, ``from_key`` has
    the hash key of the first hub, ``hash_key`` that of the hub which the link leads to, and
    ``link_key`` that of the link; the last two have the zero key where there's no such row.
    """

    link: str
    satellite: str
    own_key: str
    referred_key: str
    hub: str
    from_key: str
    hash_key: str
    link_key: str


def hops_by_link(hops: Iterable[BridgeHop]) -> Sequence[Sequence[BridgeHop]]:
    """Return the hops along each link, in the order in which the links are first followed."""
    links: dict[str, list[BridgeHop]] = {}
    for hop in hops:
        links.setdefault(hop.link, []).append(hop)
    return tuple(links.values())


class BridgeTable(BusinessTable):
    """Which keys a row of a link or hub led to along a chain of links, at every snapshot.

    It has one row for each valid row of ``satellite``, since every hop leads to at most one row:
    under the hash key of ``start``, which the satellite belongs to and calls ``hash_key``, and the
    multi-active keys of the satellite, if it has any. ``load_date`` is the column with the load
    date of that row. A link of whole rows is its own satellite.
    """

    start: str
    hash_key: str
    satellite: str
    load_date: str
    hubs: tuple[BridgeHub, ...]
    hops: tuple[BridgeHop, ...]


class BusinessVault(ModelPart):
    """What is derived from a raw vault to make its queries faster."""

    calendar: SnapshotCalendar
    point_in_time_tables: tuple[PointInTimeTable, ...] = ()
    bridges: tuple[BridgeTable, ...] = ()

    @property
    def relation_names(self) -> tuple[str, ...]:
        """The names of all its relations."""
        tables = (*self.point_in_time_tables, *self.bridges)
        return (self.calendar.name, *(table.name for table in tables))
