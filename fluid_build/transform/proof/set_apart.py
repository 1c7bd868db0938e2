"""Rows in quarantine, which the proof counts as kept: rebuilt ones and these are the source's.

A row counts as kept only if the source has it and the model doesn't. In turn, a model may still
have the last state of a key whose rows are all in quarantine, though the source has it no more.
Only the last load of a table with such rows counts, so a repaired row is compared as any other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from fluid_build.modeling.element import ModelPart
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.plan.elements import LOAD_DATE, Check, PlanSource, Rebuild, TransformPlan
from fluid_build.transform.plan.quarantine import SAME_ROW, KeptApart
from fluid_build.transform.plan.sql_layout import nested
from fluid_build.transform.plan.sql_references import references
from fluid_build.transform.proof.row_comparison import RowComparison

_SOUND, _ARRIVED = "sound", "arrived_sound"
"""The schemas of the source's tables as a model without what is in quarantine has them."""


class SetApart(ModelPart):
    """Rows of a table that are in quarantine, in that relation, for one rule."""

    rule: str
    rows: int
    relation: str


@dataclass(frozen=True, slots=True)
class Quarantined:
    """The rows of a source table that its last load put into the relation ``quarantine``.

    ``load_date`` is what loads call the column of their date.
    """

    quarantine: str
    load_date: str
    source: PlanSource
    found: KeptApart
    rules: tuple[SetApart, ...]

    def rows(self, *, only_held: bool = False) -> str:
        """Return a query for the rows as the source has them, or those whose key is held alone."""
        columns = ",\n    ".join(
            f"CAST(CAST(source_row AS JSON) ->> {literal(_path(name))} AS {type_}) AS {quote(name)}"
            for name, type_ in self.source.columns
        )
        held = f"\n    AND broken_rule <> {literal(SAME_ROW)}" if only_held else ""
        return f"SELECT\n    {columns}\nFROM {self._last_load}{held}"

    @property
    def _last_load(self) -> str:
        of_table = f"source_table = {literal(self.source.id)}"
        last = f"(SELECT MAX({self.load_date}) FROM model.{self.quarantine} WHERE {of_table})"
        return f"model.{self.quarantine}\nWHERE {of_table}\n    AND {self.load_date} = {last}"

    def with_kept(self, comparison: RowComparison, apart: str, held: str) -> RowComparison:
        """Return a comparison in which these rows count as rebuilt.

        ``apart`` and ``held`` are ``rows`` with the values that the comparison has.
        """
        names = ", ".join(quote(name) for name, *_ in comparison.columns)
        original, rebuilt = (
            f"SELECT {names} FROM {nested(sql)}"
            for sql in (comparison.original, comparison.rebuilt)
        )
        missing = f"SELECT * FROM ({original} EXCEPT ALL {rebuilt})"
        kept = f"SELECT {names} FROM {nested(apart)} INTERSECT ALL {missing}"
        unexpected = f"({rebuilt} EXCEPT ALL {original})"
        last = self._of_held_keys(unexpected, held)
        return replace(
            comparison,
            rebuilt=f"FROM ({rebuilt} EXCEPT ALL {last}) UNION ALL FROM ({kept})",
        )

    def _of_held_keys(self, rows: str, held: str) -> str:
        """Return the rows of those keys whose rows of the source are in quarantine."""
        found = " OR ".join(
            " AND ".join(f"held.{quote(name)} = model_row.{quote(name)}" for name in key)
            for key in self.found.known_by
        )
        return (
            f"SELECT * FROM {rows} AS model_row"
            f" WHERE EXISTS (SELECT 1 FROM {nested(held)} AS held WHERE {found})"
        )

    @property
    def read_from(self) -> str:
        """The relation that figures read the rows of the source from."""
        return f"model.{self.found.kept}" if self.found.kept else f"source.{self.source.id}"

    def sound(self, rebuild: Rebuild, *, of_arrived: bool = False) -> str:
        """Return a query for the rows of that relation which a model should have.

        Where only those ``of_arrived`` count, without what it has of keys from earlier.
        """
        if not self.found.kept:
            return self._sound_source(rebuild, of_arrived=of_arrived)
        columns = ", ".join(
            f"{quote(alias) if alias else 'NULL'} AS {quote(name)}"
            for name, alias in self.found.spelled.items()
        )
        # Deliveries are told apart by their dates: this is what all of them come to.
        return (
            f"SELECT {columns}, {LOAD_DATE} AS {self.load_date}"
            f" FROM {nested(self._sound_source(rebuild, of_arrived=of_arrived))}"
        )

    def _sound_source(self, rebuild: Rebuild, *, of_arrived: bool) -> str:
        by_value = {column.name: column for column in rebuild.by_value}
        columns = ", ".join(
            f"strftime({quote(name)}, {literal(by_value[name].spelling)}) AS {quote(name)}"
            if name in by_value and "%" in by_value[name].spelling
            else f"CAST({quote(name)} AS {type_}) AS {quote(name)}"
            for name, type_ in self.source.columns
        )
        rebuilt = f"SELECT {columns} FROM {nested(rebuild.sql)}"
        original = f"SELECT * FROM {nested(rebuild.original)}"
        arrived = f"FROM ({original} EXCEPT ALL {self.rows()})"
        if of_arrived:
            return arrived
        last = self._of_held_keys(nested(rebuilt), self.rows(only_held=True))
        return f"{arrived} UNION ALL FROM ({last})"


def quarantined(
    connection: duckdb.DuckDBPyConnection, plan: TransformPlan, kept_apart: Mapping[str, KeptApart]
) -> dict[str, Quarantined]:
    """Return what is in quarantine, by the table of the source: of most sources, nothing."""
    quarantine = plan.quarantine
    if quarantine is None:
        return {}
    load_date = plan.column_names.load_date
    rows = connection.execute(
        "SELECT source_table, broken_rule, count(*)"
        f" FROM (SELECT *, MAX({load_date}) OVER (PARTITION BY source_table) AS last"
        f" FROM model.{quarantine.name}) WHERE {load_date} = last GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    relations = {
        plan.source(part.title).id: part.name for part in plan.quarantines if not part.is_retired
    }
    found: dict[str, list[SetApart]] = {}
    for table, rule, count in rows:
        if str(table) not in relations:
            continue
        part = SetApart(rule=str(rule), rows=int(count), relation=relations[str(table)])
        found.setdefault(str(table), []).append(part)
    return {
        source.table: Quarantined(
            quarantine.name, load_date, source, kept_apart[source.table], tuple(found[source.id])
        )
        for source in plan.sources
        if source.id in found and source.table in kept_apart
    }


def on_sound_rows(
    connection: duckdb.DuckDBPyConnection,
    checks: Sequence[Check],
    rebuilds: Mapping[str, Rebuild],
    apart: Mapping[str, Quarantined],
) -> tuple[Check, ...]:
    """Return the figures of the source without the rows in quarantine, which it's compared by."""
    if not apart or not checks:
        return tuple(checks)
    sound: dict[bool, dict[str, str]] = {}
    for of_arrived in {check.of_arrived for check in checks}:
        schema = _ARRIVED if of_arrived else _SOUND
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        sound[of_arrived] = {}
        for table, of_table in apart.items():
            name = f"{schema}.{of_table.found.kept or of_table.source.id}"
            rows = of_table.sound(rebuilds[table], of_arrived=of_arrived)
            connection.execute(f"CREATE OR REPLACE TABLE {name} AS {rows}")
            sound[of_arrived][of_table.read_from] = name
    return tuple(
        check.model_copy(
            update={
                part: _on_sound_rows(getattr(check, part), sound[check.of_arrived])
                for part in ("expected", "actual", "differing")
            }
        )
        for check in checks
    )


def _on_sound_rows(sql: str, sound: Mapping[str, str]) -> str:
    pieces: list[str] = []
    start = 0
    for token in references(sql):
        relation = sound.get(f"{token['kind']}.{token['name']}")
        if relation is not None:
            pieces += sql[start : token.start()], relation
            start = token.end()
    return "".join((*pieces, sql[start:]))


def _path(name: str) -> str:
    """Return a name as a path in JSON, where it would be read as a path itself."""
    return f'$."{name}"' if name.startswith(("$", "/")) else name
