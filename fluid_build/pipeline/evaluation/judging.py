"""A forge compared with the truth: each claim is right or wrong, each truth found or missed."""

import re
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
)
from fluid_build.profiling.profile import ForeignKey
from fluid_build.text import clip

Kind: TypeAlias = Literal["references", "keys", "names", "descriptions"]
KINDS: tuple[Kind, ...] = get_args(Kind)
State: TypeAlias = Literal["wrong", "missed", "right"]

_SAME_THING = 1 / 3
"""Of the words that a true description has: people who describe the same thing in their own words
share about that many of the longer ones."""
_LONG_WORD = 5
"""Letters of a word that says something, as most shorter ones are particles; and so many at its
beginning tell it from others, whatever its inflection."""
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
Place: TypeAlias = "tuple[str, str | None]"


def judge(forged: Forged, truth: Truth) -> Judgements:
    """Return what is right, wrong and missing in a forge."""
    return {
        **dict(_judged_references(forged, truth)),
        **dict(_judged_keys(forged, truth)),
        **dict(_judged_names(forged, truth)),
        **dict(_judged_descriptions(forged, truth)),
    }


def share_right(judgements: Judgements, kind: Kind) -> float | None:
    """Return the share of right ones of all that is true or claimed; None where nothing is."""
    states = [each.state for subject, each in judgements.items() if subject.kind == kind]
    return states.count("right") / len(states) if states else None


def is_true(decision: AnyDecision, truth: Truth) -> bool:
    """Return whether a decision says what is true; one about something else doesn't."""
    match decision:
        case AddRelationship():
            return _identity(decision) in set(map(_identity, truth.foreign_keys))
        case DropRelationship():
            return _identity(decision) in set(map(_identity, truth.denied))
        case SetKey(table=table, columns=columns):
            keys = {name.casefold(): each.primary_key or () for name, each in truth.tables.items()}
            return _folded(columns) == _folded(keys.get(table.casefold(), ()))
        case Rename(table=table, column=column, new_name=name):
            names = [each for each in truth.names if _is_about(each, table, column)]
            return any(_fits(name, each) for each in names)
        case Describe(table=table, column=column, text=text):
            texts = [each for each in truth.descriptions if _is_about(each, table, column)]
            return any(_agrees(text, each) for each in texts)
        case _:
            return False


def _judged_references(forged: Forged, truth: Truth) -> Iterator[tuple[Subject, Judgement]]:
    claimed = {_identity(key): key for key in forged.profile.foreign_keys}
    for reference in truth.foreign_keys:
        found = claimed.pop(_identity(reference), None)
        # One that follows from others isn't wanted of a model, but isn't missing either.
        if reference.supported and not (found and found.implied):
            yield _reference(reference), Judgement("right" if found else "missed")
    denied = {_identity(reference) for reference in truth.denied}
    for identity, key in claimed.items():
        if not key.implied and (truth.is_whole or identity in denied):
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


def _judged_names(forged: Forged, truth: Truth) -> Iterator[tuple[Subject, Judgement]]:
    renamed = {
        _place(decision.table, decision.column): decision.new_name
        for decision in applied(forged.verdicts)
        if isinstance(decision, Rename)
    }
    for known in truth.names:
        own = known.column or known.table
        name = renamed.get(_place(known.table, known.column), own)
        state: State = "right" if _fits(name, known) else "missed" if name == own else "wrong"
        yield _named("names", known.table, known.column), Judgement(state, name)


def _judged_descriptions(forged: Forged, truth: Truth) -> Iterator[tuple[Subject, Judgement]]:
    texts = dict(_comments(forged))
    texts |= {
        _place(decision.table, decision.column): decision.text
        for decision in applied(forged.verdicts)
        if isinstance(decision, Describe)
    }
    for known in truth.descriptions:
        if not _telling_words(known):
            continue
        text = texts.get(_place(known.table, known.column)) or ""
        state: State = "right" if _agrees(text, known) else "wrong" if text else "missed"
        subject = _named("descriptions", known.table, known.column)
        yield subject, Judgement(state, clip(text, _MOST_QUOTED))


def _is_about(known: TrueName | TrueDescription, table: str | None, column: str | None) -> bool:
    return _place(known.table, known.column) == _place(table, column)


def _fits(name: str, known: TrueName) -> bool:
    return _letters(name) in {_letters(each) for each in known.names}


def _agrees(text: str, known: TrueDescription) -> bool:
    telling = _telling_words(known)
    return len(telling & _stems(text)) >= _SAME_THING * len(telling) > 0


def _telling_words(known: TrueDescription) -> set[str]:
    """Return the words of a true description; one that repeats the name says nothing."""
    return _stems(known.text) - _stems(f"{known.table} {known.column or ''}")


def _comments(forged: Forged) -> Iterator[tuple[Place, str]]:
    for table in forged.profile.tables:
        yield _place(table.name, None), table.comment or ""
        for column in table.columns:
            yield _place(table.name, column.name), column.comment or ""


def _place(table: str | None, column: str | None) -> Place:
    return (table or "").casefold(), column and column.casefold()


def _named(kind: Kind, table: str, column: str | None) -> Subject:
    return Subject(kind, table if column is None else f"{table}.{column}")


def _identity(
    reference: TrueReference | ForeignKey | AddRelationship | DropRelationship,
) -> object:
    """Return a reference without the order of its columns and the case of its names."""
    pairs = zip(_cased(reference.from_columns), _cased(reference.to_columns), strict=True)
    return reference.from_table.casefold(), frozenset(pairs), reference.to_table.casefold()


def _reference(reference: TrueReference | ForeignKey) -> Subject:
    pairs = sorted(zip(reference.from_columns, reference.to_columns, strict=True))
    children, parents = (", ".join(names) for names in zip(*pairs, strict=True))
    name = f"{reference.from_table}({children}) -> {reference.to_table}({parents})"
    return Subject("references", name)


def _cased(names: Sequence[str]) -> list[str]:
    return [name.casefold() for name in names]


def _folded(names: Sequence[str]) -> set[str]:
    return set(_cased(names))


def _letters(name: str) -> str:
    """Return a name without its style: ``CategoryId`` is ``category_id``."""
    return re.sub(r"[\W_]", "", name.casefold())


def _stems(text: str) -> set[str]:
    """Return the beginnings of the words that say something."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return {word[:_LONG_WORD] for word in words if len(word) >= _LONG_WORD}
