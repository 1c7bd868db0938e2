"""The differences of two contracts or of two models, and the version that they ask for."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from fluid_build.contract.differences.change import DocumentChange, Level
from fluid_build.contract.differences.comparing import Document, Place, compare
from fluid_build.contract.differences.contract_fields import CONTRACT
from fluid_build.contract.differences.model_fields import MODEL
from fluid_build.contract.differences.reading import Comparable
from fluid_build.contract.differences.rule_strength import ACCEPTED_VALUES
from fluid_build.contract.lineage import origins_of
from fluid_build.errors import UsageError
from fluid_build.modeling.evolution import EMPTIED, GONE
from fluid_build.text import counted, listed_up_to

# The next semantic version that changes ask for (https://semver.org).

Bump = Literal["none", "patch", "minor", "major"]
_LEVELS: dict[Bump, Level] = {"major": "breaking", "minor": "additive", "patch": "cosmetic"}
_MOST_NAMED = 3
"""Names in a reason; the others are counted."""
_GRAVEST_FIRST = (
    *(("expose", ""), ("column", ""), ("expose", "description"), ("column", "type")),
    *(("expose", "key"), ("column", "description"), ("column", "required")),
)
"""What a change is of, by kind and field: what is gone, values of another kind, other rows, nulls.

Words only count where they say that a relation is loaded no more, or a column's values are gone.
"""
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


def bump_of(changes: Iterable[DocumentChange]) -> Bump:
    """Return major where something breaks, minor where something is added, else patch.

    It's none where at most figures have moved.
    """
    levels = {change.level for change in changes if not change.is_of_the_day}
    if "breaking" in levels:
        return "major"
    if "additive" in levels:
        return "minor"
    return "patch" if levels else "none"


def next_version(version: str, bump: Bump) -> str | None:
    """Return the version after a bump, without pre-release and build; None for a non-version."""
    match = _VERSION.fullmatch(version)
    if match is None or max(map(len, match.groups()[:3])) > 18:
        return None
    major, minor, patch = (int(part) for part in match.groups()[:3])
    if bump == "major":
        return f"{major + 1}.0.0"
    if bump == "minor":
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}" if bump == "patch" else version


def _numbers(version: str) -> tuple[int, ...]:
    match = _VERSION.fullmatch(version)
    return tuple(int(part) for part in match.groups()[:3]) if match else ()


def highest_version(document: Document) -> str:
    """Return the highest version of what a contract exposes, "" without one.

    A contract has no version of its own.
    """
    exposes = document.get("exposes")
    versions = [
        str(expose.get("version"))
        for expose in (exposes if isinstance(exposes, list) else ())
        if isinstance(expose, dict)
    ]
    return higher_version(*versions)


def higher_version(*versions: str) -> str:
    """Return the highest of some versions by number; "" where none is one."""
    return max((each for each in versions if _numbers(each)), key=_numbers, default="")


@dataclass(frozen=True, slots=True)
class VersionAdvice:
    """The version of an expose in both documents, and the one that its changes ask for."""

    expose_id: str
    old: str
    new: str
    suggested: str
    bump: Bump

    @property
    def is_followed(self) -> bool:
        """Whether the new document has that version already, or a higher one."""
        return _numbers(self.new) >= _numbers(self.suggested)


@dataclass(frozen=True, slots=True)
class Differences:
    """All changes in the order of the documents, and the version that they require."""

    kind: str
    changes: tuple[DocumentChange, ...]
    bump: Bump
    versions: tuple[VersionAdvice, ...] = ()

    def of(self, level: Level) -> Sequence[DocumentChange]:
        """Return the changes of one level."""
        return [change for change in self.changes if change.level == level]

    @property
    def breaks(self) -> bool:
        """Whether a reader of the data may have to change something."""
        return any(change.level == "breaking" for change in self.changes)


@dataclass(frozen=True, slots=True)
class NextVersion:
    """The version of a contract, and the next one with the reason; "" where nothing changed."""

    version: str
    next: str
    bump: Bump = "none"
    reason: str = ""


def version_after(version: str, found: Differences, taken: Set[str] = frozenset()) -> NextVersion:
    """Return the version that a contract has after changes.

    ``version`` is the one that its readers know. Versions that are ``taken`` said something else.
    """
    level = _LEVELS.get(found.bump)
    why = [each for each in found.changes if each.level == level and not each.is_of_the_day]
    reason = _gone(found.changes, why) or _reason(why)
    following = next_version(version, found.bump)
    while found.bump != "none" and following is not None and following in taken:
        following = next_version(following, found.bump)
    return NextVersion(version, following or version, found.bump, reason)


def _gone(changes: Sequence[DocumentChange], why: Sequence[DocumentChange]) -> str:
    """Return what is loaded no more, where the rest follows from that; "" elsewhere.

    What comes or goes as a whole is a reason of its own.
    """
    if any(each.kind in {"expose", "column"} and not each.field for each in why):
        return ""
    relations = [each for each in why if (each.kind, each.field) == ("expose", "description")]
    if relations and relations[0].level != "cosmetic":
        return _loaded(relations)
    described = [each for each in changes if each.kind == "column" and each.field == "description"]
    emptied = [each for each in described if _begins_with(EMPTIED, each)]
    gone = [each for each in described if _begins_with(GONE, each)]
    if emptied:
        return f"{_columns(emptied)} null in all rows, as the source no longer has what was there"
    if not gone:
        return ""
    nullable = {each.names for each in why if each.field == "required" and each.level == "breaking"}
    more = ", and may be null" if any(each.names in nullable for each in gone) else ""
    return f"{_columns(gone)} loaded no more{more}"


def _begins_with(words: str, change: DocumentChange) -> bool:
    return words in change.after and words not in change.before


def _loaded(changes: Sequence[DocumentChange]) -> str:
    """Return which relations are loaded no more or again; inside of one, it's without a name."""
    names = [each.names[0] for each in changes if each.names]
    what = listed_up_to(_MOST_NAMED, names) if names else "it"
    ending = "no more" if changes[0].level == "breaking" else "again"
    return f"{what} {'are' if len(names) > 1 else 'is'} loaded {ending}"


def _columns(changes: Sequence[DocumentChange]) -> str:
    names = [f"{each.names[-1]}{_of(each)}" for each in changes]
    if len(names) == 1:
        return f"column {names[0]} is"
    return f"columns {listed_up_to(_MOST_NAMED, names)} are"


def _reason(changes: Sequence[DocumentChange]) -> str:
    """Return the gravest change that a version rests on, and how many more there are."""
    if not changes:
        return ""
    first = min(changes, key=_gravity)
    more = f", and {counted(len(changes) - 1, 'more change')}" if len(changes) > 1 else ""
    what = f"{first.kind} {first.names[-1]}{_of(first)}" if first.names else first.kind
    if first.field == "required":
        return f"{what} {'is never null' if first.level == 'additive' else 'may be null'}{more}"
    if first.field == ACCEPTED_VALUES and first.level == "breaking":
        return f"{what} accepts other values{more}"
    if not first.field:
        return f"{what} is {first.action}{more}"
    values = f" {first.before} → {first.after}" if first.before and first.after else ""
    return f"{first.field} of {what} is {first.action}{values}{more}"


def _gravity(change: DocumentChange) -> tuple[int, bool]:
    of = (change.kind, change.field)
    grave = _GRAVEST_FIRST.index(of) if of in _GRAVEST_FIRST else len(_GRAVEST_FIRST)
    return grave, bool(change.field)


def _of(change: DocumentChange) -> str:
    return f" of {change.names[0]}" if len(change.names) > 1 else ""


def why_readers_break(found: Differences) -> dict[str, str]:
    """Return why each expose breaks its readers, the gravest first, without naming it again."""
    breaking = sorted(found.of("breaking"), key=_gravity)
    names = dict.fromkeys(each.names[0] for each in breaking if each.names)
    reasons = {}
    for name in names:
        own = [_inside(each) for each in found.changes if each.names[:1] == (name,)]
        why = [each for each in own if each.level == "breaking"]
        reasons[name] = _gone(own, why) or _reason(why)
    return reasons


def _inside(change: DocumentChange) -> DocumentChange:
    """Return a change with its names inside of the expose; rules begin with the name of that."""
    expose, *names = change.names
    return replace(change, names=tuple(name.removeprefix(f"{expose}.") for name in names))


def differences(old: Comparable, new: Comparable) -> Differences:
    """Return what changed between two contracts or two models; UsageError for one of each."""
    if old.kind != new.kind:
        raise UsageError(
            f"{old.path} is a {old.kind} and {new.path} is a {new.kind}.",
            hint="Compare two contracts, two models or two folders that `fluid forge` wrote.",
        )
    fields = CONTRACT if old.kind == "contract" else MODEL
    origins = origins_of(old.document.get("lineage")), origins_of(new.document.get("lineage"))
    place = Place(old.kind, origins=origins)
    changes = tuple(compare(fields, place, old.document, new.document))
    versions = _advice(old.document, new.document, changes) if old.kind == "contract" else ()
    return Differences(old.kind, changes, bump_of(changes), versions)


def _advice(
    old: Document, new: Document, changes: Sequence[DocumentChange]
) -> tuple[VersionAdvice, ...]:
    """Return, for each expose that has a version in both documents and changed."""
    before = {expose["exposeId"]: expose.get("version") for expose in old["exposes"]}
    advice = []
    for expose in new["exposes"]:
        id_, version = expose["exposeId"], expose.get("version")
        own = [change for change in changes if change.names[:1] == (id_,)]
        bump, earlier = bump_of(own), before.get(id_)
        suggested = next_version(earlier, bump) if earlier else None
        if bump != "none" and earlier and version and suggested:
            advice.append(VersionAdvice(id_, earlier, version, suggested, bump))
    return tuple(advice)
