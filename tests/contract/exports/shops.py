"""Contracts as a forge writes them, drawn: tables, keys, references, rules and their figures."""

import json
from typing import Any

from hypothesis import strategies as st

from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.validation import parse_contract

NAMES = (
    "order_id",
    "Customer Id",
    "a.b",
    "größe",
    'say "so"',
    "1st",
    "select",
    "fluid.type",
    "it's: #1 & *x",
    "!!python/object:os.system",
    "- a\n- b",
    "\u202eevil",
    "x" * 70,
)
TYPES = (
    "bigint",
    "string",
    "varchar(40)",
    "decimal(10,2)",
    "numeric(38)",
    "date",
    "timestamptz",
    "double",
    "json",
    "binary",
    " Double  Precision ",
)
TABLES = ("orders", "order_lines", "customer-1", "n.m", "7", "_x", "shop.a-b")
TEXTS = ("", "plain", "a: b # c", "null", "{{x}}", "line\nbreak", "\x1b[31mred", "ü😀")
texts = st.sampled_from(TEXTS)
counts = st.integers(0, 9).map(str)
names = st.sampled_from(NAMES)


@st.composite
def columns(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """One column with that name."""
    labels = draw(st.dictionaries(st.sampled_from(("origin", "precision", "fluid.x", "")), texts))
    column = {
        "name": name,
        "type": draw(st.sampled_from(TYPES)),
        "required": draw(st.booleans()),
        "description": draw(texts),
        "sensitivity": draw(st.sampled_from(("pii", "internal", "none"))),
        "semanticType": draw(texts),
        "businessName": draw(texts),
        "tags": draw(st.sampled_from(([], ["pii"], ["primary-key", "unique"]))),
        "labels": labels | {"source-columns": json.dumps([f"source.{name}"])},
        "validationRules": [{"type": "regex", "constraint": draw(texts)}],
    }
    kept = draw(st.sets(st.sampled_from(sorted(column.keys() - {"name", "type"}))))
    return {key: value for key, value in column.items() if key in kept | {"name", "type"}}


@st.composite
def rules(draw: st.DrawFn, id_: str, about: list[str]) -> dict[str, Any]:
    """One rule on those columns."""
    type_ = draw(st.sampled_from(("completeness", "uniqueness", "valid_values", "freshness")))
    labels = {"columns": json.dumps(about), "sql": "SELECT 1", "key": "primary"}
    labels |= {"max-violations": draw(counts), "accepted-values": json.dumps([*TEXTS])}
    kept = draw(st.sets(st.sampled_from(sorted(labels))))
    rule: dict[str, Any] = {
        "id": id_,
        "type": type_,
        "selector": ", ".join(about),
        "severity": draw(st.sampled_from(("info", "warn", "error", "critical"))),
        "labels": {key: value for key, value in labels.items() if key in kept},
    }
    if draw(st.booleans()):
        rule["threshold"] = draw(st.sampled_from((0, 0.1, 0.99, 0.999999, 1, 1.0, 7)))
    if draw(st.booleans()):
        rule["operator"] = draw(st.sampled_from((">=", ">", "==", "<=", "!=")))
    if draw(st.booleans()):
        rule["description"] = draw(texts)
    return rule


def reference(id_: str, ours: list[str], table: str, theirs: list[str]) -> dict[str, Any]:
    """The rule that some columns refer to those of a table."""
    return {
        "id": id_,
        "type": "accuracy",
        "selector": ", ".join(ours),
        "threshold": 1.0,
        "operator": ">=",
        "severity": "error",
        "labels": {
            "rule": "reference",
            "to-table": table,
            "to-columns": json.dumps(theirs),
            "columns": json.dumps(ours),
            "max-violations": "0",
        },
    }


@st.composite
def tables(draw: st.DrawFn, id_: str) -> dict[str, Any]:
    """One exposed table, without references."""
    named = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    key = named[: draw(st.integers(0, len(named)))]
    drawn = [
        draw(rules(f"{id_}.rule_{n}", draw(st.permutations(named))[: draw(st.integers(1, 3))]))
        for n in range(draw(st.integers(0, 4)))
    ]
    table: dict[str, Any] = {
        "exposeId": id_,
        "kind": draw(st.sampled_from(("table", "view", "stream"))),
        "title": draw(texts),
        "version": draw(st.sampled_from(("0.1.0", "1.2.3", "0.0.0"))),
        "contract": {"schema": [draw(columns(name)) for name in named]},
        "binding": {
            "platform": draw(st.sampled_from(("local", "snowflake", "other"))),
            "format": draw(st.sampled_from(("csv", "other", "s3_file"))),
            "location": draw(
                st.dictionaries(st.sampled_from(("path", "database", "table", "bucket")), texts)
            ),
        },
        "labels": {"primary-key": json.dumps(key)} if key else {},
    }
    if drawn:
        table["contract"]["dq"] = {"rules": drawn}
    return table


@st.composite
def shops(draw: st.DrawFn) -> FluidContract:
    """A contract of several tables that refer to one another, whole keys included."""
    ids = draw(st.lists(st.sampled_from(TABLES), min_size=1, max_size=3, unique=True))
    exposes = [draw(tables(id_)) for id_ in ids]
    for number in range(draw(st.integers(0, 3))):
        child, parent = draw(st.sampled_from(exposes)), draw(st.sampled_from(exposes))
        ours = [column["name"] for column in child["contract"]["schema"]]
        theirs = [column["name"] for column in parent["contract"]["schema"]]
        width = draw(st.integers(1, min(len(ours), len(theirs))))
        rule = reference(f"reference_{number}", ours[:width], parent["exposeId"], theirs[:width])
        child["contract"].setdefault("dq", {"rules": []})["rules"].append(rule)
    document = {
        "fluidVersion": "0.7.2",
        "kind": "DataProduct",
        "id": "shop",
        "name": draw(texts) or "Shop",
        "description": draw(texts),
        "metadata": {"owner": draw(st.dictionaries(st.sampled_from(("team", "email")), texts))},
        "lifecycle": draw(st.sampled_from(({}, {"state": "active"}, {"retention": "P1Y"}))),
        "exposes": exposes,
        "builds": [{"id": "made", "engine": "dbt", "outputs": [exposes[0]["exposeId"]]}],
    }
    return parse_contract(document)
