"""The custom properties of ODCS: labels under their own names, and FLUID's own keys.

A property ``fluid.x`` holds FLUID's key ``x`` of the same element; every other one is a label. A
label whose own name begins with ``fluid.`` is written as ``fluid.label.<name>``.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fluid_build.contract.exports.tracking import Json, TrackedMapping
from fluid_build.contract.structure import Path
from fluid_build.text import free_name

Labels = dict[str, str]
_OWN = "fluid."
_LABEL = "fluid.label."
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def custom_properties(
    own: Mapping[str, object],
    labels: Mapping[str, str] | None = None,
    figures: Mapping[str, int | None] | None = None,
) -> list[Json] | None:
    """Return the custom properties of an element, None where there is none to write.

    Keys of ``own`` and ``figures`` whose value is None are left out; so is a figure whose name a
    label has.
    """
    labels = labels or {}
    values: Json = {_OWN + key: value for key, value in own.items() if value is not None}
    for name, number in (figures or {}).items():
        if number is not None and name not in labels:
            values[name] = number
    for name, text in labels.items():
        values[_LABEL + name if name.startswith(_OWN) else name] = text
    return [{"property": name, "value": value} for name, value in values.items()] or None


def read_custom_properties(
    part: TrackedMapping, own_keys: Collection[str] = (), figures: Collection[str] = ()
) -> tuple[Json, Labels]:
    """Take the custom properties of an element: the values of FLUID's keys, and the labels.

    Whole numbers under the names of ``figures`` are returned with FLUID's keys.
    """
    own: Json = {}
    labels: Labels = {}
    for item in part.parts("customProperties"):
        name, value = str(item.take("property")), item.take("value")
        key = name.removeprefix(_OWN)
        if name.startswith(_OWN) and key in own_keys and key not in own:
            own[key] = value
        elif name in figures and isinstance(value, int) and not isinstance(value, bool):
            own[name] = value
        else:
            labels[free_name(name.removeprefix(_LABEL), labels)] = label_text(value)
    return own, labels


def label_text(value: object) -> str:
    """Return a value as the text of a label: itself, or JSON where it isn't text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(slots=True)
class KeptAsLabels:
    """What FLUID has no key for: each path in the document, and how many values are under it."""

    paths: list[tuple[Path, int]] = field(default_factory=list)

    def keep_rest(self, part: TrackedMapping, labels: Labels) -> None:
        """Take what is left of an element, and add it to the labels under kebab-case names."""
        self.paths.extend(part.left_parts())
        for key, value in part.take_rest().items():
            name = _CAPITAL.sub("-", key).lower()
            labels[free_name(name, labels)] = label_text(value)
