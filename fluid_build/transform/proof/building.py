"""A model built and proven, a part at a time: what no later part reads is dropped at once.

So only what the comparison of one large table reads has to be there, and not the whole model.
"""

from collections.abc import Mapping, Sequence

from fluid_build.errors import BuildFailedError
from fluid_build.modeling.logical import LogicalModel
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.base import Source
from fluid_build.sources.sql import quote
from fluid_build.sources.staged_views import staged_where_needed
from fluid_build.text import counted, listed_up_to
from fluid_build.transform.plan.elements import Build, TransformPlan
from fluid_build.transform.plan.execution import Built, build_all, prepared
from fluid_build.transform.plan.parallel_sessions import ROW_GROUP
from fluid_build.transform.plan.parts import Names, Parts
from fluid_build.transform.plan.sql_references import references
from fluid_build.transform.proof.partial_deliveries import without_what_they_refer_to
from fluid_build.transform.proof.proof import (
    MOST_NAMED,
    Claims,
    Proof,
    TableProof,
    claims,
    judged,
    limited_to_samples,
    table_proofs,
    verdict_on,
    with_reading,
)
from fluid_build.transform.proof.set_apart import Quarantined, quarantined


def build_and_prove(
    source: Source,
    plan: TransformPlan,
    model: LogicalModel,
    *,
    exact: bool = False,
    on_progress: OnProgress = ignore,
) -> Proof:
    """Build a model from its source, on copies of files that can't be queried in place.

    ``exact`` compares large tables row by row as well. Raises SourceChangedError and
    BuildFailedError as ``prepared``, ``build_all`` and ``table_proofs`` do.
    """

    def work() -> Proof:
        try:
            with prepared(source, plan) as database:
                promised = claims(model, plan, exact=exact)
                tables = _Parted(database, promised, on_progress).proofs()
                proof = judged(plan, tables, on_progress)
                return _without_undelivered(database, model, proof)
        except BuildFailedError as error:
            raise explained(source, plan, error) from error

    proof = staged_where_needed(source, work)
    return limited_to_samples(source, plan, with_reading(source, plan, proof))


class _Parted:
    """A plan that is built and compared in parts."""

    def __init__(self, database: Built, promised: Claims, on_progress: OnProgress) -> None:
        self.database, self.promised, self.on_progress = database, promised, on_progress
        plan, rows = database.plan, database.source_rows
        self.large = frozenset(each.table for each in plan.sources if rows[each.table] > ROW_GROUP)
        builds = tuple(_read_in_place(build, self.large) for build in plan.builds)
        self.plan = plan.model_copy(update={"builds": builds})
        self.parts = Parts(self.plan, rows)
        # Few rows, and every comparison asks for them.
        self.kept = frozenset(each.name for each in builds if each.layer == "quarantine")

    def proofs(self) -> dict[str, TableProof]:
        """Build and compare everything; return the proof of each table."""
        connection, plan = self.database.connection, self.plan
        # What is in quarantine says which tables have to be compared together.
        self._build(self.parts.with_needs(self.kept), self.kept)
        apart = quarantined(connection, plan, self.promised.kept_apart)
        proofs: dict[str, TableProof] = {}
        for part in self.parts.in_turn(self._together(apart)):
            self._build(part.builds, part.reads | self.kept)
            sources = [source for source in plan.sources if source.table in part.tables]
            proofs |= table_proofs(
                connection,
                plan,
                sources,
                self.promised,
                apart,
                self.on_progress,
                done=len(proofs),
            )
            self._drop(self.kept)
        return proofs

    def _build(self, builds: Sequence[Build], reading: Names) -> None:
        for wave in build_all(self.database, builds, self.on_progress, done=self.parts.count):
            self.parts.note(wave)
            self._drop(reading)

    def _drop(self, reading: Names) -> None:
        """Drop what neither the present comparison reads nor a later part."""
        for name in self.parts.unread(reading):
            self.database.connection.execute(f"DROP TABLE model.{name}")

    def _together(self, apart: Mapping[str, Quarantined]) -> dict[tuple[str, ...], Names]:
        """Return which relations are read, by the tables that are compared together.

        These are the small ones, and those with rows in quarantine with all whose figures read
        their rows.
        """
        reads = _reads(self.plan, self.promised)
        rows_apart = {f"source.{each.source.id}" for each in apart.values()}
        rows_apart |= {each.read_from for each in apart.values()}
        groups: dict[str, list[str]] = {}
        for source in self.plan.sources:
            read = reads[source.table]
            names = {name.removeprefix("model.") for name in read if name.startswith("model.")}
            if source.table in apart or rows_apart & read - {f"source.{source.id}"}:
                groups.setdefault("apart", []).append(source.table)
            elif source.table in self.large or self.parts.any_of(names, self.large):
                groups[f"table {source.table}"] = [source.table]
            else:
                groups.setdefault("small", []).append(source.table)
        return {
            tuple(tables): frozenset(
                name.removeprefix("model.")
                for table in tables
                for name in reads[table]
                if name.startswith("model.")
            )
            for tables in groups.values()
        }


def _reads(plan: TransformPlan, promised: Claims) -> dict[str, Names]:
    """Return by source table the relations of source and model that its proof reads."""
    queries: dict[str, list[str]] = {source.table: [] for source in plan.sources}
    for rebuild in promised.rebuilds:
        queries[rebuild.table] += (rebuild.sql, rebuild.original, rebuild.delivered)
    for check in promised.checks:
        queries[check.table] += (check.expected, check.actual, check.differing)
    return {
        table: frozenset(
            f"{token['kind']}.{token['name']}"
            for query in texts
            for token in references(query)
            if token["name"]
        )
        for table, texts in queries.items()
    }


def _read_in_place(build: Build, large: frozenset[str]) -> Build:
    """Return the staging of a large table as a view, where each reading gives the same rows.

    It adds hashes to the source's rows, which are wider than the source, and whoever reads them
    needs few of them.
    """
    is_staged = build.layer == "staging" and large.issuperset(build.mapped_source_tables)
    if not is_staged or build.materialization == "view" or " OVER (" in build.sql:
        return build
    return build.model_copy(update={"materialization": "view"})


def _without_undelivered(database: Built, model: LogicalModel, proof: Proof) -> Proof:
    """Return a proof that says nothing of tables whose rows lead to some of earlier deliveries."""
    if proof.verdict != "lost":
        return proof
    leading = without_what_they_refer_to(database.connection, model)
    tables = tuple(
        table.model_copy(update={"verdict": "not compared"})
        if table.verdict == "lost" and table.table in leading
        else table
        for table in proof.tables
    )
    verdict, reason = verdict_on(tables)
    unproven = [table.table for table in tables if table.verdict == "not compared"]
    if verdict == "not proven" and unproven:
        reason = (
            f"Not compared: {listed_up_to(MOST_NAMED, unproven)}, where rows refer to rows of"
            " earlier deliveries that the source doesn't have today. `fluid verify --warehouse`"
            " compares all that was delivered."
        )
    update = {"tables": tables, "verdict": verdict, "reason": reason}
    return proof.model_copy(update=update)


# Dates that no timestamp holds: a model that needs their week or their moment can't be built.


def explained(source: Source, plan: TransformPlan, error: BuildFailedError) -> BuildFailedError:
    """Return the error that names the first column with such dates, or else the error itself."""
    relations = {table.name: table.relation for table in source.tables}
    for planned in plan.sources:
        for name, type_ in planned.columns:
            if type_ != "DATE" or planned.at_source not in relations:
                continue
            column = f"TRY_CAST({quote(name)} AS DATE)"
            row = source.connection.execute(
                f"SELECT count(*) FROM {relations[planned.at_source]}"
                f" WHERE isfinite({column}) AND TRY_CAST({column} AS TIMESTAMP) IS NULL"
            ).fetchone()
            if row is not None and row[0]:
                return BuildFailedError(
                    f"The column {name!r} of {planned.at_source!r} has"
                    f" {counted(int(row[0]), 'date')} outside of the years that a timestamp can"
                    " have, 290308 BC to 294246.",
                    hint="Correct them at the source, leave the table out with --exclude, or use"
                    " --technique flat.",
                )
    return error
