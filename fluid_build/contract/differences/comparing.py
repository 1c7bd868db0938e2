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
from fluid_build.contract.differences.change import Action, Difference, Level
from fluid_build.contract.printable import escaped, shown
from fluid_build.text import listed_up_to

Document = Mapping[str, Any]
_KEYS_SHOWN = 5


class Absent:
    """What stands for a value that is not there; null is one that is."""

    def __bool__(self) -> bool:
        return False


ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the documents a comparison is: in which element, at which of its fields."""

    kind: str
    names: tuple[str, ...] = ()
    field: str = ""

    def at(self, field: str) -> "Place":
        """A field of the same element, inside the one that this is, if it is one."""
        return replace(self, field=f"{self.field}.{field}" if self.field else field)

    def change(self, level: Level, old: object, new: object, reason: str) -> Difference:
        """The change of this field."""
        before, after = _both_shown(old, new, self.field.rpartition(".")[2])
        return Difference(
            level=level,
            action=_action(old, new),
            kind=self.kind,
            names=self.names,
            field=self.field,
            before=before,
            after=after,
            reason=reason,
        )


Treatment = Callable[[Place, Any, Any], Iterator[Difference]]
Derived = Callable[[Place, Document, Document], Iterator[Difference]]


@dataclass(frozen=True, slots=True)
class Fields:
    """The treatments of a mapping's fields; ``derived`` compares what follows from several."""

    treatments: Mapping[str, Treatment]
    others: Treatment
    derived: Sequence[Derived] = ()


@dataclass(frozen=True, slots=True)
class ElementKind:
    """Elements of a list that are told apart by a name."""

    name: str
    identity: Callable[[Document], str]
    fields: Fields
    origin: Callable[[Document], object] = field(default=lambda _element: None)
    """What an element is made of: alike in two elements, one is probably the other renamed."""


def compare(fields: Fields, place: Place, old: Document, new: Document) -> Iterator[Difference]:
    """The changes between two mappings, in the order of the new one's fields."""
    silent = []
    for name in dict.fromkeys((*new, *old)):
        before, after = old.get(name, ABSENT), new.get(name, ABSENT)
        if same(before, after):
            continue
        at = place.at(name)
        found = list(fields.treatments.get(name, fields.others)(at, before, after))
        yield from found
        if not found:
            silent.append(
                at.change("cosmetic", before, after, "Same meaning, written differently.")
            )
    following = [change for derived in fields.derived for change in derived(place, old, new)]
    # A field that no treatment speaks of may be a part of what was derived.
    yield from following or silent


def same(one: object, other: object) -> bool:
    """Whether two JSON values are equal; true is not 1, and 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def cosmetic(reason: str) -> Treatment:
    """A field that promises nothing."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[Difference]:
        yield place.change("cosmetic", old, new, reason)

    return treat


def promise(reason: str) -> Treatment:
    """A field that readers count on: only to add it is harmless."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[Difference]:
        level: Level = "additive" if old is ABSENT else "breaking"
        yield place.change(level, old, new, reason)

    return treat


def restriction(reason: str) -> Treatment:
    """A field that binds readers: only to lift it is harmless."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[Difference]:
        level: Level = "additive" if new is ABSENT else "breaking"
        yield place.change(level, old, new, reason)

    return treat


def flag(reason: str) -> Treatment:
    """A promise that is true or false; absent is false."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[Difference]:
        if bool(old) != bool(new):
            yield place.change("additive" if new else "breaking", old, new, reason)

    return treat


def ranked(order: Callable[[Any], float], reason: str) -> Treatment:
    """A promise that is more or less: more is additive. ``order`` raises ValueError without one."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[Difference]:
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


def column_type(place: Place, old: Any, new: Any) -> Iterator[Difference]:
    """The type of a column: a wider one holds every value of the old, any other breaks."""
    try:
        before, after = value_type(old), value_type(new)
    except (ValueError, AttributeError):
        yield from promise("The values have another type.")(place, old, new)
        return
    if before == after:
        return
    if holds_all(after, before):
        yield place.change("additive", old, new, "The type is wider: every old value still fits.")
    elif holds_all(before, after):
        yield place.change("breaking", old, new, "The type is narrower: some values no longer fit.")
    else:
        yield place.change("breaking", old, new, "The values have another type.")


def values_list(reason: str) -> Treatment:
    """A list of all values that occur: fewer are a stronger promise, more a weaker one."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[Difference]:
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
    """A mapping of which each field is treated by itself; absent is empty."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[Difference]:
        before = old if isinstance(old, dict) else {}
        after = new if isinstance(new, dict) else {}
        yield from compare(fields, place, before, after)

    return treat


def elements(kind: ElementKind) -> Treatment:
    """A list of elements: to lose one breaks, to gain one adds, their order says nothing."""

    def treat(place: Place, old: Any, new: Any) -> Iterator[Difference]:
        before, after = _by_name(kind, old), _by_name(kind, new)
        gone = [name for name in before if name not in after]
        come = [name for name in after if name not in before]
        renamed = _renamed(kind, {n: before[n] for n in gone}, {n: after[n] for n in come})
        for name in gone:
            yield _came_or_went(kind, place, name, "removed", renamed.get(name))
        for name, element in after.items():
            if name not in before:
                yield _came_or_went(kind, place, name, "added", None)
            else:
                here = Place(kind.name, (*place.names, name))
                yield from compare(kind.fields, here, before[name], element)
        staying = [name for name in before if name in after]
        if staying != [name for name in after if name in before]:
            yield place.change("cosmetic", old, new, "The order has changed.")

    return treat


def _came_or_went(
    kind: ElementKind, place: Place, name: str, action: Action, renamed_to: str | None
) -> Difference:
    went = action == "removed"
    reason = (
        f"This breaks readers of the {kind.name}." if went else "It's new, so nobody reads it yet."
    )
    return Difference(
        level="breaking" if went else "additive",
        action=action,
        kind=kind.name,
        names=(*place.names, name),
        reason=reason,
        renamed_to=renamed_to,
    )


def _by_name(kind: ElementKind, listed: Any) -> dict[str, Document]:
    """The elements by name; those that share one are told apart by their number."""
    seen: Counter[str] = Counter()
    found: dict[str, Document] = {}
    for element in listed or ():
        name = kind.identity(element)
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} ({seen[name]})"] = element
    return found


def _renamed(
    kind: ElementKind, gone: Mapping[str, Document], come: Mapping[str, Document]
) -> dict[str, str]:
    """The new names of elements that are gone, where exactly one that came has the same origin."""
    olds = [(kind.origin(element), name) for name, element in gone.items()]
    news = [(kind.origin(element), name) for name, element in come.items()]
    found = {}
    for origin, name in olds:
        if origin is None or sum(same(origin, other) for other, _ in olds) > 1:
            continue
        fitting = [new for other, new in news if same(origin, other)]
        if len(fitting) == 1:
            found[name] = fitting[0]
    return found


def _both_shown(old: object, new: object, key: str) -> tuple[str, str]:
    """Both values in words; of two mappings the keys that differ, as ``after``."""
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
