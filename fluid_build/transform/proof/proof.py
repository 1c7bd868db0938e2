"""The proof that nothing was lost: what was built from a source, compared with the source.

Where a technique can rebuild a source table, the two are compared row by row (``row_comparison``);
where it can't, their figures are. A table without rows is compared too, but proves nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Literal

import duckdb

from fluid_build.modeling.element import ModelPart
from fluid_build.modeling.logical import LogicalModel, Technique
from fluid_build.profiling.measure.text_types import MOST_SPELLINGS, are_truths
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source, Table
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.canonical_text import canonical_text, canonical_value
from fluid_build.sources.text_values.conventions import DECIMAL_MARKS
from fluid_build.sources.text_values.exact_numbers import NUMBER_TYPES, are_codes_sql
from fluid_build.text import counted, listed, listed_up_to
from fluid_build.transform.plan.elements import (
    Check,
    PlanSource,
    Rebuild,
    TransformPlan,
    ValueColumn,
)
from fluid_build.transform.plan.execution import Built, build_failure
from fluid_build.transform.plan.parallel_sessions import ROW_GROUP, in_sessions, small
from fluid_build.transform.plan.quarantine import KeptApart
from fluid_build.transform.plan.techniques import checks, kept_apart, rebuilds
from fluid_build.transform.proof.delimited_text import TextProof, prove_text
from fluid_build.transform.proof.differing_rows import DifferingRow, differing_rows
from fluid_build.transform.proof.figure_checks import FigureProof, prove_figures
from fluid_build.transform.proof.hidden_columns import HiddenColumns, hidden_columns
from fluid_build.transform.proof.nested_documents import NestedProof, prove_nested
from fluid_build.transform.proof.row_comparison import (
    By,
    Columns,
    Counts,
    RowComparison,
    Zeros,
    between,
    count,
    describe,
)
from fluid_build.transform.proof.set_apart import (
    Quarantined,
    SetApart,
    on_sound_rows,
    quarantined,
)

# Columns of text that were read as numbers or truths although their values, together, are codes.
# Compared one by one, `61E8` is 6.1 billion, `1.10` is 1.1 and `NO` is false. Whether a column
# may be read so is asked again here, of the source's own text.


def misread_columns(
    connection: duckdb.DuckDBPyConnection, original: str, columns: Sequence[ValueColumn]
) -> tuple[str, ...]:
    """Return the columns that are codes, of those that a person didn't decide on.

    ``original`` is a query for the text of a source table.
    """
    questions = {
        column.name: question
        for column in columns
        if not column.decided and (question := _question(column))
    }
    if not questions:
        return ()
    row = connection.execute(
        f"SELECT {', '.join(questions.values())} FROM ({original}\n)"
    ).fetchone()
    answers = zip(questions, row or (), strict=True)
    return tuple(name for name, answer in answers if _is_misread(name, answer))


def _question(column: ValueColumn) -> str:
    """Return the SQL aggregate that tells whether a column is codes; "" where it can't be."""
    text = f"trim(CAST({quote(column.name)} AS VARCHAR))"
    if column.type == "BOOLEAN":
        return f"list(DISTINCT {text})[:{MOST_SPELLINGS}]"
    if not column.type.startswith(NUMBER_TYPES):
        return ""
    return are_codes_sql(text, DECIMAL_MARKS.get(column.spelling, "."))


def _is_misread(name: str, answer: object) -> bool:
    return answer if isinstance(answer, bool) else not are_truths(name, list(_texts(answer)))


def _texts(spellings: object) -> Iterator[str]:
    if isinstance(spellings, list):
        yield from (str(spelling) for spelling in spellings if spelling is not None)


Verdict = Literal["proven", "holds in the sample", "lost", "not proven"]
TableVerdict = Literal["proven", "empty", "lost", "not compared"]

MOST_NAMED = 5
"""Tables named in the reason, which is a sentence; the others are counted."""


class TypeDifference(ModelPart):
    """A column that was rebuilt with another type, or is on one side only (None on the other)."""

    column: str
    source: str | None
    rebuilt: str | None


class TableProof(ModelPart):
    """The proof of one source table.

    ``missing`` rows are in the source and weren't rebuilt, ``unexpected`` ones the other way round;
    a row that's there twice and was rebuilt once is missing once. ``compared`` says whether the
    rows were or, of equal tables, the sums of their hashes. Of a table that isn't whole in each
    delivery, all that was delivered is compared, ``kept`` rows of it in earlier ones. Where a table
    is proven by its figures, ``rebuilt``, ``missing``, ``unexpected``, ``compared`` and
    ``types_equal`` are None. ``empty`` means that both sides were compared and have no row.
    ``misread`` are columns of codes that were read as numbers or truths. Rows that are
    ``quarantined`` are kept, though they aren't rebuilt. ``text`` compares a table that was read
    from delimited text with its files, ``nested`` the nested documents that a table was split from
    with what the tables have of them.
    """

    table: str
    id: str
    rows: int
    rebuilt: int | None = None
    missing: int | None = None
    unexpected: int | None = None
    kept: int | None = None
    compared: By | None = None
    types_equal: bool | None = None
    type_differences: tuple[TypeDifference, ...] = ()
    by_value: tuple[str, ...] = ()
    misread: tuple[str, ...] = ()
    checks: tuple[FigureProof, ...] = ()
    differing: tuple[DifferingRow, ...] = ()
    quarantined: tuple[SetApart, ...] = ()
    text: TextProof | None = None
    nested: NestedProof | None = None
    verdict: TableVerdict


class Proof(ModelPart):
    """The verdict on a model, and the figures of each source table in the order of the source.

    It's ``proven`` only if every table was compared and holds, and there was at least one row to
    compare. It ``holds in the sample`` if only a part of ``sampled`` tables was read: nothing is
    proven of the other rows. ``reason`` explains it in a sentence.
    """

    version: Literal[1] = 1
    name: str
    technique: Technique
    verdict: Verdict
    reason: str
    tables: tuple[TableProof, ...]
    sampled: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether everything that was read was compared and is the same."""
        return self.verdict in ("proven", "holds in the sample")

    @property
    def unproven(self) -> tuple[str, ...]:
        """The tables that differ, or weren't compared."""
        return tuple(
            table.table for table in self.tables if table.verdict not in ("proven", "empty")
        )


@dataclass(frozen=True, slots=True)
class Claims:
    """What to compare, which columns may not be shown, and whether 0.0 and -0.0 are the same.

    ``kept_apart`` says by table how the rows are found that are in quarantine. ``exact`` compares
    large tables row by row as well.
    """

    rebuilds: tuple[Rebuild, ...] = ()
    checks: tuple[Check, ...] = ()
    hidden: HiddenColumns = field(default_factory=HiddenColumns)
    zeros: Zeros = "signed"
    kept_apart: Mapping[str, KeptApart] = field(default_factory=dict)
    exact: bool = False


def claims(model: LogicalModel, plan: TransformPlan, *, exact: bool = False) -> Claims:
    """Return everything that a model's technique claims about it."""
    hidden = hidden_columns(model, plan)
    apart = kept_apart(model)
    return Claims(rebuilds(model), checks(model), hidden, kept_apart=apart, exact=exact)


def limited_to_samples(source: Source, plan: TransformPlan, proof: Proof) -> Proof:
    """Return a proof that says of which tables it covers a sample only."""
    compared = {table.table for table in proof.tables}
    sampled = tuple(
        name
        for name, table in _tables_by_model(source, plan).items()
        if table.sampled and name in compared
    )
    if not sampled or proof.verdict != "proven":
        return proof.model_copy(update={"sampled": sampled})
    number = f"{len(sampled)} of {len(proof.tables)} tables"
    tables = "each table" if len(sampled) == len(proof.tables) else number
    sample = f"Only a sample of {tables} was read, so nothing is proven of the other rows."
    reason = f"{proof.reason} {sample}"
    return proof.model_copy(
        update={"sampled": sampled, "verdict": "holds in the sample", "reason": reason}
    )


def _tables_by_model(source: Source, plan: TransformPlan) -> Mapping[str, Table]:
    """Return the tables of a source by what the model calls them, in the source's order."""
    names = {planned.at_source: planned.table for planned in plan.sources}
    return {names[table.name]: table for table in source.tables if table.name in names}


def with_reading(source: Source, plan: TransformPlan, proof: Proof) -> Proof:
    """Return a proof with tables also compared with the files or documents they were read from.

    Raises SourceChangedError where these can't be read again.
    """
    tables = _tables_by_model(source, plan)
    proven_tables = [_with_origin(source, tables[table.table], table) for table in proof.tables]
    verdict, reason = verdict_on(proven_tables)
    if verdict == proof.verdict != "lost":
        reason = proof.reason
    return proof.model_copy(
        update={"tables": tuple(proven_tables), "verdict": verdict, "reason": reason}
    )


def _with_origin(source: Source, table: Table, proof: TableProof) -> TableProof:
    text, nested = prove_text(source, table), prove_nested(source, table)
    holds = (text is None or text.holds) and (nested is None or nested.holds)
    verdict = proof.verdict if holds else "lost"
    return proof.model_copy(update={"text": text, "nested": nested, "verdict": verdict})


def prove(
    database: Built,
    model: LogicalModel,
    *,
    exact: bool = False,
    on_progress: OnProgress = ignore,
) -> Proof:
    """Compare what was built of a model with its source.

    ``exact`` compares large tables row by row as well. Raises BuildFailedError where a query of the
    proof can't be run.
    """
    promised = claims(model, database.plan, exact=exact)
    return compare(database.connection, database.plan, promised, on_progress=on_progress)


def prove_stored(
    database: Built,
    model: LogicalModel,
    *,
    exact: bool = False,
    on_progress: OnProgress = ignore,
) -> Proof:
    """Compare what a database file holds of a model with its source, as ``prove`` does.

    Rows that differ in the sign of a zero alone are the same, and the reason says that there are
    some: the file keeps one of two equal numbers.
    """
    proof = prove(database, model, exact=exact, on_progress=on_progress)
    if proof.verdict != "lost":
        return proof
    promised = replace(claims(model, database.plan, exact=exact), zeros="equal")
    equal = compare(database.connection, database.plan, promised, on_progress=on_progress)
    names = [
        table.table
        for table, signed in zip(equal.tables, proof.tables, strict=True)
        if table.missing != signed.missing
    ]
    if not names:
        return proof
    tables = listed_up_to(MOST_NAMED, names)
    note = f"In {tables}, the database has 0.0 for -0.0 or the other way round, which are equal."
    return equal.model_copy(update={"reason": f"{equal.reason} {note}"})


def compare(
    connection: duckdb.DuckDBPyConnection,
    plan: TransformPlan,
    promised: Claims,
    *,
    on_progress: OnProgress = ignore,
) -> Proof:
    """Check claims about a plan in a database with the schemas ``source`` and ``model``."""
    apart = quarantined(connection, plan, promised.kept_apart)
    tables = table_proofs(connection, plan, plan.sources, promised, apart, on_progress)
    return judged(plan, tables, on_progress)


def judged(
    plan: TransformPlan, proofs: Mapping[str, TableProof], on_progress: OnProgress = ignore
) -> Proof:
    """Return the proof of a model from those of all its tables, by name."""
    on_progress(Progress("prove", len(plan.sources), len(plan.sources)))
    tables = tuple(proofs[source.table] for source in plan.sources)
    verdict, reason = verdict_on(tables)
    return Proof(
        name=plan.name,
        technique=plan.technique,
        verdict=verdict,
        reason=reason,
        tables=tables,
    )


def table_proofs(
    connection: duckdb.DuckDBPyConnection,
    plan: TransformPlan,
    sources: Sequence[PlanSource],
    promised: Claims,
    apart: Mapping[str, Quarantined],
    on_progress: OnProgress = ignore,
    *,
    done: int = 0,
) -> dict[str, TableProof]:
    """Return the proofs of some tables: small ones together, large ones one after the other.

    ``apart`` is what is in quarantine. Before these, ``done`` tables have been compared.
    """
    total = len(plan.sources)
    by_table = _by_table(connection, sources, promised, apart)
    few_rows = small(connection, (f"source.{source.id}" for source in sources))
    small_sources = [source for source in sources if f"source.{source.id}" in few_rows]
    large_sources = [source for source in sources if f"source.{source.id}" not in few_rows]
    proofs: dict[str, TableProof] = {}
    work = [
        partial(
            _named_table,
            source=source,
            promised=by_table.get(source.table),
            hidden=promised.hidden,
        )
        for source in small_sources
    ]
    with closing(in_sessions(connection, work)) as results:
        for source, proof in zip(small_sources, results, strict=True):
            on_progress(Progress("prove", done + len(proofs), total, source.table))
            proofs[source.table] = proof
    for source in large_sources:
        on_progress(Progress("prove", done + len(proofs), total, source.table))
        of_table = by_table.get(source.table)
        proofs[source.table] = _named_table(connection, source, of_table, promised.hidden)
    return proofs


@dataclass(frozen=True, slots=True)
class _OfTable:
    rebuild: Rebuild | None
    checks: tuple[Check, ...]
    zeros: Zeros
    quarantined: Quarantined | None
    exact: bool


def _by_table(
    connection: duckdb.DuckDBPyConnection,
    sources: Sequence[PlanSource],
    promised: Claims,
    quarantine: Mapping[str, Quarantined],
) -> Mapping[str, _OfTable]:
    names = {source.table for source in sources}
    rebuilds_by_table = {each.table: each for each in promised.rebuilds if each.table in names}
    apart = {
        table: of_table
        for table, of_table in quarantine.items()
        if table in names and _is_kept(connection, of_table, rebuilds_by_table[table])
    }
    checks = [check for check in promised.checks if check.table in names]
    checks_by_table: dict[str, list[Check]] = {}
    for check in on_sound_rows(connection, checks, rebuilds_by_table, apart):
        checks_by_table.setdefault(check.table, []).append(check)
    return {
        table: _OfTable(
            rebuilds_by_table.get(table),
            tuple(checks_by_table.get(table, ())),
            promised.zeros,
            apart.get(table),
            promised.exact,
        )
        for table in (*rebuilds_by_table, *checks_by_table)
    }


def _is_kept(connection: duckdb.DuckDBPyConnection, apart: Quarantined, rebuild: Rebuild) -> bool:
    """Return whether rows in quarantine are missing otherwise: a later load may have had none."""
    original = describe(connection, rebuild.original)
    plain = _comparison(rebuild, original, describe(connection, rebuild.sql))
    kept = _with_kept(plain, apart, rebuild)
    return count(connection, kept).missing < count(connection, plain).missing


def _with_kept(comparison: RowComparison, apart: Quarantined, rebuild: Rebuild) -> RowComparison:
    rows, held = (_said(rebuild, apart.rows(only_held=held)) for held in (False, True))
    return apart.with_kept(comparison, rows, held)


def _named_table(
    connection: duckdb.DuckDBPyConnection,
    source: PlanSource,
    promised: _OfTable | None,
    hidden: HiddenColumns,
) -> TableProof:
    """Return the proof of a table; an error says which table it is of."""
    try:
        return _table(connection, source, promised, hidden)
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        what = f"The comparison of {source.table!r} failed to run"
        raise build_failure(connection, what, error) from error


def _table(
    connection: duckdb.DuckDBPyConnection,
    source: PlanSource,
    promised: _OfTable | None,
    hidden: HiddenColumns,
) -> TableProof:
    rows = _rows(connection, source)
    if promised is None:
        return TableProof(table=source.table, id=source.id, rows=rows, verdict="not compared")
    figures = prove_figures(connection, promised.checks, hidden)
    proof = TableProof(
        table=source.table,
        id=source.id,
        rows=rows,
        checks=figures,
        verdict="proven" if rows else "empty",
    )
    if promised.rebuild is not None:
        proof = _rebuilt(connection, proof, promised.rebuild, promised, hidden)
    if all(figure.holds for figure in figures):
        return proof
    return proof.model_copy(update={"verdict": "lost"})


def _rows(connection: duckdb.DuckDBPyConnection, source: PlanSource) -> int:
    row = connection.execute(f"SELECT count(*) FROM source.{source.id}").fetchone()
    assert row is not None, "a count without groups always gives a row"
    return int(row[0])


def _rebuilt(
    connection: duckdb.DuckDBPyConnection,
    proof: TableProof,
    rebuild: Rebuild,
    promised: _OfTable,
    hidden: HiddenColumns,
) -> TableProof:
    source_columns = describe(connection, f"SELECT * FROM source.{proof.id}")
    original = describe(connection, rebuild.original)
    columns = describe(connection, rebuild.sql)
    # A source may have narrowed a type since; every column that it has counts all the same.
    read_as = dict(original)
    expected = tuple((name, read_as.get(name, type_)) for name, type_ in source_columns)
    types = tuple(_type_differences(expected, columns, rebuild.by_value))
    by_rows = promised.exact or proof.rows <= ROW_GROUP
    comparison = replace(
        _comparison(rebuild, original, columns), zeros=promised.zeros, exact=by_rows
    )
    apart = promised.quarantined
    if apart is not None:
        comparison = _with_kept(comparison, apart, rebuild)
    rules = apart.rules if apart is not None else ()
    counts = _counts_of_nothing(connection, proof, rebuild) or count(connection, comparison)
    # Rows of the source that the comparison didn't read count as missing.
    unread = max(0, proof.rows - counts.original)
    kept = None
    if rebuild.delivered:
        today = between(rebuild.delivered, original, rebuild.original, original)
        arrived = count(connection, replace(today, zeros=promised.zeros, exact=by_rows))
        unread, kept = arrived.missing, arrived.unexpected
    misread = misread_columns(connection, rebuild.original, rebuild.by_value)
    equal = not (types or counts.missing or counts.unexpected or unread or misread)
    return proof.model_copy(
        update={
            "rebuilt": counts.rebuilt - sum(part.rows for part in rules),
            "quarantined": rules,
            "missing": counts.missing + unread,
            "unexpected": counts.unexpected,
            "kept": kept,
            "compared": counts.by,
            "types_equal": not types,
            "type_differences": types,
            "by_value": tuple(column.name for column in rebuild.by_value),
            "misread": misread,
            "differing": ()
            if not (counts.missing or counts.unexpected)
            else differing_rows(connection, comparison, hidden.of_table(proof.table)),
            "verdict": ("proven" if kept else proof.verdict) if equal else "lost",
        }
    )


def _counts_of_nothing(
    connection: duckdb.DuckDBPyConnection, proof: TableProof, rebuild: Rebuild
) -> Counts | None:
    """Return the figures where neither side has a row, None where one may have.

    Planning a comparison of thousands of columns takes seconds, however few rows there are.
    """
    if proof.rows:
        return None
    row = connection.execute(f"SELECT 1 FROM ({rebuild.sql}\n) LIMIT 1").fetchone()
    return Counts(0, 0, 0, 0) if row is None else None


def _comparison(rebuild: Rebuild, original: Columns, rebuilt: Columns) -> RowComparison:
    """Return the comparison of a table with what was rebuilt, values with what their text says."""
    if not rebuild.by_value:
        return between(rebuild.original, original, rebuild.sql, rebuilt)
    kept = ((c, canonical_value(c.type, c.spelling, quote(c.name))) for c in rebuild.by_value)
    names = {column.name for column in rebuild.by_value}
    return between(
        _said(rebuild, rebuild.original),
        _as_texts(original, names),
        _replaced(rebuild.sql, kept),
        _as_texts(rebuilt, names),
    )


def _said(rebuild: Rebuild, sql: str) -> str:
    """Return a query for rows as the source has them, with what their text says."""
    if not rebuild.by_value:
        return sql
    said = ((c, canonical_text(c.type, c.spelling, _as_text(c))) for c in rebuild.by_value)
    return _replaced(sql, said)


def _as_text(column: ValueColumn) -> str:
    return f"CAST({quote(column.name)} AS VARCHAR)"


def _replaced(sql: str, expressions: Iterable[tuple[ValueColumn, str]]) -> str:
    replaced = ", ".join(f"{value} AS {quote(column.name)}" for column, value in expressions)
    return f"SELECT * REPLACE ({replaced}) FROM ({sql}\n)"


def _as_texts(columns: Columns, names: Collection[str]) -> Columns:
    return tuple((name, "VARCHAR" if name in names else type_) for name, type_ in columns)


def _type_differences(
    source: Columns, rebuilt: Columns, by_value: Sequence[ValueColumn]
) -> Iterator[TypeDifference]:
    """Return the differences in DESCRIBE. A column kept by value has the type of its value."""
    values = {column.name: column.type for column in by_value}
    for ours, theirs in zip_longest(source, rebuilt):
        if ours is not None and ours[0] in values:
            ours = (ours[0], values[ours[0]])
        if ours == theirs:
            continue
        if ours is not None and theirs is not None and ours[0] == theirs[0]:
            yield TypeDifference(column=ours[0], source=ours[1], rebuilt=theirs[1])
            continue
        if ours is not None:
            yield TypeDifference(column=ours[0], source=ours[1], rebuilt=None)
        if theirs is not None:
            yield TypeDifference(column=theirs[0], source=None, rebuilt=theirs[1])


def verdict_on(tables: Sequence[TableProof]) -> tuple[Verdict, str]:
    """Return the verdict on a model whose tables are proven so, and the reason in a sentence."""
    misread = [table.table for table in tables if table.text and not table.text.holds]
    if misread:
        return (
            "lost",
            f"{len(misread)} of {len(tables)} tables were misread from their files.",
        )
    torn = [table.table for table in tables if table.nested and not table.nested.holds]
    if torn:
        return (
            "lost",
            f"The nested documents of {listed_up_to(MOST_NAMED, torn)} can't be rebuilt from their"
            " tables.",
        )
    lost = [table.table for table in tables if table.verdict == "lost"]
    if lost:
        return "lost", f"{len(lost)} of {len(tables)} tables differ from their source."
    uncompared = [table.table for table in tables if table.verdict == "not compared"]
    if uncompared:
        return "not proven", f"{len(uncompared)} of {len(tables)} tables were not compared."
    if not any(table.verdict == "proven" for table in tables):
        return "not proven", "There is no data to compare: no table has any rows."
    apart = sum(part.rows for table in tables for part in table.quarantined)
    but = f", but for {counted(apart, 'row')} in quarantine" if apart else ""
    if all(table.types_equal for table in tables):
        rebuilt = f"Every table was rebuilt exactly{but}"
        exactly = f"{rebuilt}: no row is missing, none was added."
        return "proven", " ".join((exactly, *_kept(tables)))
    return "proven", f"All compared numbers agree with the source in every table{but}."


def _kept(tables: Sequence[TableProof]) -> Iterator[str]:
    kept = {table.table: table.kept for table in tables if table.kept}
    if kept:
        rows = counted(sum(kept.values()), "row")
        verb = "is" if sum(kept.values()) == 1 else "are"
        yield f"{rows} of {listed_up_to(MOST_NAMED, [*kept])} {verb} kept from earlier deliveries."


def quarantine_sentences(proof: Proof) -> Iterator[str]:
    """Return which rows of which tables are in quarantine, for which rules, and what shows them."""
    for table in proof.tables:
        if table.quarantined:
            rows = sum(part.rows for part in table.quarantined)
            verb = "is" if rows == 1 else "are"
            rules = listed([part.rule for part in table.quarantined])
            yield (
                f"{counted(rows, 'row')} of {table.table} {verb} in quarantine: {rules}"
                f" (`dbt show --select {table.quarantined[0].relation}`)."
            )
