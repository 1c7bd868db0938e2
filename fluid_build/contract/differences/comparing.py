"""How two documents are compared: a treatment for each field, and one for all that has none.

A treatment gets the old and the new value of a field (``ABSENT`` where there is none), which
differ, and gives the changes that this means to a reader of the data. Whatever no treatment
takes for a change is at least a cosmetic one, so that no difference goes unsaid.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from fluid_build.contract.column_types import holds_all, value_type
from fluid_build.contract.differences.change import Action, DocumentChange, Level
from fluid_build.contract.lineage import Origins
from fluid_build.contract.printable import escaped, shown
from fluid_build.text import listed_up_to

Document = Mapping[str, Any]
_KEYS_SHOWN = 5


class Absent:
    """The type of ``ABSENT``, a missing value; null isn't missing."""

    def __bool__(self) -> bool:
        return False


ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class Place:
    """The element and the field that a comparison is at.

    ``origins`` are those of the columns of both documents.
    """

    kind: str
    names: tuple[str, ...] = ()
    field: str = ""
    origins: tuple[Origins, Origins] = ({}, {})

    def at(self, field: str) -> "Place":
        """Return a field of the same element, inside the one that this is, if it is one."""
        return replace(self, field=f"{self.field}.{field}" if self.field else field)

    def change(self, level: Level, old: object, new: object, reason: str) -> DocumentChange:
        """Return the change of this field."""
        before, after = _describe_both(old, new, self.field.rpartition(".")[2])
        return DocumentChange(
            level=level,
            action=_action(old, new),
            kind=self.kind,
            names=self.names,
            field=self.field,
            before=before,
            after=after,
            reason=reason,
        )


Treatment = Callable[[Place, Any, Any], Iterator[DocumentChange]]
Origin = Callable[[Document, tuple[str, ...], Origins], object]
"""What an element is made of, by its names and the origins of the columns of its document."""
Derived = Callable[[Place, Document, Document], Iterator[DocumentChange]]


@dataclass(frozen=True, slots=True)
class Fields:
    """The treatments of a mapping's fields; ``derived`` compares what follows from several."""

    treatments: Mapping[str, Treatment]
    others: Treatment
    derived: Sequence[Derived] = ()


@dataclass(frozen=True, slots=True)
class ElementKind:
    """Elements of a list that are identified by a name."""

    name: str
    identity: Callable[[Document], str]
    fields: Fields
    origin: Origin = field(default=lambda _element, _names, _origins: None)
    """Alike in two elements, one is probably the other renamed."""


def compare(fields: Fields, place: Place, old: Document, new: Document) -> Iterator[DocumentChange]:
    """Return the changes between two mappings, in the order of the new one's fields."""
    silent = []
    for name in dict.fromkeys((*new, *old)):
        before, after = old.get(name, ABSENT), new.get(name, ABSENT)
        if same(before, after):
            continue
        at = place.at(name)
        changes = list(fields.treatments.get(name, fields.others)(at, before, after))
        yield from changes
        if not changes:
            silent.append(
                at.change("cosmetic", before, after, "Same meaning, written differently.")
            )
    following = [change for derived in fields.derived for change in derived(place, old, new)]
    # A field that no treatment reported may be part of what was derived.
    yield from following or silent


def same(old: object, new: object) -> bool:
    """Return whether two JSON values are equal; true is not 1, and 1 is 1.0."""
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(same(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same, old, new))
    return old == new


def cosmetic(reason: str) -> Treatment:
    """Return the treatment of a field that promises nothing."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
        yield place.change("cosmetic", old, new, reason)

    return treat


def promise(reason: str) -> Treatment:
    """Return the treatment of a field that readers count on: only adding it is harmless."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
        level: Level = "additive" if old is ABSENT else "breaking"
        yield place.change(level, old, new, reason)

    return treat


def restriction(reason: str) -> Treatment:
    """Return the treatment of a field that binds readers: only removing it is harmless."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
        level: Level = "additive" if new is ABSENT else "breaking"
        yield place.change(level, old, new, reason)

    return treat


def flag(reason: str) -> Treatment:
    """Return the treatment of a promise that is true or false; absent is false."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
        if bool(old) != bool(new):
            yield place.change("additive" if new else "breaking", old, new, reason)

    return treat


def ranked(order: Callable[[Any], float], reason: str) -> Treatment:
    """Return the treatment of a promise with an order: more is additive.

    ``order`` raises ValueError for a value that has no place in it.
    """

    def treat(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
        if old is ABSENT or new is ABSENT:
            yield from promise(reason)(place, old, new)
            return
        try:
            before, after = order(old), order(new)
        except ValueError:
            yield place.change("breaking", old, new, reason)
            return
        if before != after:
            yield place.change("additive" if after > before else "breaking", old, new, reason)

    return treat


def column_type(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
    """Compare column types: a wider one has room for every old value, any other breaks."""
    try:
        before, after = value_type(old), value_type(new)
    except (ValueError, AttributeError):
        yield from promise("The type has changed.")(place, old, new)
        return
    if before == after:
        return
    if holds_all(after, before):
        yield place.change("additive", old, new, "The type is wider: every old value still fits.")
    elif holds_all(before, after):
        yield place.change("breaking", old, new, "The type is narrower: some values no longer fit.")
    else:
        yield place.change("breaking", old, new, "The type has changed.")


def values_list(reason: str) -> Treatment:
    """Return the treatment of a list of all values: fewer promise more, more promise less."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
        before, after = old or [], new or []
        if not before or not after:
            level: Level = "additive" if after else "breaking"
        elif set(before) == set(after):
            return
        else:
            level = "additive" if set(after) < set(before) else "breaking"
        yield place.change(level, _in_words(old), _in_words(new), reason)

    return treat


def _in_words(listed: Any) -> Any:
    return ", ".join(map(str, listed)) if isinstance(listed, list) and listed else ABSENT


def part(fields: Fields) -> Treatment:
    """Return the treatment of a mapping, field by field; absent is empty."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
        before = old if isinstance(old, dict) else {}
        after = new if isinstance(new, dict) else {}
        yield from compare(fields, place, before, after)

    return treat


def elements(kind: ElementKind) -> Treatment:
    """Return the treatment of a list: losing an element breaks, a new one adds."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
        before, after = _by_name(kind, old), _by_name(kind, new)
        gone = [name for name in before if name not in after]
        come = [name for name in after if name not in before]
        origins = (
            [(kind.origin(side[name], (*place.names, name), known), name) for name in names]
            for side, names, known in zip((before, after), (gone, come), place.origins, strict=True)
        )
        renamed = _find_renamed(*origins)
        for name in gone:
            yield _added_or_removed(kind, place, name, "removed", renamed.get(name))
        for name, element in after.items():
            if name not in before:
                yield _added_or_removed(kind, place, name, "added", None)
            else:
                here = Place(kind.name, (*place.names, name), origins=place.origins)
                yield from compare(kind.fields, here, before[name], element)
        staying = [name for name in before if name in after]
        if staying != [name for name in after if name in before]:
            yield place.change("cosmetic", old, new, "The order has changed.")

    return treat


def _added_or_removed(
    kind: ElementKind, place: Place, name: str, action: Action, renamed_to: str | None
) -> DocumentChange:
    went = action == "removed"
    reason = (
        f"This breaks readers of the {kind.name}." if went else "It's new, so nobody reads it yet."
    )
    return DocumentChange(
        level="breaking" if went else "additive",
        action=action,
        kind=kind.name,
        names=(*place.names, name),
        reason=reason,
        renamed_to=renamed_to,
    )


def _by_name(kind: ElementKind, listed: Any) -> dict[str, Document]:
    """Return the elements by name; those that share a name get a number."""
    seen: Counter[str] = Counter()
    elements_by_name: dict[str, Document] = {}
    for element in listed or ():
        name = kind.identity(element)
        seen[name] += 1
        elements_by_name[name if seen[name] == 1 else f"{name} ({seen[name]})"] = element
    return elements_by_name


def _find_renamed(
    olds: Sequence[tuple[object, str]], news: Sequence[tuple[object, str]]
) -> dict[str, str]:
    """Return the new names of removed elements, where one added element has the same origin."""
    new_names = {}
    for origin, name in olds:
        if origin is None or sum(same(origin, other) for other, _ in olds) > 1:
            continue
        fitting = [new for other, new in news if same(origin, other)]
        if len(fitting) == 1:
            new_names[name] = fitting[0]
    return new_names


def _describe_both(old: object, new: object, key: str) -> tuple[str, str]:
    """Describe both values; of two mappings, return the keys that differ as ``after``."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = [k for k in dict.fromkeys((*new, *old)) if not same(old.get(k), new.get(k))]
        return "", listed_up_to(_KEYS_SHOWN, [f"`{escaped(key)}`" for key in keys])
    return (
        "" if old is ABSENT else shown(old, key),
        "" if new is ABSENT else shown(new, key),
    )


def _action(old: object, new: object) -> Action:
    if old is ABSENT:
        return "added"
    return "removed" if new is ABSENT else "changed"
