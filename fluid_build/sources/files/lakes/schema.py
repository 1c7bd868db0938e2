"""What the schema of a lake's table declares, whichever format it is in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LakeField:
    """A column as the schema declares it."""

    name: str
    nullable: bool = True
    comment: str | None = None
    generated: bool = False


@dataclass(frozen=True, slots=True)
class LakeSchema:
    """What a table's newest schema declares; ``version`` is the name of that version, if any."""

    fields: tuple[LakeField, ...] = ()
    comment: str | None = None
    primary_key: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    version: str = ""
