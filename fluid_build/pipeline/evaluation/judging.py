"""A forge compared with the truth: each claim is right or wrong, each truth found or missed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    Describe,
    DropRelationship,
    Rename,
    SetKey,
)
from fluid_build.decisions.verdicts import applied
from fluid_build.forging import Forged
from fluid_build.pipeline.evaluation.truth import (
    TrueDescription,
    TrueName,
    TrueReference,
    Truth,
    identity,
)
from fluid_build.profiling.profile import ForeignKey
from fluid_build.text import clip

Kind: TypeAlias = Literal["references", "keys", "names", "descriptions"]
KINDS: tuple[Kind, ...] = get_args(Kind)
State: TypeAlias = Literal["wrong", "missed", "right"]
_MOST_QUOTED = 80


class Subject(NamedTuple):
    """What is judged: a key of a table, a reference, or a name or description of something."""

    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a subject, and what the forge says of it, "" where it says nothing."""

    state: State
    claim: str = ""


Judgements: TypeAlias = Mapping[Subject, Judgement]
Texts: TypeAlias = Mapping[tuple[str, str | None], str]
"""What is said by table and column, None for the table itself; both in small letters."""


def judge(forged: Forged, truth: Truth) -> Judgements:
    """Return what is right, wrong and missing in a forge."""
    decisions = applied(forged.verdicts)
    renamed = {
        _place(each.table, each.column): each.new_name
        for each in decisions
        if isinstance(each, Rename)
    }
    described = {
        _place(each.table, each.column): each.text
        for each in decisions
        if isinstance(each, Describe)
    }
    return {
        **dict(_judged_references(forged, truth)),
        **dict(_judged_keys(forged, truth)),
        **dict(_judged_texts("names", truth.names, renamed)),
        **dict(
            _judged_texts("descriptions", truth.descriptions, {**_comments(forged), **described})
        ),
    }


def is_true(decision: AnyDecision, truth: Truth) -> bool:
    """Return whether a decision says what is true; one about something else doesn't."""
    match decision:
        case AddRelationship():
            return identity(decision) in set(map(identity, truth.foreign_keys))
        case DropRelationship():
            return identity(decision) in set(map(identity, truth.denied))
        case SetKey(table=table, columns=columns):
            keys = {name.casefold(): each.primary_key or () for name, each in truth.tables.items()}
            return _folded(columns) == _folded(keys.get(table.casefold(), ()))
        case Rename(new_name=text):
            return _says(truth.names, decision, text)
        case Describe(text=text):
            return _says(truth.descriptions, decision, text)
        case _:
            return False


def share_right(judgements: Judgements, kind: Kind) -> float | None:
    """Return the share of right ones of all that is true or claimed; None where nothing is."""
    states = [each.state for subject, each in judgements.items() if subject.kind == kind]
    return states.count("right") / len(states) if states else None


def _judged_references(forged: Forged, truth: Truth) -> Iterator[tuple[Subject, Judgement]]:
    claimed = {identity(key): key for key in forged.profile.foreign_keys}
    for reference in truth.foreign_keys:
        found = claimed.pop(identity(reference), None)
        # One that follows from others isn't wanted of a model, but isn't missing either.
        if reference.supported and not (found and found.implied):
            yield _reference(reference), Judgement("right" if found else "missed")
    denied = set(map(identity, truth.denied))
    for known, key in claimed.items():
        if not key.implied and (truth.is_whole or known in denied):
            yield _reference(key), Judgement("wrong")


def _judged_keys(forged: Forged, truth: Truth) -> Iterator[tuple[Subject, Judgement]]:
    true = {name.casefold(): table for name, table in truth.tables.items()}
    for table in forged.profile.tables:
        known, chosen = true.get(table.name.casefold()), table.primary_key or ()
        if known is None or not (chosen or known.is_findable):
            continue
        # A smaller key inside the true one tells the rows apart as well.
        is_right = bool(chosen) and _folded(chosen) <= _folded(known.primary_key or ())
        state: State = "right" if is_right else "wrong" if chosen else "missed"
        if known.is_findable or (truth.is_whole and not known.primary_key):
            yield Subject("keys", table.name), Judgement(state, ", ".join(chosen))


def _judged_texts(
    kind: Kind, known: Sequence[TrueName] | Sequence[TrueDescription], said: Texts
) -> Iterator[tuple[Subject, Judgement]]:
    for each in known:
        if isinstance(each, TrueDescription) and not each.telling_words:
            continue
        text = said.get(_place(each.table, each.column)) or each.unsaid
        # Other words may be right as well, so a description that isn't recognised isn't false.
        is_false = isinstance(each, TrueName) and text != each.unsaid
        state: State = "right" if each.fits(text) else "wrong" if is_false else "missed"
        subject = each.table if each.column is None else f"{each.table}.{each.column}"
        yield Subject(kind, subject), Judgement(state, clip(text, _MOST_QUOTED))


def _says(
    known: Sequence[TrueName] | Sequence[TrueDescription], decision: Rename | Describe, text: str
) -> bool:
    place = _place(decision.table, decision.column)
    return any(_place(each.table, each.column) == place and each.fits(text) for each in known)


def _comments(forged: Forged) -> Texts:
    tables = forged.profile.tables
    texts = {_place(table.name, None): table.comment or "" for table in tables}
    columns = ((table.name, column) for table in tables for column in table.columns)
    return texts | {_place(table, each.name): each.comment or "" for table, each in columns}


def _place(table: str | None, column: str | None) -> tuple[str, str | None]:
    return (table or "").casefold(), column and column.casefold()


def _reference(reference: TrueReference | ForeignKey) -> Subject:
    pairs = sorted(zip(reference.from_columns, reference.to_columns, strict=True))
    children, parents = (", ".join(names) for names in zip(*pairs, strict=True))
    name = f"{reference.from_table}({children}) -> {reference.to_table}({parents})"
    return Subject("references", name)


def _folded(names: Sequence[str]) -> set[str]:
    return {name.casefold() for name in names}
