"""Three versions of a YAML document as one: what a forge wrote, what a person made of it, the next.

Whatever a person changed stays, entry by entry; all else is as the next forge writes it. Entries
are told apart by their names, and tests and tags by what they say. The documents are those of dbt
and the contract.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pydantic_core import to_json

from fluid_build.contract.differences.differing import higher_version
from fluid_build.json_types import JsonObject, JsonValue

STRUCTURE = frozenset({"models", "columns", "sources", "tables", "exposes", "contract", "schema"})
"""Where lists of what the model has are, whose entries have names."""
_COLUMNS = ("columns", "schema")
_NAMES = ("name", "exposeId", "id")
"""What names an entry: ``id`` a rule of the contract, ``exposeId`` a table."""
OVERRULED = frozenset({"data_type", "type"})
"""What the contract of a table checks: where both changed it, only the next forge's builds."""
_VERSION = "version"
"""Of an expose: it never goes back, so the next forge's counts where it's the higher one."""
_REFERENCE = re.compile(r"""\bref\(\s*['"](\w+)['"]\s*\)""")


class _Missing:
    """No value: neither that of a key that is there, nor null."""


MISSING = _Missing()
_Value: TypeAlias = JsonValue | _Missing


@dataclass(frozen=True, slots=True)
class Merge:
    """A merged value.

    ``homeless`` are edits to entries that the next forge doesn't have, ``overruled`` those that it
    knows better; both are cut-outs of the document, None where there are none.
    """

    value: _Value
    homeless: JsonValue = None
    overruled: JsonValue = None


def merged(base: JsonObject, theirs: JsonObject, ours: JsonObject, gone: Iterable[str]) -> Merge:
    """Merge what was written (``base``), what is there (``theirs``) and what is generated now.

    ``gone`` are models that were generated before and no longer are: what refers to them is
    homeless.
    """
    return _Merging(frozenset(gone)).mapping(base, theirs, ours)


@dataclass(frozen=True, slots=True)
class _Merging:
    gone_models: frozenset[str]
    gone_columns: frozenset[str] = frozenset()

    def value(self, key: str, base: _Value, theirs: _Value, ours: _Value) -> Merge:
        """Merge the values of a key."""
        if theirs in (base, ours):
            return Merge(ours)
        versions = (base, theirs, ours)
        if isinstance(theirs, dict) and isinstance(ours, dict | _Missing):
            return self.mapping(*(each if isinstance(each, dict) else {} for each in versions))
        if isinstance(theirs, list) and isinstance(ours, list | _Missing):
            return self.items(key, *(each if isinstance(each, list) else [] for each in versions))
        is_known_better = key in OVERRULED and ours != base and not isinstance(ours, _Missing)
        if is_known_better and not isinstance(theirs, _Missing):
            return Merge(ours, overruled=theirs)
        if key == _VERSION and ours != base and higher_version(str(ours), str(theirs)) == ours:
            return Merge(ours)
        return Merge(theirs)

    def mapping(self, base: JsonObject, theirs: JsonObject, ours: JsonObject) -> Merge:
        """Merge mappings key by key, in the person's order."""
        columns, now = (
            frozenset().union(*(_names(each.get(key)) for key in _COLUMNS)) for each in (base, ours)
        )
        inside = _Merging(self.gone_models, columns - now) if columns else self
        parts = {
            key: inside.value(key, *(each.get(key, MISSING) for each in (base, theirs, ours)))
            for key in _woven(list(theirs), list(ours))
        }
        values = {key: part.value for key, part in parts.items()}
        homeless = {key: part.homeless for key, part in parts.items()}
        overruled = {key: part.overruled for key, part in parts.items()}
        filled = {key: value for key, value in values.items() if not isinstance(value, _Missing)}
        return Merge(filled or MISSING, _said(homeless), _said(overruled))

    def items(
        self,
        key: str,
        base: Sequence[JsonValue],
        theirs: Sequence[JsonValue],
        ours: Sequence[JsonValue],
    ) -> Merge:
        """Merge lists item by item."""
        before, there, now = map(_by_identity, (base, theirs, ours))
        parts = [
            self._item(key, *(each.get(name, MISSING) for each in (before, there, now)))
            for name in _woven(list(there), list(now))
        ]
        return Merge(
            [part.value for part in parts if not isinstance(part.value, _Missing)] or MISSING,
            [part.homeless for part in parts if part.homeless is not None] or None,
            [part.overruled for part in parts if part.overruled is not None] or None,
        )

    def _item(self, key: str, base: _Value, theirs: _Value, ours: _Value) -> Merge:
        if isinstance(ours, _Missing) and not isinstance(theirs, _Missing):
            if isinstance(base, _Missing):
                return self._own_item(theirs)
            # It's no longer generated: what the person added to it has no place any more.
            return Merge(MISSING, _added_to(base, theirs) if theirs != base else None)
        merge = self.value(key, base, theirs, ours)
        entry = _stub(theirs if isinstance(ours, _Missing) else ours)
        return Merge(
            merge.value,
            None if merge.homeless is None else _overlaid(entry, merge.homeless),
            None if merge.overruled is None else _overlaid(entry, merge.overruled),
        )

    def _own_item(self, item: JsonValue) -> Merge:
        """Keep what a person added, but for what needs a model or a column that is gone.

        An exposure depends on a list of models, each of which can be left out.
        """
        if not self._is_homeless(item):
            return Merge(item)
        models = item.get("depends_on") if isinstance(item, dict) else None
        if isinstance(item, dict) and isinstance(models, list):
            rest = [model for model in models if not self._is_homeless(model)]
            exposure: JsonObject = {**item, "depends_on": rest}
            if not self._is_homeless(exposure):
                return Merge(exposure, item)
        return Merge(MISSING, item)

    def _is_homeless(self, value: JsonValue) -> bool:
        return any(
            text in self.gone_columns or self.gone_models.intersection(_REFERENCE.findall(text))
            for text in _texts(value)
        )


def _said(parts: JsonObject) -> JsonValue:
    return {key: part for key, part in parts.items() if part is not None} or None


def joined(first: JsonObject, second: JsonObject) -> JsonObject:
    """Return the cut-outs of two documents, or of two forges, as one; the second one's win."""
    result = _overlaid(first, second)
    return result if isinstance(result, dict) else {}


def entries(cut_out: JsonValue, place: str = "") -> Iterator[str]:
    """Yield where the edits of a cut-out are: ``dim_customers.city: description``."""
    if not isinstance(cut_out, dict):
        return
    inside = {
        key: part for key, part in cut_out.items() if key in STRUCTURE and not isinstance(part, str)
    }
    own = [key for key in cut_out if key not in _NAMES and key not in inside]
    if place and own:
        yield f"{place}: {', '.join(own)}"
    for key, part in cut_out.items():
        if isinstance(part, dict) and key in inside:
            yield from entries(part, place)
        if isinstance(part, list) and (key in inside or not place):
            for item in part:
                inner = f"{place}.{_name(item)}" if place else str(_name(item))
                yield from entries(item, inner) if key in inside else [f"{key}: {inner}"]


def identity(item: JsonValue) -> str:
    """Return what an item of a list is recognized by, before and after it was edited."""
    return _name(item) or to_json(item).decode()


def _name(item: JsonValue) -> str | None:
    if not isinstance(item, dict):
        return None
    if (key := _name_key(item)) is not None:
        return str(item[key])
    kinds = [kind for kind, inner in item.items() if isinstance(inner, dict) and "name" in inner]
    return f"{kinds[0]}: {_name(item[kinds[0]])}" if len(item) == len(kinds) == 1 else None


def _name_key(item: JsonObject) -> str | None:
    return next((key for key in _NAMES if isinstance(item.get(key), str)), None)


def _stub(item: _Value) -> JsonObject:
    """Return of an entry only what it is recognized by."""
    if not isinstance(item, dict) or _name(item) is None:
        return {}
    if (key := _name_key(item)) is not None:
        return {key: item[key]}
    return {kind: _stub(inner) for kind, inner in item.items()}


def _by_identity(items: Iterable[JsonValue]) -> dict[str, JsonValue]:
    """Return items by what they're recognized by; of several alike, each later one is numbered."""
    found: dict[str, JsonValue] = {}
    seen: Counter[str] = Counter()
    for item in items:
        name = identity(item)
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} ({seen[name]})"] = item
    return found


def _names(items: object) -> frozenset[str]:
    there = items if isinstance(items, list) else []
    return frozenset(name for item in there if (name := _name(item)) is not None)


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _added_to(base: _Value, theirs: JsonValue) -> JsonValue:
    """Return what a person changed in an entry or added to it, with the entry's name."""
    if isinstance(base, list) and isinstance(theirs, list):
        before = _by_identity(base)
        now = _by_identity(theirs)
        return [
            _added_to(before.get(name, MISSING), item)
            for name, item in now.items()
            if name not in before or before[name] != item
        ]
    if not isinstance(base, dict) or not isinstance(theirs, dict):
        return theirs
    added: JsonObject = {
        key: _added_to(base.get(key, MISSING), part)
        for key, part in theirs.items()
        if key not in base or part != base[key]
    }
    return _overlaid(_stub(theirs), added)


def _overlaid(below: JsonValue, above: JsonValue) -> JsonValue:
    if isinstance(below, dict) and isinstance(above, dict):
        return below | {
            key: _overlaid(below[key], part) if key in below else part
            for key, part in above.items()
        }
    if isinstance(below, list) and isinstance(above, list):
        there = _by_identity(below)
        for name, item in _by_identity(above).items():
            there[name] = _overlaid(there[name], item) if name in there else item
        return list(there.values())
    return above


def _woven(theirs: Sequence[str], ours: Sequence[str]) -> list[str]:
    """Return the person's order, with each new name behind the one that it follows in ours."""
    followers: dict[str | None, list[str]] = {}
    previous, known = None, set(theirs)
    for name in ours:
        if name in known:
            previous = name
        else:
            followers.setdefault(previous, []).append(name)
    result = [*followers.get(None, [])]
    for name in theirs:
        result += [name, *followers.get(name, [])]
    return result
