"""What an ODCS document says natively, held against what its FLUID words say already.

Keys, references, sources and checks stand twice in a document that FLUID wrote: natively, and in
the labels and rules that they were made from. Only what the labels and rules do not say is added,
so that a document comes back as it was, and a change that somebody made to it counts.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from fluid_build.contract.evidence_labels import names_label
from fluid_build.contract.exports.checks import check
from fluid_build.contract.exports.odcs.custom_properties import read_custom
from fluid_build.contract.exports.odcs.read_checks import retold
from fluid_build.contract.exports.odcs.read_tables import Pointer, ReadTable
from fluid_build.contract.exports.odcs.references import names_of_references
from fluid_build.contract.exports.odcs.writing import sources_of
from fluid_build.contract.exports.tracking import Json, said
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.keys import Keys, keys_of
from fluid_build.contract.validation import parse_contract
from fluid_build.modeling.identifiers import identifier
from fluid_build.text import free_name

_FULL = re.compile(r"/?schema/([^/]+)/properties/([^/]+)")


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables of a document, found by name, by id and by the columns that they have."""

    tables: Sequence[ReadTable]
    by_name: dict[str, int]
    by_id: dict[str, int]


def reconciled(product: Json, tables: Sequence[ReadTable]) -> FluidContract:
    """The contract of the product and its tables; ContractError where it would not be valid.

    Takes the relationships that it could resolve.
    """
    for table in tables:
        table.checks.sort(key=lambda read: math.inf if read.position is None else read.position)
        _set_rules(table, [read.rule for read in table.checks])
    written = parse_contract(product)
    keys = keys_of(written)
    for index, table in enumerate(tables):
        _set_rules(table, _with_changes(table, index, written, keys[index]))
    _add_keys(product, tables)
    contract = parse_contract(product)
    _add_sources(contract, tables)
    _add_ids(contract, tables)
    return parse_contract(product)


def _set_rules(table: ReadTable, rules: Sequence[Json]) -> None:
    promise = _inner(table.expose, "contract")
    kept = table.custom.own.get("dq")
    if rules or isinstance(kept, dict):
        given: Json = {"rules": list(rules)} if rules else {}
        promise["dq"] = {**(kept if isinstance(kept, dict) else {}), **given}


def _with_changes(table: ReadTable, index: int, contract: FluidContract, keys: Keys) -> list[Json]:
    """The rules, those retold whose native part is no longer what FLUID wrote."""
    expose = contract.exposes[index]
    rules = (expose.contract.dq.rules or ()) if expose.contract.dq is not None else ()
    references = {reference.rule: reference for reference in keys.references}
    found = []
    for read, rule in zip(table.checks, rules, strict=True):
        native = check(rule, expose, references.get(rule.id), contract.exposes)
        is_changed = read.is_ours and native != read.native
        told = retold(read.rule, read.native, read.column) if is_changed else read.rule
        found.append(said(told))
    return found


def _add_keys(product: Json, tables: Sequence[ReadTable]) -> None:
    """Add the keys and references that no rule or label says yet."""
    keys = keys_of(parse_contract(product))
    names = {table.name: at for at, table in reversed(list(enumerate(tables)))}
    ids = {table.id: at for at, table in enumerate(tables) if table.id is not None}
    found = _Tables(tables, names, ids)
    for index, table in enumerate(tables):
        primary = tuple(name for _, name in sorted(table.primary, key=lambda key: key[0]))
        if primary and primary != keys[index].primary:
            _labels(table.expose)["primary-key"] = names_label(primary)
            _add_rule(table, "primary_key", primary, {"key": "primary"})
        known = {*keys[index].unique, primary}
        for name in table.unique:
            if (name,) not in known:
                _add_rule(table, f"{identifier(name)}.unique", (name,), {})
        for pointer in table.pointers:
            _add_reference(index, pointer, found, keys[index])


def _add_reference(index: int, pointer: Pointer, found: _Tables, keys: Keys) -> None:
    to = [_resolved(text, found) for text in pointer.to]
    start = (
        [_resolved(text, found) for text in pointer.start]
        if "from" in pointer.place.value
        else [(index, name) for name in pointer.start]
    )
    places = {spot[0] if spot is not None else None for spot in to}
    ours = {spot[0] if spot is not None else None for spot in start}
    if len(places) != 1 or None in places or ours != {index} or len(to) != len(start):
        return
    for key in ("type", "from", "to"):
        pointer.place.take(key)
    read_custom(pointer.place, ("rule",))
    columns = tuple(spot[1] for spot in start if spot is not None)
    theirs = tuple(spot[1] for spot in to if spot is not None)
    target = next(spot[0] for spot in to if spot is not None)
    if any(
        (r.columns, r.expose, r.to_columns) == (columns, target, theirs) for r in keys.references
    ):
        return
    id_ = str(found.tables[target].expose["exposeId"])
    labels = {"rule": "reference", "to-table": id_, "to-columns": names_label(theirs)}
    name = f"{identifier(' '.join(columns))}_to_{id_}.reference"
    _add_rule(found.tables[index], name, columns, labels)


def _resolved(text: str, found: _Tables) -> tuple[int, str] | None:
    """The table and column that a pointer means, if it means one of this document."""
    full = _FULL.fullmatch(text)
    if full is not None:
        index = found.by_id.get(full[1])
        ids = found.tables[index].ids if index is not None else {}
        name = next((name for name, id_ in ids.items() if id_ == full[2]), None)
        return None if index is None or name is None else (index, name)
    table, _, column = text.partition(".")
    index = found.by_name.get(table)
    if index is None or column not in _column_names(found.tables[index].expose):
        return None
    return index, column


def _add_rule(
    table: ReadTable, name: str, columns: tuple[str, ...], labels: dict[str, str]
) -> None:
    """Add a rule that every row has to keep."""
    promise = _inner(table.expose, "contract")
    dq = promise.setdefault("dq", {})
    rules = dq.setdefault("rules", []) if isinstance(dq, dict) else []
    more = {"columns": names_label(columns)} if len(columns) > 1 else {}
    taken = [str(rule["id"]) for rule in rules]
    rules.append(
        {
            "id": free_name(f"{table.expose['exposeId']}.{name}", taken),
            "type": "accuracy" if "rule" in labels else "uniqueness",
            "selector": ", ".join(columns),
            "threshold": 1,
            "operator": ">=",
            "severity": "error",
            **({"labels": {**labels, **more}} if labels or more else {}),
        }
    )


def _add_sources(contract: FluidContract, tables: Sequence[ReadTable]) -> None:
    for index, table in enumerate(tables):
        known = sources_of(contract, index)
        for column in _columns(table.expose):
            name = str(column["name"])
            told = table.sources.get(name)
            if told and told != known.get(name):
                _labels(column)["source-columns"] = names_label(told)


def _add_ids(contract: FluidContract, tables: Sequence[ReadTable]) -> None:
    """Keep ids that FLUID would not give itself, as labels."""
    names = names_of_references(contract.exposes, keys_of(contract))
    for index, table in enumerate(tables):
        if table.id is not None and names.tables.get(index) != table.id:
            _labels(table.expose).setdefault("id", table.id)
        for column in _columns(table.expose):
            id_ = table.ids.get(str(column["name"]))
            if id_ is not None and names.columns.get((index, str(column["name"]))) != id_:
                _labels(column).setdefault("id", id_)


def _columns(expose: Json) -> list[Json]:
    schema = _inner(expose, "contract").get("schema")
    return schema if isinstance(schema, list) else []


def _column_names(expose: Json) -> list[str]:
    return [str(column["name"]) for column in _columns(expose)]


def _labels(element: Json) -> dict[str, str]:
    return cast(dict[str, str], element.setdefault("labels", {}))


def _inner(element: Json, key: str) -> Json:
    return cast(Json, element.setdefault(key, {}))
