"""The results of verifications as JSON documents: what ``fluid verify --json`` prints."""

from collections.abc import Sequence

from fluid_build.changes import SourceChange
from fluid_build.contract.model_agreement import Disagreement
from fluid_build.transform.dbt.running import DbtNode
from fluid_build.transform.proof.proof import Proof
from fluid_build.verification.changes import ChangesSince
from fluid_build.verification.dbt import DbtVerified
from fluid_build.verification.source import Verified
from fluid_build.verification.warehouse import WarehouseVerified


def verified_document(verified: Verified) -> dict[str, object]:
    """Return the result as one JSON document."""
    forged = verified.forged
    return {
        "holds": verified.holds,
        "proof": verified.proof.model_dump(mode="json"),
        "contract": _contract_documents(forged.disagreements),
        "outdated": list(forged.outdated),
        "edited": list(forged.edited),
        "rows_changed": list(verified.row_changes),
        "unread": list(verified.unread),
        **_changes_document(verified.since),
        "dbt": None if verified.dbt is None else _dbt_document(verified.dbt),
    }


def warehouse_document(verified: WarehouseVerified) -> dict[str, object]:
    """Return the result for a warehouse as one JSON document."""
    warehouse = verified.contents
    return {
        "holds": verified.holds,
        "warehouse": {
            "place": verified.place,
            "schema": warehouse.schema,
            "faults": list(warehouse.faults),
            "lacking": [
                {"relation": each.relation, "rows": each.rows} for each in warehouse.lacking
            ],
            "contradictions": [
                {"relation": each.relation, "rows": each.rows, "what": each.what}
                for each in warehouse.contradictions
            ],
            "unchecked": list(warehouse.unchecked),
        },
        "proof": _proof_document(warehouse.proof),
        "contract": _contract_documents(verified.forged.disagreements),
        "unread": list(verified.unread),
        **_changes_document(verified.since),
    }


def outdated_document(changes: Sequence[SourceChange]) -> dict[str, object]:
    """Return the changes after which a model no longer fits its source as one JSON document."""
    return {"holds": False, "changes": [change.model_dump(mode="json") for change in changes]}


def _changes_document(since: ChangesSince) -> dict[str, object]:
    return {
        "changes": [change.model_dump(mode="json") for change in since.changes],
        "broken_keys": list(map(str, since.broken_keys)),
    }


def _contract_documents(disagreements: Sequence[Disagreement]) -> list[dict[str, object]]:
    return [
        {"expose": each.expose, "column": each.column, "what": each.what} for each in disagreements
    ]


def _dbt_document(verified: DbtVerified) -> dict[str, object]:
    result = verified.result
    return {
        "holds": verified.holds,
        "built": len(result.built),
        "passed": len(result.passed),
        "warned": [_node_document(node) for node in result.warned],
        "failed": [_node_document(node) for node in result.failed],
        "skipped": [node.name for node in result.skipped],
        "warnings": list(result.warnings),
        "standing": None if verified.own_database is None else verified.own_database.name,
        "proof": _proof_document(verified.proof),
    }


def _node_document(node: DbtNode) -> dict[str, object]:
    broken = [
        {
            "promise": promise.promise,
            "columns": list(promise.columns),
            "rows": promise.rows,
            "known": promise.known,
        }
        for promise in node.broken
    ]
    return {"name": node.name, "message": node.message, "broken": broken}


def _proof_document(proof: Proof | None) -> dict[str, object] | None:
    return None if proof is None else proof.model_dump(mode="json")
