"""The custom properties of ODCS: labels under their own names, and what else FLUID says there.

A property ``fluid.x`` holds FLUID's key ``x`` of the same element; every other one is a label. A
label whose own name begins so is written as ``fluid.label.<name>``.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fluid_build.contract.exports.tracking import Json, TrackedMapping

_OWN = "fluid."
_LABEL = "fluid.label."


@dataclass(frozen=True, slots=True)
class Custom:
    """Custom properties taken apart.

    ``own`` are the values of FLUID's keys, ``figures`` whole numbers under names that were asked
    for, ``labels`` all others (None where there is none).
    """

    own: Json = field(default_factory=dict)
    labels: dict[str, str] | None = None
    figures: dict[str, int] = field(default_factory=dict)


def custom_properties(
    own: Mapping[str, object],
    labels: Mapping[str, str] | None = None,
    figures: Mapping[str, int | None] | None = None,
) -> list[Json] | None:
    """The custom properties of an element, None where there is none to write.

    Keys of ``own`` and ``figures`` whose value is None are left out; so is a figure whose name a
    label has.
    """
    found: Json = {_OWN + key: value for key, value in own.items() if value is not None}
    if labels is not None and not labels:
        found[_OWN + "labels"] = {}
    for name, number in (figures or {}).items():
        if number is not None and name not in (labels or {}):
            found[name] = number
    for name, text in (labels or {}).items():
        found[_LABEL + name if name.startswith(_OWN) else name] = text
    return [{"property": name, "value": value} for name, value in found.items()] or None


def read_custom(
    part: TrackedMapping, known: Collection[str], figures: Collection[str] = ()
) -> Custom:
    """Take the custom properties of an element.

    A property that FLUID does not know under ``fluid.``, and one that is given again, is left. A
    value that is no text becomes a label in JSON.
    """
    own: Json = {}
    labels: dict[str, str] = {}
    numbers: dict[str, int] = {}
    seen: set[str] = set()
    for item in part.parts("customProperties"):
        name, value = str(item.peek("property")), item.peek("value")
        key = name.removeprefix(_OWN)
        is_own = name.startswith(_OWN) and not name.startswith(_LABEL)
        if name in seen or (is_own and key not in known and key != "labels"):
            continue
        seen.add(name)
        item.take("property")
        item.take("value")
        if is_own:
            own[key] = value
        elif name in figures and isinstance(value, int) and not isinstance(value, bool):
            numbers[name] = value
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            labels[name.removeprefix(_LABEL)] = text
    is_empty = own.pop("labels", None) is not None and not labels
    return Custom(own, labels if labels or is_empty else None, numbers)
