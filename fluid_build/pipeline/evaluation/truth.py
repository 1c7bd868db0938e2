"""What is known to be true of a database: its keys, references, names and descriptions."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

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
from fluid_build.regular_files import read_regular

TRUTH_FILE = "truth.json"
_MOST_BYTES = 64 * 1024 * 1024
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


class TrueDescription(_Known):
    """What a table or a column is."""

    table: str
    column: str | None = None
    text: str


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
    keys: dict[str, TrueTable] = {}
    references: dict[object, tuple[bool, TrueReference]] = {}
    names: dict[object, TrueName] = {}
    texts: dict[object, TrueDescription] = {}
    for each in decisions:
        match each:
            case _ if each.by != "person":
                continue
            case SetKey():
                holds = not each.despite_violations
                keys[each.table] = TrueTable(primary_key=each.columns, pk_holds=holds)
            case AddRelationship() | DropRelationship():
                place = each.from_table, each.from_columns, each.to_table, each.to_columns
                added = isinstance(each, AddRelationship)
                insisted = isinstance(each, AddRelationship) and each.despite_violations
                reference = TrueReference(
                    from_table=each.from_table,
                    from_columns=each.from_columns,
                    to_table=each.to_table,
                    to_columns=each.to_columns,
                    supported=not insisted,
                )
                references[place] = added, reference
            case Rename(table=str(table), column=column, new_name=name):
                names[table, column] = TrueName(table=table, column=column, names=(name,))
            case Describe(table=str(table), column=column, text=text):
                texts[table, column] = TrueDescription(table=table, column=column, text=text)
    return Truth(
        tables=keys,
        foreign_keys=tuple(each for is_true, each in references.values() if is_true),
        denied=tuple(each for is_true, each in references.values() if not is_true),
        names=tuple(names.values()),
        descriptions=tuple(texts.values()),
        is_whole=False,
    )


def undecided(decisions: Iterable[AnyDecision]) -> tuple[AnyDecision, ...]:
    """Return a person's decisions without those that are judged: models have to find them."""
    return tuple(each for each in decisions if each.by == "person" and not _is_judged(each))


def _is_judged(decision: AnyDecision) -> bool:
    return isinstance(decision, _JUDGED)
