"""What each field of a logical model means to a reader of the data when it changes.

The layers of a model grow with the techniques: what is not listed here is a promise, element by
element where a list's items have names.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fluid_build.contract.differences.change import DocumentChange
from fluid_build.contract.differences.comparing import (
    Document,
    ElementKind,
    Fields,
    Place,
    Treatment,
    column_type,
    cosmetic,
    elements,
    flag,
    part,
    promise,
    values_list,
)
from fluid_build.contract.lineage import Origins

_WORDS = cosmetic("Descriptive text only.")
_FIGURES = cosmetic("Evidence: statistics of the data when it was profiled.")
_QUESTIONS = cosmetic("Open questions: nothing in the model depends on them.")
_ORIGIN = cosmetic("Its origin; its meaning is the same.")
_KINDS: Mapping[str, str] = {
    "entities": "entity",
    "attributes": "attribute",
    "keys": "key",
    "relationships": "relationship",
    "hubs": "hub",
    "links": "link",
    "satellites": "satellite",
    "reference_tables": "reference table",
    "keyless_tables": "keyless table",
    "facts": "fact",
    "dimensions": "dimension",
    "bridges": "bridge",
    "point_in_time_tables": "point-in-time table",
    "measures": "measure",
    "metrics": "metric",
}


def _by_structure(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
    """Compare mappings by field, lists of named elements by name, anything else as a whole."""
    values = [value for value in (old, new) if value]
    if values and all(_is_named_list(value) for value in values):
        name = place.field.rpartition(".")[2]
        yield from elements(_kind(name))(place, old or [], new or [])
    elif values and all(isinstance(value, dict) for value in values):
        yield from part(_FIELDS)(place, old, new)
    else:
        yield from promise("The model has changed.")(place, old, new)


def _is_named_list(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and isinstance(_identity(item), str) for item in value
    )


def _identity(element: Document) -> Any:
    if "name" in element:
        return element["name"]
    if "kind" in element and isinstance(element.get("attributes"), list):
        # The chosen key stays the chosen key whichever its attributes are.
        chosen = element["kind"] == "primary"
        return "primary" if chosen else ", ".join(map(str, element["attributes"]))
    return None


def _kind(name: str) -> ElementKind:
    return ElementKind(_KINDS.get(name, name), _identity, _FIELDS, _origin)


def _origin(element: Document, _names: tuple[str, ...], _origins: Origins) -> object:
    """Return what an element is made of, with its type; None where that's unknown."""
    sources = element.get("source_columns") or element.get("mapped_source_tables")
    return [sources, element.get("type")] if sources else None


def _reverse_flag(reason: str) -> Treatment:
    """Return the treatment of a flag that binds readers while it's true."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
        if bool(old) != bool(new):
            yield place.change("breaking" if new else "additive", old, new, reason)

    return treat


def _participation(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
    firmer = new == "mandatory"
    reason = "Whether each side always has a counterpart has changed."
    yield place.change("additive" if firmer else "breaking", old, new, reason)


_FIELDS = Fields(
    {
        **dict.fromkeys(
            ("description", "reason", "grain_reason", "variant_reason", "query", "raw_query"),
            _WORDS,
        ),
        **dict.fromkeys(("evidence", "rows", "confidence", "coverage", "implied"), _FIGURES),
        **dict.fromkeys(
            (
                "origin",
                "business_key_origin",
                "mapped_source_tables",
                "source_columns",
                "source_type",
                "source_kind",
                "conversion",
                "role",
            ),
            _ORIGIN,
        ),
        "candidates": _QUESTIONS,
        "type": column_type,
        "required": flag("Whether values may be null has changed."),
        "holds": flag("Whether the key holds in the data has changed."),
        "pii": _reverse_flag("What readers may do with the values has changed."),
        "accepted_values": values_list("The values that can occur have changed."),
        "from_participation": _participation,
        "to_participation": _participation,
    },
    _by_structure,
)
_OSI = Fields(
    {
        "semantic_model": elements(
            ElementKind(
                "semantic model",
                _identity,
                Fields(
                    {"metrics": _by_structure},
                    cosmetic("It's derived from the entities and relationships."),
                ),
            )
        )
    },
    cosmetic("How the semantic model is written."),
)
MODEL = Fields({**_FIELDS.treatments, "name": _WORDS, "osi": part(_OSI)}, _FIELDS.others)
"""The whole model."""
