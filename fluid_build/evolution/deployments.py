"""What was brought to a warehouse, when and how: the table ``fluid_deployments`` in its schema.

A deployment is recorded when it begins, with the fingerprints of what the warehouse held then, and
again when it ends. One that never ended is continued by the next: what was there before the first
of them is what has to be there in the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from fluid_build.errors import WarehouseError
from fluid_build.evolution.warehouse import Warehouse
from fluid_build.sources.schemas import DEPLOYMENTS

KEPT_FOLDERS = 30
"""Deployments that ended well whose folders stay, for a rollback: a month of nights."""
Outcome: TypeAlias = Literal["started", "failed", "done", "undone"]
_COLUMNS = {
    "deployment": "BIGINT NOT NULL",
    "contract_version": "TEXT",
    "load_date": "TIMESTAMP NOT NULL",
    "started_at": "TIMESTAMP NOT NULL",
    "finished_at": "TIMESTAMP",
    "model_digest": "TEXT",
    "source_digest": "TEXT",
    "relations": "TEXT",
    "outcome": "TEXT NOT NULL",
    "kept": "TEXT",
    "folder": "BYTEA",
    "reason": "TEXT",
}
_LATER = frozenset({"reason"})
"""Columns that a table of an earlier version lacks."""


class RelationState(BaseModel):
    """A relation as a deployment left it: its rows, and its columns with their types."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    rows: int | None
    columns: dict[str, str]


_STATES = TypeAdapter(dict[str, RelationState])


@dataclass(frozen=True, slots=True)
class Deployment:
    """A row of the table, without the folder.

    ``kept`` is what is known of the rows that were there before, as JSON. ``relations`` are those
    that it left, none for one that didn't end. ``reason`` says why it didn't end well, where that's
    known.
    """

    number: int
    load_date: datetime
    started_at: datetime
    finished_at: datetime | None
    outcome: Outcome
    contract_version: str = ""
    model_digest: str = ""
    source_digest: str = ""
    kept: str = ""
    relations: Mapping[str, RelationState] | None = None
    reason: str = ""

    @property
    def rows(self) -> int:
        """The rows of all its relations together."""
        return sum(state.rows or 0 for state in (self.relations or {}).values())


@dataclass(frozen=True, slots=True)
class Result:
    """What is recorded of a deployment when it ends well."""

    contract_version: str
    model_digest: str
    source_digest: str
    relations: Mapping[str, RelationState]
    folder: bytes


def read_deployments(warehouse: Warehouse) -> tuple[Deployment, ...]:
    """Return every deployment in order; none where nothing was ever applied.

    Raises WarehouseError where the table isn't as we write it.
    """
    relation = warehouse.relations().get(DEPLOYMENTS)
    if relation is None:
        return ()
    lacking = _LATER - relation.columns.keys()
    names = ", ".join(name for name in _COLUMNS if name not in {"folder", *lacking})
    rows = warehouse.query(
        f"SELECT {names} FROM {warehouse.named(DEPLOYMENTS)} ORDER BY deployment"
    )
    return tuple(_deployment(dict(zip(names.split(", "), row, strict=True))) for row in rows)


def finished(deployments: Sequence[Deployment]) -> tuple[Deployment, ...]:
    """Return those that can be gone back to, in order."""
    return tuple(each for each in deployments if each.outcome == "done")


def interrupted(deployments: Sequence[Deployment]) -> Deployment | None:
    """Return the first of the deployments since the last one that ended well; None without any."""
    unfinished = None
    for each in deployments:
        if each.outcome == "done":
            unfinished = None
        elif each.outcome != "undone":
            unfinished = unfinished or each
    return unfinished


def unfinished(deployments: Sequence[Deployment]) -> Deployment | None:
    """Return the last deployment where it didn't end well; None where it did, or was undone."""
    last = next((each for each in reversed(deployments) if each.outcome != "undone"), None)
    return None if last is None or last.outcome == "done" else last


def undone_versions(deployments: Sequence[Deployment]) -> frozenset[str]:
    """Return the versions that a contract had, and doesn't have again: readers have seen them."""
    undone = (each.contract_version for each in deployments if each.outcome == "undone")
    return frozenset(filter(None, undone))


def folder_of(warehouse: Warehouse, number: int) -> bytes | None:
    """Return the archive of a deployment's folder."""
    rows = warehouse.query(
        f"SELECT folder FROM {warehouse.named(DEPLOYMENTS)} WHERE deployment = $1", [number]
    )
    content = rows[0][0] if rows else None
    return bytes(content) if isinstance(content, bytes | bytearray | memoryview) else None


def make_table(warehouse: Warehouse) -> None:
    """Make the table, and its schema, where they are missing."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in _COLUMNS.items())
    schema = warehouse.named(DEPLOYMENTS).rpartition(".")[0]
    warehouse.query(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    warehouse.query(f"CREATE TABLE IF NOT EXISTS {warehouse.named(DEPLOYMENTS)} ({columns})")
    for name in sorted(_LATER - warehouse.relations()[DEPLOYMENTS].columns.keys()):
        warehouse.query(
            f"ALTER TABLE {warehouse.named(DEPLOYMENTS)} ADD COLUMN {name} {_COLUMNS[name]}"
        )


def record_start(
    warehouse: Warehouse, number: int, load_date: datetime, started_at: datetime, kept: str
) -> None:
    """Record that a deployment begins, with what is known of the rows that are there."""
    warehouse.query(
        f"INSERT INTO {warehouse.named(DEPLOYMENTS)}"
        " (deployment, load_date, started_at, outcome, kept) VALUES ($1, $2, $3, 'started', $4)",
        [number, load_date, started_at, kept],
    )


def record_failure(
    warehouse: Warehouse, number: int, finished_at: datetime, reason: str = ""
) -> None:
    """Record that a deployment ended, and not well."""
    warehouse.query(
        f"UPDATE {warehouse.named(DEPLOYMENTS)} SET outcome = 'failed', finished_at = $2,"
        " reason = $3 WHERE deployment = $1",
        [number, finished_at, reason],
    )


def record_reason(warehouse: Warehouse, number: int, reason: str) -> None:
    """Record why a deployment doesn't go on; what it loaded is taken out by the next."""
    warehouse.query(
        f"UPDATE {warehouse.named(DEPLOYMENTS)} SET reason = $2 WHERE deployment = $1",
        [number, reason],
    )


def record_result(warehouse: Warehouse, number: int, finished_at: datetime, result: Result) -> None:
    """Record that a deployment ended well, and forget the folders of those long before it."""
    deployments = warehouse.named(DEPLOYMENTS)
    warehouse.query(
        f"UPDATE {deployments} SET outcome = 'done', finished_at = $2,"
        " contract_version = $3, model_digest = $4, source_digest = $5, relations = $6,"
        " folder = $7, kept = NULL WHERE deployment = $1",
        [
            number,
            finished_at,
            result.contract_version,
            result.model_digest,
            result.source_digest,
            _STATES.dump_json(dict(result.relations)).decode(),
            result.folder,
        ],
    )
    last = f"SELECT deployment FROM {deployments} WHERE outcome = 'done'"
    warehouse.query(
        f"UPDATE {deployments} SET folder = NULL WHERE folder IS NOT NULL AND deployment NOT IN"
        f" ({last} ORDER BY deployment DESC LIMIT {KEPT_FOLDERS})"
    )


def record_undone(warehouse: Warehouse, after: int) -> None:
    """Record that the deployments after one were undone."""
    warehouse.query(
        f"UPDATE {warehouse.named(DEPLOYMENTS)} SET outcome = 'undone', kept = NULL"
        " WHERE deployment > $1",
        [after],
    )


def _deployment(row: Mapping[str, object]) -> Deployment:
    relations = row["relations"]
    try:
        return Deployment(
            number=int(cast("int", row["deployment"])),
            load_date=cast("datetime", row["load_date"]),
            started_at=cast("datetime", row["started_at"]),
            finished_at=cast("datetime | None", row["finished_at"]),
            outcome=cast("Outcome", row["outcome"]),
            contract_version=str(row["contract_version"] or ""),
            model_digest=str(row["model_digest"] or ""),
            source_digest=str(row["source_digest"] or ""),
            kept=str(row["kept"] or ""),
            relations=None if relations is None else _STATES.validate_json(str(relations)),
            reason=str(row.get("reason") or ""),
        )
    except ValidationError as error:
        raise WarehouseError(
            f"The table {DEPLOYMENTS} of the warehouse isn't as `fluid apply` writes it.",
            hint="Correct it, or drop it: the warehouse then counts as never applied to.",
        ) from error
