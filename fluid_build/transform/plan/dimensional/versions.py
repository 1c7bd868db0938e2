"""The relation that keeps the versions of a dimension's members, and is only ever added to.

A member has one version a load. Where its key has stopped being one, all of its rows are
compared, and added, together: none is dropped, the test of the key fails, and loading the same
rows again adds nothing.
"""

from collections.abc import Sequence

from fluid_build.modeling.dimensional.elements import Dimension, DimensionAttribute
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.sql_names import fit, free_identifier
from fluid_build.transform.plan.construction_tests import not_null
from fluid_build.transform.plan.dimensional.columns import of_attribute, technical
from fluid_build.transform.plan.dimensional.star import (
    KEY_TYPE,
    Star,
    hashed,
    indented,
    joined,
    natural_key,
    selected,
)
from fluid_build.transform.plan.elements import LOAD_DATE, Build, BuildTest, PlanColumn


def history_build(star: Star, dimension: Dimension) -> Build:
    """The build of the versions of a dimension's members."""
    entity, history = dimension.entity_name, dimension.history
    alias = star.alias(entity, ())
    key = [star.column(entity, one.name) for one in natural_key(star, dimension)]
    versioned = versioned_attributes(dimension)
    kept = [star.column(entity, one.attribute) for one in versioned]
    row_hash = _row_hash(star, entity, versioned, f"{alias}.")
    columns = [
        *((f"{alias}.{name}", name) for name in (*key, *kept)),
        (row_hash, "row_hash"),
        (LOAD_DATE, "load_date"),
        ("FALSE", "is_deleted"),
    ]
    latest = indented(_latest(star, dimension, (*key, *kept)))
    figures = [free_identifier(name, key) for name in ("rows_held", "first_hash", "last_hash")]
    held_hash = _row_hash(star, entity, versioned, "")
    held = _summed(key, held_hash, figures, star.staged(entity))
    stands = f"(\n{latest}\n) AS latest\nWHERE NOT is_deleted"
    standing = _summed(key, "row_hash", figures, stands)
    gone = [
        *((f"latest.{name}", name) for name in (*key, *kept)),
        ("latest.row_hash", "row_hash"),
        (LOAD_DATE, "load_date"),
        ("TRUE", "is_deleted"),
    ]
    return Build(
        name=history,
        layer="mart",
        materialization="incremental",
        title=f"{entity}, every version",
        description=(
            f"One row for each version of each member of {dimension.name}, and one where a member "
            "has gone. Rows are only ever added."
        ),
        sql=f"SELECT\n{selected(columns)}\nFROM {star.staged(entity)} AS {alias}",
        incremental="\n".join(
            (
                joined("JOIN", f"(\n{indented(held)}\n)", "held", _same(key, "held", alias)),
                joined(
                    "LEFT JOIN",
                    f"(\n{indented(standing)}\n)",
                    "standing",
                    _same(key, "standing", alias),
                ),
                f"WHERE\n    standing.{figures[0]} IS NULL",
                *(f"    OR standing.{name} <> held.{name}" for name in figures),
                "UNION ALL",
                f"SELECT\n{selected(gone)}",
                f"FROM (\n{latest}\n) AS latest",
                "WHERE\n    NOT latest.is_deleted\n    AND NOT EXISTS (\n        SELECT 1",
                f"        FROM {star.staged(entity)} AS {alias}\n        WHERE",
                "            " + "\n            AND ".join(_same(key, "latest", alias)),
                "    )",
            )
        ),
        ref_models=(star.names.staging(entity),),
        columns=(
            *_history_columns(star, dimension),
            technical("row_hash", KEY_TYPE, "The hash of what is versioned."),
            technical("load_date", "TIMESTAMP", "When the version was first seen."),
            technical("is_deleted", "BOOLEAN", "Whether the member was gone then."),
        ),
        key=(*key, "load_date"),
        tests=(
            *(not_null(history, name, "It identifies the member.") for name in key),
            _versions_test(history, (*key, "load_date")),
        ),
        mapped_source_tables=(entity,),
        source_columns=tuple(
            SourceColumn(table=entity, column=one.attribute)
            for one in dimension.attributes
            if not one.source and is_in_history(dimension, one)
        ),
        reason=f"Without it the past of {dimension.name} would be lost with each load.",
    )


def _summed(key: Sequence[str], row_hash: str, figures: Sequence[str], source: str) -> str:
    """What the rows of a member are compared by; of one row that is all there is to it."""
    sums = ("COUNT(*)", f"MIN({row_hash})", f"MAX({row_hash})")
    columns = [*((name, name) for name in key), *zip(sums, figures, strict=True)]
    return f"SELECT\n{selected(columns)}\nFROM {source}\nGROUP BY {', '.join(key)}"


def _same(key: Sequence[str], one: str, other: str) -> list[str]:
    """The conditions that two rows are of one member, also where its key has become null."""
    return [f"{one}.{name} IS NOT DISTINCT FROM {other}.{name}" for name in key]


def _row_hash(star: Star, entity: str, versioned: Sequence[DimensionAttribute], prefix: str) -> str:
    return hashed(
        [
            (f"{prefix}{star.column(entity, one.attribute)}", star.type(entity, one.attribute))
            for one in versioned
        ]
    )


def versioned_attributes(dimension: Dimension) -> list[DimensionAttribute]:
    """The columns of the dimension's own entity of which the past is kept."""
    return [one for one in dimension.attributes if not one.source and one.scd_type == 2]


def is_in_history(dimension: Dimension, one: DimensionAttribute) -> bool:
    """Whether a column of the dimension's own entity is kept with the versions."""
    return one.scd_type == 2 or one.name in dimension.natural_key_columns


def _latest(star: Star, dimension: Dimension, columns: tuple[str, ...]) -> str:
    """What was last loaded of each member, gone or not."""
    key = [star.column(dimension.entity_name, one.name) for one in natural_key(star, dimension)]
    listed = ",\n".join(f"    {name}" for name in (*columns, "row_hash", "is_deleted"))
    ranked = ",\n".join(f"        {name}" for name in (*columns, "row_hash", "is_deleted"))
    return f"""\
SELECT
{listed}
FROM (
    SELECT
{ranked},
        RANK() OVER (PARTITION BY {", ".join(key)} ORDER BY load_date DESC) AS recency
    FROM model.{dimension.history}
) AS ranked
WHERE recency = 1"""


def _history_columns(star: Star, dimension: Dimension) -> list[PlanColumn]:
    entity = dimension.entity_name
    key = natural_key(star, dimension)
    named = {one.attribute: one for one in dimension.attributes if not one.source}
    kept = [one.attribute for one in versioned_attributes(dimension)]
    return [
        of_attribute(
            star,
            entity,
            star.attribute(entity, name),
            star.column(entity, name),
            named[name],
            required=name in {one.name for one in key},
        )
        for name in (*(one.name for one in key), *kept)
    ]


def _versions_test(relation: str, key: tuple[str, ...]) -> BuildTest:
    return BuildTest(
        name=fit(relation, "versions", "unique"),
        kind="unique",
        columns=key,
        key_kind="primary",
        reason="A member changes at most once a load.",
    )
