"""The JSON that ``fluid profile --json`` prints; docs/json.md describes it."""

from typing import TypeAlias

from fluid_build.profiling.profile import ForeignKey, Profile, TableProfile

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_LEADING_FIELDS = ("name", "type", "nullable", "nulls", "distinct", "semantic_type", "pii")
"""What readers look for in a column, before the other fields."""


def profile_json(profile: Profile) -> dict[str, Json]:
    """Return a profile in its public shape: tables and foreign keys, nothing else at the top."""
    return {
        "tables": [_table_json(table) for table in profile.tables],
        "foreign_keys": [_foreign_key_json(key) for key in profile.foreign_keys],
    }


def _table_json(table: TableProfile) -> Json:
    columns: list[Json] = []
    for column in table.columns:
        figures = column.model_dump(mode="json")
        leading: dict[str, Json] = {name: figures[name] for name in _LEADING_FIELDS}
        columns.append(leading | figures)
    fields: dict[str, Json] = {
        "name": table.name,
        "rows": table.rows,
        "columns": columns,
        "primary_key": list(table.primary_key) if table.primary_key else None,
        "candidate_keys": [list(key) for key in table.candidate_keys],
    }
    if table.notes:
        fields["notes"] = list(table.notes)
    return fields


def _foreign_key_json(key: ForeignKey) -> Json:
    return {
        "from_table": key.from_table,
        "from_columns": list(key.from_columns),
        "to_table": key.to_table,
        "to_columns": list(key.to_columns),
        "origin": key.origin,
        "implied": key.implied,
        "confidence": key.confidence,
        "evidence": key.evidence.model_dump(mode="json"),
    }
