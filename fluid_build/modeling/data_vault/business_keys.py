"""Which key a hub is built on: what the business calls a thing by, rather than a number given out.

A natural key is preferred where the evidence bears it: the chosen key is a mere number, the other
is never null, unique by declaration or on at least a hundred rows, and by its name or its values an
identifying code. A measured code beside the name of whose code it is (a vocabulary, a tenant) may
be unique within that alone, so it isn't preferred. What identifies people (mail, phone, name,
national number) never becomes a key: it changes, and it would carry personal data into every hash.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Attribute, Entity, EntityKey
from fluid_build.modeling.data_vault.elements import BusinessKeyKind
from fluid_build.modeling.data_vault.source_tables import last_word
from fluid_build.modeling.types import family
from fluid_build.profiling.names import singular, strip_key_suffix, words

_ROWS_TO_TELL = 100
_CODE_WORDS = frozenset(
    """
    asin barcode bk cd code ean gtin iata icao isbn isin issn lei nbr no nr num number serial sku
    swift symbol ticker upc vin
    """.split()
)
_WORLDWIDE = frozenset("asin ean gtin iata icao isbn isin issn lei swift upc vin".split())
_AUTHORITIES = frozenset(
    """
    catalog catalogue client codelist codeset codesystem company dictionary issuer mandant mandt
    namespace nomenclature ontology organisation organization registry scheme source system tenant
    terminology thesaurus vocab vocabulary
    """.split()
)
_CODE_TYPES = frozenset({"isbn", "ean", "vin", "bic", "country_code", "currency_code"})
_NOT_OF_THE_THING = frozenset(
    """
    area building card cell check credit driver fax floor hash home house insurance licence license
    line mobile national pass passport password phone pin position post postal room row seat
    security sequence social street tax tel telephone track version zip
    """.split()
)


@dataclass(frozen=True, slots=True)
class BusinessKey:
    """The key of a hub, and the sentence that explains the choice."""

    key: EntityKey
    kind: BusinessKeyKind
    reason: str


def business_key(entity: Entity, identity: EntityKey, sharing: Sequence[str]) -> BusinessKey:
    """The business key of an entity; ``sharing`` are tables that are identified by its identity."""
    if not _is_surrogate(entity, identity):
        why = identity.reason.rstrip(".")
        return BusinessKey(identity, "natural", f"{_shown(identity)} identifies it: {why}.")
    natural = natural_key(entity)
    if natural is None:
        return BusinessKey(
            identity,
            "surrogate",
            f"{_shown(identity)} {_numbers(identity)} given out by the source, and"
            f" {_why_nothing_else(entity)}.",
        )
    if sharing:
        return BusinessKey(
            identity,
            "surrogate",
            f"{_shown(natural)} identifies a row too, but {', '.join(sharing)} and it share"
            f" {_shown(identity)} alone.",
        )
    return BusinessKey(
        natural,
        "natural",
        f"{_shown(natural)} is preferred to {_shown(identity)}, a number given out by the source:"
        f" {_evidence(natural)}, and by its name it is what people call it by.",
    )


def natural_key(entity: Entity) -> EntityKey | None:
    """A key beside a surrogate primary key that identifies its rows for people."""
    primary = entity.primary_key
    if primary is None or len(primary.attributes) != 1 or not _is_surrogate(entity, primary):
        return None
    found = [key for key in _codes(entity) if not _scope(entity, key)]
    return found[0] if found else None


def _codes(entity: Entity) -> list[EntityKey]:
    """The keys beside the primary one that are codes: declared ones first, then in order."""
    order = {attribute.name: place for place, attribute in enumerate(entity.attributes)}
    found = [key for key in entity.keys if key.kind != "primary" and _is_natural(entity, key)]
    return sorted(found, key=lambda key: (key.kind != "declared", order[key.attributes[0]]))


def _scope(entity: Entity, key: EntityKey) -> str:
    """The column that a measured code may be unique within; "" where there is none."""
    code = entity.attribute(key.attributes[0])
    if key.origin == "declared" or last_word(code.name, _WORLDWIDE):
        return ""
    if code.semantic_type in _CODE_TYPES:
        return ""
    return next((a.name for a in entity.attributes if a != code and _names_authority(a)), "")


def _names_authority(attribute: Attribute) -> bool:
    """Whether an attribute says whose codes those of its row are."""
    said = strip_key_suffix(words(attribute.name))
    names = family(attribute.type) in {"text", "integer", "decimal"}
    return names and bool(said) and singular(said[-1]) in _AUTHORITIES


def _why_nothing_else(entity: Entity) -> str:
    for key in _codes(entity):
        scope = _scope(entity, key)
        if scope:
            return f"{_shown(key)} may be unique within one {scope} only"
    return "nothing else identifies a row to people"


def _is_surrogate(entity: Entity, key: EntityKey) -> bool:
    """Whether all of a key is numbers that were given out, and only the source knows for what."""
    return all(_is_given_out(entity.attribute(column)) for column in key.attributes)


def _is_given_out(attribute: Attribute) -> bool:
    if attribute.type == "uuid" or attribute.semantic_type in {"uuid", "hash"}:
        return True
    if last_word(attribute.name, _CODE_WORDS) or attribute.semantic_type in _CODE_TYPES:
        return False
    return family(attribute.type) in {"integer", "decimal"}


def _is_natural(entity: Entity, key: EntityKey) -> bool:
    if len(key.attributes) != 1 or not key.holds:
        return False
    if key.kind == "candidate" and entity.rows < _ROWS_TO_TELL:
        return False
    attribute = entity.attribute(key.attributes[0])
    return attribute.required and _is_code(attribute)


def _is_code(attribute: Attribute) -> bool:
    # A vehicle's number is a thing's, though it may lead to its owner.
    if attribute.pii and attribute.semantic_type != "vin":
        return False
    if family(attribute.type) not in {"text", "integer", "decimal"} or attribute.type == "uuid":
        return False
    if attribute.semantic_type in _CODE_TYPES:
        return True
    if attribute.semantic_type is not None:
        return False
    code = last_word(attribute.name, _CODE_WORDS)
    squashed = "".join(words(attribute.name)).removesuffix(code)
    other = any(squashed.startswith(w) or squashed.endswith(w) for w in _NOT_OF_THE_THING)
    return bool(code) and not other


def _evidence(key: EntityKey) -> str:
    if key.origin == "declared":
        return "it is declared unique, and never null"
    return f"it is unique and never null in {key.evidence.rows} rows"


def _numbers(key: EntityKey) -> str:
    return "is a number" if len(key.attributes) == 1 else "are numbers"


def _shown(key: EntityKey) -> str:
    return ", ".join(key.attributes)
