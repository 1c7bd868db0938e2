"""What is known to be true of a database: its keys, references, names and descriptions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    Describe,
    DropRelationship,
    Rename,
    SetKey,
)
from fluid_build.demo import truth_of_shop
from fluid_build.errors import DecisionProblem, FaultyFileError
from fluid_build.profiling.profile import ForeignKey
from fluid_build.regular_files import read_regular

TRUTH_FILE = "truth.json"
_MOST_BYTES = 64 * 1024 * 1024
_SAME_THING = 1 / 3
"""Of the words that a true description has: people who describe the same thing in their own words
share about that many of the longer ones."""
_LONG_WORD = 5
"""Letters of a word that says something, as most shorter ones are particles; and so many at its
beginning tell it from others, whatever its inflection."""
_JUDGED = (AddRelationship, Describe, DropRelationship, Rename, SetKey)


class _Known(BaseModel):
    model_config = ConfigDict(frozen=True)


class TrueTable(_Known):
    """A table and its key, None where it has none. ``pk_holds`` says that the data obeys it."""

    primary_key: tuple[str, ...] | None = None
    rows: int | None = None
    pk_holds: bool = True

    @property
    def is_findable(self) -> bool:
        """Whether the data can show the key."""
        return bool(self.primary_key) and self.rows != 0 and self.pk_holds


class TrueReference(_Known):
    """A reference. One that isn't ``supported`` by the data counts neither way."""

    from_table: str
    from_columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]
    supported: bool = True


class TrueName(_Known):
    """The names that a table or a column may have in the model."""

    table: str
    column: str | None = None
    names: tuple[str, ...]

    @property
    def unsaid(self) -> str:
        """What it's called where nobody renames it."""
        return self.column or self.table

    def fits(self, name: str) -> bool:
        """Return whether a name is one of them, in whatever style: ``CategoryId``."""
        return _letters(name) in map(_letters, self.names)


class TrueDescription(_Known):
    """What a table or a column is."""

    table: str
    column: str | None = None
    text: str
    unsaid: ClassVar[str] = ""

    @property
    def telling_words(self) -> set[str]:
        """The words besides the name: who repeats that says nothing."""
        return _stems(self.text) - _stems(f"{self.table} {self.column or ''}")

    def fits(self, text: str) -> bool:
        """Return whether a text is about the same thing."""
        words = self.telling_words
        return len(words & _stems(text)) >= _SAME_THING * len(words) > 0


class Truth(_Known):
    """What is known of a database. What isn't listed of names and descriptions isn't judged.

    Where ``is_whole``, a reference that isn't listed is false, and a table without a key has none.
    Otherwise only what is listed is judged, and ``denied`` are the false references.
    """

    tables: Mapping[str, TrueTable] = {}
    foreign_keys: tuple[TrueReference, ...] = ()
    denied: tuple[TrueReference, ...] = ()
    names: tuple[TrueName, ...] = ()
    descriptions: tuple[TrueDescription, ...] = ()
    is_whole: bool = True


def read_truth(path: Path) -> Truth:
    """Return the truth in a file; raise FaultyFileError with everything that is wrong in it."""
    text = read_regular(path, _MOST_BYTES, too_large="Split the database.")
    try:
        return Truth.model_validate_json(text)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        problems = [
            DecisionProblem(f"{'.'.join(map(str, each['loc'])) or 'the file'}: {each['msg']}.")
            for each in faults
        ]
        raise FaultyFileError(str(path), problems) from None


def shop_truth() -> Truth:
    """Return the truth of the demo."""
    return Truth.model_validate_json(truth_of_shop())


def decided_truth(decisions: Sequence[AnyDecision]) -> Truth:
    """Return what a person has decided; a later decision wins over an earlier one."""
    mine = [each for each in decisions if each.by == "person"]
    references = {
        identity(each): each
        for each in mine
        if isinstance(each, AddRelationship | DropRelationship)
    }
    names = {_place(each): each for each in mine if isinstance(each, Rename) and each.table}
    texts = {_place(each): each for each in mine if isinstance(each, Describe) and each.table}
    return Truth(
        tables={
            each.table: TrueTable(primary_key=each.columns, pk_holds=not each.despite_violations)
            for each in mine
            if isinstance(each, SetKey)
        },
        foreign_keys=tuple(
            _reference(each, supported=not each.despite_violations)
            for each in references.values()
            if isinstance(each, AddRelationship)
        ),
        denied=tuple(
            _reference(each) for each in references.values() if isinstance(each, DropRelationship)
        ),
        names=tuple(
            TrueName(table=table, column=column, names=(each.new_name,))
            for (table, column), each in names.items()
        ),
        descriptions=tuple(
            TrueDescription(table=table, column=column, text=each.text)
            for (table, column), each in texts.items()
        ),
        is_whole=False,
    )


def undecided(decisions: Iterable[AnyDecision]) -> tuple[AnyDecision, ...]:
    """Return a person's decisions without those that are judged: models have to find them."""
    return tuple(d for d in decisions if d.by == "person" and not isinstance(d, _JUDGED))


def identity(reference: TrueReference | ForeignKey | AddRelationship | DropRelationship) -> object:
    """Return a reference without the order of its columns and the case of its names."""
    child, parent = reference.from_table.casefold(), reference.to_table.casefold()
    pairs = zip(reference.from_columns, reference.to_columns, strict=True)
    return child, frozenset((a.casefold(), b.casefold()) for a, b in pairs), parent


def _reference(
    decision: AddRelationship | DropRelationship, *, supported: bool = True
) -> TrueReference:
    known = TrueReference.model_validate(decision, from_attributes=True)
    return known.model_copy(update={"supported": supported})


def _place(decision: Rename | Describe) -> tuple[str, str | None]:
    return decision.table or "", decision.column


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


def _stems(text: str) -> set[str]:
    """Return the beginnings of the words that say something."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return {word[:_LONG_WORD] for word in words if len(word) >= _LONG_WORD}
