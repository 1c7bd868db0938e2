"""Keys and references of ODCS that no rule or label of FLUID has yet, as rules."""

from collections.abc import Sequence
from typing import cast

from fluid_build.contract.evidence_labels import names_label
from fluid_build.contract.exports.odcs.custom_properties import Labels
from fluid_build.contract.exports.odcs.read_tables import ReadTable
from fluid_build.contract.exports.tracking import Json
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.keys import keys_of
from fluid_build.modeling.identifiers import identifier
from fluid_build.text import free_name


def add_keys(contract: FluidContract, tables: Sequence[ReadTable]) -> None:
    """Add to the exposes of the tables the keys and references that the contract lacks."""
    for table, keys in zip(tables, keys_of(contract), strict=True):
        primary = tuple(name for _, name in sorted(table.primary, key=lambda key: key[0]))
        if primary and primary != keys.primary:
            labels = cast(Labels, table.expose.setdefault("labels", {}))
            labels["primary-key"] = names_label(primary)
            _add_rule(table, "primary_key", primary, {"key": "primary"})
        for name in table.unique:
            if (name,) not in {*keys.unique, primary}:
                _add_rule(table, f"{identifier(name)}.unique", (name,), {})
        known = {(r.columns, r.expose, r.to_columns) for r in keys.references}
        for reference in table.references:
            columns, to_columns = reference.columns, reference.to_columns
            if (columns, reference.target, to_columns) not in known:
                target = str(tables[reference.target].expose["exposeId"])
                words = {"rule": "reference", "to-table": target}
                words["to-columns"] = names_label(to_columns)
                name = f"{identifier(' '.join(columns))}_to_{target}.reference"
                _add_rule(table, name, columns, words)


def _add_rule(table: ReadTable, name: str, columns: tuple[str, ...], words: Labels) -> None:
    """Add a rule that every row has to keep."""
    promise = cast(Json, table.expose["contract"])
    dq = cast(Json, promise.setdefault("dq", {}))
    rules = cast(list[Json], dq.setdefault("rules", []))
    labels = {**words, **({"columns": names_label(columns)} if len(columns) > 1 else {})}
    rule: Json = {
        "id": free_name(f"{table.expose['exposeId']}.{name}", [str(r["id"]) for r in rules]),
        "type": "accuracy" if "rule" in words else "uniqueness",
        "selector": ", ".join(columns),
        "threshold": 1,
        "operator": ">=",
        "severity": "error",
    }
    rules.append({**rule, "labels": labels} if labels else rule)
