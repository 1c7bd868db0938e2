"""A change between two versions of a document, and what it means to readers of the data."""

from dataclasses import dataclass
from typing import Literal

from fluid_build.contract.printable import escaped

Level = Literal["breaking", "additive", "cosmetic"]
Action = Literal["added", "removed", "changed"]
LEVELS: tuple[Level, ...] = ("breaking", "additive", "cosmetic")
_LONGEST_NAME = 120
_OF_THE_DAY = frozenset({"version", "labels", "limit", "severity"})
_EVIDENT = frozenset({"rule", "entity"})


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """A difference between two documents.

    ``kind`` is the kind of element (expose, column, rule, measure …) and ``names`` lead to it from
    the outside in; of the document itself there are none. ``field`` is the part of it that
    changed, empty where the element itself came or went. ``before`` and ``after`` are in words,
    safe to print. ``reason`` says why the level is what it is. ``renamed_to`` is the name that a
    removed element probably has now.
    """

    level: Level
    action: Action
    kind: str
    names: tuple[str, ...]
    field: str = ""
    before: str = ""
    after: str = ""
    reason: str = ""
    renamed_to: str | None = None

    @property
    def is_of_the_day(self) -> bool:
        """Whether only what was counted in the rows has changed, or the version itself.

        Labels have figures and notes, and so have the words on rules and entities, whose evidence
        they tell. None of it asks for another version.
        """
        field = self.field.rpartition(".")[2]
        in_words = field == "description" and self.kind in _EVIDENT
        return self.level == "cosmetic" and (field in _OF_THE_DAY or in_words)

    @property
    def path(self) -> str:
        """The names in one text, as ``orders.total``."""
        return escaped(".".join(self.names), longest=_LONGEST_NAME)
