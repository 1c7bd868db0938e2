"""A profile as JSON: what ``fluid profile --json`` prints, and the file ``profile.json``.

docs/json.md describes both.
"""

from pathlib import Path
from typing import TypeAlias

from pydantic import ValidationError

from fluid_build.profiling.profile import ForeignKey, Profile, TableProfile
from fluid_build.transform.proof.manifest import not_as_written

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_LEADING_FIELDS = ("name", "type", "nullable", "nulls", "distinct", "semantic_type", "pii")
"""What readers look for in a column, before the other fields."""


def profile_json(profile: Profile) -> dict[str, Json]:
    """Return a profile in its public shape: tables and foreign keys, nothing else at the top."""
    return {
        "tables": [_table_json(table) for table in profile.tables],
        "foreign_keys": [_foreign_key_json(key) for key in profile.foreign_keys],
    }


def profile_document(profile: Profile) -> dict[str, Json]:
    """Return all of a profile: the fields of its public shape first, then the others."""
    return {
        "tables": [
            _table_json(table) | table.model_dump(mode="json", exclude={"columns", "notes"})
            for table in profile.tables
        ],
        "foreign_keys": [
            _foreign_key_json(key) | key.model_dump(mode="json") for key in profile.foreign_keys
        ],
        **profile.model_dump(mode="json", exclude={"tables", "foreign_keys"}),
    }


def read_profile(text: str, path: Path) -> Profile:
    """Return the profile in the text of a ``profile.json``, which may be a stranger's.

    Raises SourceUnreadableError, which names ``path``, where this version wouldn't write it.
    """
    try:
        return Profile.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise not_as_written(path, error) from None


def _table_json(table: TableProfile) -> dict[str, Json]:
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


def _foreign_key_json(key: ForeignKey) -> dict[str, Json]:
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
