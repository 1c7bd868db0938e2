"""The differences of two contracts or of two models, and the version that they ask for."""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.contract.differences.change import DocumentChange, Level
from fluid_build.contract.differences.comparing import Document, Place, compare
from fluid_build.contract.differences.contract_fields import CONTRACT
from fluid_build.contract.differences.model_fields import MODEL
from fluid_build.contract.differences.reading import Comparable
from fluid_build.contract.differences.versions import Bump, bump_of, next_version
from fluid_build.errors import UsageError


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
        """Whether the new document has that version already."""
        return self.new == self.suggested


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


def differences(old: Comparable, new: Comparable) -> Differences:
    """Return what changed between two contracts or two models; UsageError for one of each."""
    if old.kind != new.kind:
        raise UsageError(
            f"{old.path} is a {old.kind} and {new.path} is a {new.kind}.",
            hint="Compare two contracts, two models or two folders that `fluid forge` wrote.",
        )
    fields = CONTRACT if old.kind == "contract" else MODEL
    changes = tuple(compare(fields, Place(old.kind), old.document, new.document))
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
