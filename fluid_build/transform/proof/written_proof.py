"""The files of a proof: its figures, and the queries to repeat it with."""

import re
from collections.abc import Iterable, Iterator

from fluid_build.markdown import visible
from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.plan.elements import Check, Rebuild, TransformPlan
from fluid_build.transform.plan.sql_layout import Column, nested, select_list
from fluid_build.transform.plan.techniques import checks, rebuilds
from fluid_build.transform.proof.proof import Proof

PROOF_FILE = "proof.json"
QUERIES_FOLDER = "proof"

_TOKEN = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | /\*.*?\*/
    | (?<![\w.])model\.(?P<relation>\w+) | \w+""",
    re.VERBOSE | re.DOTALL,
)


def proof_files(proof: Proof, model: LogicalModel, plan: TransformPlan) -> dict[str, str]:
    """``proof.json`` and one file of SQL for each source table that was compared."""
    return {PROOF_FILE: proof_json(proof), **query_files(model, plan)}


def proof_json(proof: Proof) -> str:
    """Return the proof as ``proof.json`` holds it; the same figures give the same text."""
    return proof.model_dump_json(indent=2) + "\n"


def query_files(model: LogicalModel, plan: TransformPlan) -> dict[str, str]:
    """Return the queries of a proof by file name; they follow from the model alone."""
    by_table = {rebuild.table: rebuild for rebuild in rebuilds(model)}
    figures: dict[str, list[Check]] = {}
    for check in checks(model):
        figures.setdefault(check.table, []).append(check)
    files = {}
    for source in plan.sources:
        parts = []
        if source.table in by_table:
            parts.append(_rebuild_text(by_table[source.table]))
        if source.table in figures:
            parts.append(_checks_text(source.table, figures[source.table]))
        if parts:
            files[f"{QUERIES_FOLDER}/{source.id}.sql"] = "\n".join(parts)
    return files


def _rebuild_text(rebuild: Rebuild) -> str:
    return _commented(_about_rebuild(rebuild)) + f"{_as_in_project(rebuild.sql)};\n"


def _about_rebuild(rebuild: Rebuild) -> Iterator[str]:
    yield f"The source table {_named(rebuild.table)}, rebuilt from the relations of the model."
    yield "Run it on the database that was built. Nothing is lost if this query returns the same"
    yield "rows as the source table: EXCEPT ALL both ways returns no row."
    if rebuild.by_value:
        columns = ", ".join(_named(column.name) for column in rebuild.by_value)
        yield f"Compared by value, not by original text, in the columns {columns}."


def _checks_text(table: str, figures: Iterable[Check]) -> str:
    parts = [
        _commented(
            (
                f"Checks of the source table {_named(table)}: expected and actual must be equal.",
                "Run them on the database that was built. The schema source has the tables of the"
                " source.",
            )
        )
    ]
    for check in figures:
        reason = (visible(check.reason),) if check.reason else ()
        parts.append(
            _commented((f"{check.kind}: {visible(check.name)}", *reason))
            + f"SELECT\n{select_list(_figures(check))};\n"
        )
    return "\n".join(parts)


def _figures(check: Check) -> Iterator[Column]:
    yield nested(_as_in_project(check.expected)), "expected"
    yield nested(_as_in_project(check.actual)), "actual"


def _as_in_project(sql: str) -> str:
    """Return SQL whose relations have the names that they have in the project: unqualified."""
    return _TOKEN.sub(lambda token: token["relation"] or token[0], sql)


def _commented(lines: Iterable[str]) -> str:
    return "".join(f"-- {line}\n" for line in lines)


def _named(name: str) -> str:
    return f'"{visible(name)}"'
