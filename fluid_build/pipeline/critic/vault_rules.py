"""Rules for a Data Vault: hubs on business keys, links between hubs, satellites with a parent."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from fluid_build.copilot.scratchpad import CriticFinding, Severity
from fluid_build.pipeline.critic.findings import LogicalRule, examples, finding
from fluid_build.pipeline.critic.reading import (
    first_text,
    flag,
    has,
    name_of,
    part,
    parts,
    text,
    texts,
)
from fluid_build.text import counted, listed

_HUBS_OF_A_LINK = 2


def check_business_keys(logical: object) -> Iterator[CriticFinding]:
    """Find hubs without a business key."""
    for hub in parts(logical, "dv2", "hubs"):
        if not texts(hub, "business_key_columns"):
            name = _hub_label(hub)
            yield _vault_finding(
                "warning",
                f"{name} has no business_key_columns",
                f"hubs.{name}.business_key_columns",
                _key_suggestion(logical, hub),
            )


def check_repeated_keys(logical: object) -> Iterator[CriticFinding]:
    """Find hubs that list the same business key twice."""
    hubs_by_key: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for hub in parts(logical, "dv2", "hubs"):
        tables, columns = texts(hub, "mapped_source_tables"), texts(hub, "business_key_columns")
        if tables and columns:
            hubs_by_key[tables, columns].append(_hub_label(hub))
    for names in hubs_by_key.values():
        if len(names) > 1:
            yield _vault_finding(
                "warning",
                f"{listed(names)} have the same business key",
                f"hubs.{names[1]}.business_key_columns",
                "keep one hub, and lead all references to it",
            )


def check_surrogate_keys(logical: object) -> Iterator[CriticFinding]:
    """Find hubs on a surrogate key whose entity declares another key."""
    hubs = [hub for hub in parts(logical, "dv2", "hubs") if _has_declared_alternative(logical, hub)]
    if hubs:
        names = [_hub_label(hub) for hub in hubs]
        yield _vault_finding(
            "info",
            f"{counted(len(hubs), 'hub')} on a surrogate key, while the source declares another"
            f" unique key: {examples(names)}",
            f"hubs.{names[0]}.business_key_columns",
            "decide which key the business uses",
        )


def check_links(logical: object) -> Iterator[CriticFinding]:
    """Find links that connect fewer than two hubs, or a hub that isn't there."""
    hub_names = _names(parts(logical, "dv2", "hubs"))
    for link in parts(logical, "dv2", "links"):
        name = name_of(link)
        hubs = _linked_hubs(link)
        if hubs is None:
            continue
        if len(hubs) < _HUBS_OF_A_LINK and not _identifies_rows(link):
            yield _vault_finding(
                "warning",
                f"{name} connects {counted(len(hubs), 'hub')}; a link needs at least two",
                f"links.{name}.hubs",
                "add the missing hub, or store the columns in a satellite",
            )
        for missing in dict.fromkeys(hub for hub in hubs if hub_names and hub not in hub_names):
            yield _vault_finding(
                "error", f"{name} refers to {missing}, which isn't a hub", f"links.{name}.hubs"
            )


def check_satellites(logical: object) -> Iterator[CriticFinding]:
    """Find satellites whose parent isn't there."""
    parents = _names((*parts(logical, "dv2", "hubs"), *parts(logical, "dv2", "links")))
    for satellite in parts(logical, "dv2", "satellites"):
        parent, name = text(satellite, "parent"), name_of(satellite)
        if has(satellite, "parent") and parent not in parents:
            problem = f"{parent} isn't a hub or link" if parent else "there is none"
            yield _vault_finding(
                "error",
                f"{name} has no parent: {problem}",
                f"satellites.{name}.parent",
                "name the hub or link that the satellite describes",
            )


VAULT_RULES: tuple[LogicalRule, ...] = (
    check_business_keys,
    check_repeated_keys,
    check_surrogate_keys,
    check_links,
    check_satellites,
)


def _vault_finding(
    severity: Severity, message: str, target: str, suggestion: str = ""
) -> CriticFinding:
    return finding("logical", severity, message, f"dv2.{target}", suggestion)


def _hub_label(hub: object) -> str:
    """Return a hub's name; one that only names its entity is called as hubs are."""
    name = text(hub, "name")
    entity = text(hub, "entity_name")
    return name or (entity if not entity or entity.startswith("hub_") else f"hub_{entity}")


def _names(elements: Sequence[object]) -> frozenset[str]:
    """Return the names by which elements may be referred to."""
    names = {
        name
        for element in elements
        for name in (text(element, "name"), text(element, "entity_name"))
        if name
    }
    return frozenset(names | {f"hub_{name}" for name in names})


def _linked_hubs(link: object) -> list[str] | None:
    """Return the names of the hubs of a link, None where it doesn't say."""
    for attribute in ("hubs", "hub_references", "connected_hubs"):
        if has(link, attribute):
            return [
                hub if isinstance(hub, str) else first_text(hub, "hub", "name", "entity_name")
                for hub in parts(link, attribute)
            ]
    return None


def _identifies_rows(link: object) -> bool:
    """Return whether a link has something else than hubs that tells its rows apart."""
    return bool(texts(link, "dependent_child_keys")) or flag(link, "of_rows")


def _entity(logical: object, hub: object) -> object:
    """Return the conceptual entity of a hub, None where there is none."""
    tables = {text(hub, "entity_name"), *texts(hub, "mapped_source_tables")}
    entities = parts(logical, "conceptual", "entities")
    return next((entity for entity in entities if text(entity, "name") in tables), None)


def _key_suggestion(logical: object, hub: object) -> str:
    keys = parts(_entity(logical, hub), "keys")
    columns = next((texts(key, "attributes") for key in keys), ())
    if columns:
        return f"set business_key_columns to {list(columns)}"
    return "set business_key_columns to the columns by which the business identifies it"


def _has_declared_alternative(logical: object, hub: object) -> bool:
    if text(hub, "business_key_kind") != "surrogate":
        return False
    used = set(texts(hub, "business_key_columns"))
    return any(
        text(key, "kind") == "declared"
        and part(key, "holds") is True
        and set(texts(key, "attributes")) != used
        for key in parts(_entity(logical, hub), "keys")
    )
