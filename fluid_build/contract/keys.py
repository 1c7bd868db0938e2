"""The keys and references of a contract, wherever it has them.

FLUID 0.7.2 has no keys of its own. They stand in the semantic model (entities with an expression),
in uniqueness and reference rules, and in the label ``primary-key``; what any of them says is read
from here by every format that has a place for it.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.contract.fluid import DqRule, Expose, FluidContract
from fluid_build.contract.fluid.semantics import EntityType

_NAME = re.compile(r'\s*(?:"((?:[^"]|"")+)"|`([^`]+)`|([^\s"`,()]+))\s*')

Columns = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableReference:
    """Columns that refer to columns of another expose, in pairs; ``rule`` is the rule's id.

    ``holds`` says that no row may break it: a format's own foreign key knows no exceptions.
    """

    columns: Columns
    expose: int
    to_columns: Columns
    rule: str | None = None
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys and references of one expose; ``primary`` is empty where there is none.

    ``primary_holds`` says that no row may break it, as a format's own primary key asks.
    """

    primary: Columns = ()
    primary_holds: bool = True
    unique: tuple[Columns, ...] = ()
    references: tuple[TableReference, ...] = ()


@dataclass(frozen=True, slots=True)
class _Whole:
    """What the references of one expose need of all of them."""

    exposes: Sequence[Expose]
    places: Mapping[str, int]
    owners: Mapping[str, int | None]
    primaries: Sequence[Columns]


def keys_of(contract: FluidContract) -> tuple[Keys, ...]:
    """Return the keys of each expose, in the order of the exposes."""
    primaries = [_primary(expose) for expose in contract.exposes]
    whole = _Whole(
        contract.exposes, _places(contract.exposes), _owners(contract.exposes), primaries
    )
    return tuple(
        Keys(
            primary=primary,
            primary_holds=_primary_holds(primary, expose),
            unique=_unique(expose),
            references=_references(expose, whole),
        )
        for expose, primary in zip(contract.exposes, primaries, strict=True)
    )


def columns_of_rule(rule: DqRule, names: Collection[str]) -> Columns:
    """Return the columns that a rule is about; empty where its selector is something else.

    ``names`` are the ``column_names`` of its expose, asked once for all rules.
    """
    labelled = names_of((rule.labels or {}).get("columns"))
    if labelled:
        return labelled if all(name in names for name in labelled) else ()
    if rule.selector is None:
        return ()
    if rule.selector in names:
        return (rule.selector,)
    parts = tuple(part.strip() for part in rule.selector.split(","))
    return parts if all(part in names for part in parts) else ()


def column_names(expose: Expose) -> frozenset[str]:
    """Return the names of an expose's columns."""
    return frozenset(column.name for column in expose.contract.columns or ())


def names_of(label: str | None) -> Columns:
    """Return the names in a label with a JSON list of texts; none for any other label."""
    if label is None:
        return ()
    try:
        names = json.loads(label)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return ()
    return tuple(names)


def names_label(names: Iterable[str]) -> str:
    """Return names or values as one label: a JSON list, as any of them may have a comma."""
    return json.dumps(list(names), ensure_ascii=False)


def allows_nothing(rule: DqRule) -> bool:
    """Return whether not one row may break a rule that asks for a share of the rows."""
    most = (rule.labels or {}).get("max-violations")
    if most is not None:
        return most == "0"
    return rule.operator in (None, ">=", "==") and rule.threshold in (None, 1)


def _primary(expose: Expose) -> Columns:
    names = column_names(expose)
    labelled = names_of((expose.labels or {}).get("primary-key"))
    candidates = [
        labelled,
        *(columns_of_rule(r, names) for r in _unique_rules(expose) if _key(r) == "primary"),
        *(columns for _, columns in _entities(expose, "primary")),
    ]
    for columns in candidates:
        if columns and all(name in names for name in columns):
            return columns
    return ()


def _primary_holds(primary: Columns, expose: Expose) -> bool:
    """Return whether no rule on the columns of the primary key allows for exceptions."""
    names = column_names(expose)
    return all(
        allows_nothing(rule)
        for rule in _unique_rules(expose)
        if set(columns_of_rule(rule, names)) == set(primary)
    )


def _unique(expose: Expose) -> tuple[Columns, ...]:
    """Return the keys that no row may break and that a rule or entity vouches for."""
    names = column_names(expose)
    keys = [
        columns_of_rule(rule, names)
        for rule in _unique_rules(expose)
        if rule.severity != "info" and allows_nothing(rule)
    ]
    keys += [columns for _, columns in _entities(expose, "unique")]
    return tuple(dict.fromkeys(columns for columns in keys if columns))


def _references(expose: Expose, whole: _Whole) -> tuple[TableReference, ...]:
    references = []
    names = column_names(expose)
    for rule in expose.rules:
        labels = rule.labels or {}
        target = whole.places.get(labels.get("to-table", ""))
        if labels.get("rule") == "reference" and target is not None:
            theirs = names_of(labels.get("to-columns"))
            columns = columns_of_rule(rule, names)
            references.append(
                TableReference(columns, target, theirs, rule.id, allows_nothing(rule))
            )
    known = {reference.columns for reference in references}
    for name, columns in _entities(expose, "foreign"):
        owner = whole.owners.get(name)
        if owner is not None and columns not in known:
            references.append(TableReference(columns, owner, whole.primaries[owner]))
    consistent = (r for r in references if _holds_together(r, whole.exposes[r.expose]))
    return tuple(dict.fromkeys(consistent))


def _holds_together(reference: TableReference, target: Expose) -> bool:
    names = column_names(target)
    return (
        bool(reference.columns)
        and len(reference.columns) == len(reference.to_columns)
        and all(name in names for name in reference.to_columns)
    )


def _places(exposes: Sequence[Expose]) -> dict[str, int]:
    """Return the index of the expose with each id, or from each source table."""
    places: dict[str, int] = {}
    for index, expose in enumerate(exposes):
        places.setdefault(expose.expose_id, index)
    for index, expose in enumerate(exposes):
        places.setdefault((expose.labels or {}).get("source-table", expose.expose_id), index)
    return places


def _owners(exposes: Sequence[Expose]) -> dict[str, int | None]:
    """Return the expose whose primary entity has a name; None where several have it."""
    owners: dict[str, int | None] = {}
    for index, expose in enumerate(exposes):
        for name, _ in _entities(expose, "primary"):
            owners[name] = None if name in owners else index
    return owners


def _entities(expose: Expose, type_: EntityType) -> list[tuple[str, Columns]]:
    """Return the semantic entities of a type whose expression is one column or several."""
    if expose.semantics is None:
        return []
    names = column_names(expose)
    entities = [
        (entity.name, columns_of_expression(entity.expr or entity.name))
        for entity in expose.semantics.entities or ()
        if entity.type == type_
    ]
    return [(name, cols) for name, cols in entities if cols and all(c in names for c in cols)]


def columns_of_expression(expression: str) -> Columns:
    """Return the columns of ``a``, ``"a"`` or ``("a", b)``; empty for any other expression."""
    text = expression.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    columns, at = [], 0
    while match := _NAME.match(text, at):
        quoted, ticked, bare = match.groups()
        columns.append(quoted.replace('""', '"') if quoted else ticked or bare)
        at = match.end()
        if at == len(text):
            return tuple(columns)
        if text[at] != ",":
            return ()
        at += 1
    return ()


def _unique_rules(expose: Expose) -> list[DqRule]:
    return [rule for rule in expose.rules if rule.type == "uniqueness"]


def _key(rule: DqRule) -> str | None:
    return (rule.labels or {}).get("key")
