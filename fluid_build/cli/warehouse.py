"""What ``fluid verify --warehouse`` found, on a screen and as JSON."""

from collections.abc import Iterator

from rich.text import Text

from fluid_build.cli import screen
from fluid_build.cli.proof_table import TICK, proof_lines
from fluid_build.text import counted
from fluid_build.transform.proof.warehouse import Lacking
from fluid_build.verification import WarehouseVerified


def warehouse_document(found: WarehouseVerified) -> dict[str, object]:
    """What was found, as one JSON document."""
    proof, forged = found.found.proof, found.forged
    return {
        "holds": found.holds,
        "warehouse": {
            "place": found.place,
            "schema": found.found.schema,
            "faults": list(found.found.faults),
            "lacking": [
                {"relation": one.relation, "rows": one.rows} for one in found.found.lacking
            ],
        },
        "proof": None if proof is None else proof.model_dump(mode="json"),
        "contract": [
            {"expose": one.expose, "column": one.column, "what": one.what}
            for one in forged.disagreements
        ],
        "unread": list(found.unread),
        "broken_keys": list(found.broken_keys),
    }


def warehouse_report(found: WarehouseVerified) -> Iterator[screen.Part]:
    """What was found, for people."""
    forged, proof = found.forged, found.found.proof
    yield Text.assemble(
        screen.text(screen.folder_name(forged.folder), "bold"),
        "  ",
        screen.text(f"{forged.model.technique} · the warehouse as it stands", "dim"),
    )
    if found.found.faults:
        schema = f"compared with the schema {found.found.schema}"
        yield screen.heading("The warehouse isn't what the model describes", schema)
        yield from screen.listed(found.found.faults, "red")
        yield Text.assemble("\n", screen.text("Not proven. ", "bold red"), _NOTHING_COMPARED)
    if proof is not None:
        title = "The warehouse"
        yield from proof_lines(proof, title, tick=TICK if found.holds else "")
    if found.found.lacking:
        yield screen.heading("Rows that are missing", "beside a load of today")
        yield from screen.listed([_said(one) for one in found.found.lacking], "red")
        yield Text()
        yield screen.text(_SINCE)
    if found.unread:
        yield screen.heading("Not read, so not compared", counted(len(found.unread), "table"))
        yield from screen.listed(found.unread, "red")
    if found.broken_keys:
        yield screen.heading("Keys that no longer hold", "correct the rows, or forge again")
        yield from screen.listed(found.broken_keys, "red")
    if forged.disagreements:
        count = counted(len(forged.disagreements), "difference")
        yield screen.heading("The contract does not match its model", count)
        yield from screen.listed([str(one) for one in forged.disagreements], "red")


def _said(one: Lacking) -> str:
    return f"{one.relation} lacks {counted(one.rows, 'row')}"


_NOTHING_COMPARED = "Nothing was compared. Run dbt build, or name the schema: --warehouse-schema."
_SINCE = "If the source has changed since the last load, load it and verify again."
