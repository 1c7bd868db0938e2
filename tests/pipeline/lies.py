"""Believable lies about a database, computed from its data, and a model that tells them."""

import json
import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fluid_build.copilot.llm.answers import Usage
from fluid_build.decisions.language import AnyDecision
from fluid_build.json_types import JsonObject
from fluid_build.pipeline.logical.proposals import Proposals, read_proposals
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile
from fluid_build.sources.base import Source
from fluid_build.sources.sql import quote
from tests.copilot.llm.characters import Character
from tests.fault_server import ReceivedRequest, Reply

_LIES_OF_AN_ANSWER = 30
_CLOSEST = 3
"""Lies of a kind about a table: those that the data all but bears out."""
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "UINTEGER")
_ROLES = ("hub", "link", "satellite", "reference", "fact", "dimension", "bridge", "date")


@dataclass(frozen=True, slots=True)
class Lie:
    """A false proposal. The data contradicts it where it ``is_refutable``; no data can a role."""

    proposal: JsonObject
    is_refutable: bool = True


def decision_content(decision: AnyDecision | dict[str, object]) -> str:
    """Return what a decision says, whoever made it and why."""
    fields = (
        decision
        if isinstance(decision, dict)
        else decision.model_dump(mode="json", exclude_none=True)
    )
    comments = {"by", "reason", "evidence"}
    return json.dumps({k: v for k, v in fields.items() if k not in comments}, sort_keys=True)


def contents(lies: Iterable[Lie]) -> set[str]:
    """Return what the decisions of refutable lies say."""
    entries: list[object] = [lie.proposal for lie in lies if lie.is_refutable]
    decisions = [
        decision
        for entry in entries
        for decision in read_proposals(Proposals(decisions=[entry])).decisions
    ]
    return {decision_content(decision) for decision in decisions}


def believable_lies(source: Source, profile: Profile) -> list[Lie]:
    """Return lies of every kind about a source, the most believable first within each kind."""
    teller = _Teller(source, profile)
    lies: list[Lie] = []
    for table in profile.tables:
        if table.rows > 1:
            lies += teller.about_keys(table)
            lies += teller.about_columns(table)
            lies += teller.about_splits(table)
        lies += teller.about_names(table)
        lies += teller.about_roles(table)
    return [*lies, *teller.about_references()]


def believable_liar(lies: Sequence[Lie], seed: int = 0) -> Character:
    """Return a model that answers some of the lies about the tables of each request."""

    def character(request: ReceivedRequest) -> Reply:
        text = request.raw.decode("utf-8", "replace")
        generator = random.Random(zlib.crc32(request.raw) ^ seed)
        asked = [lie for lie in lies if json.dumps(lie.proposal["table"])[1:-1] in text]
        chosen = generator.sample(asked, min(_LIES_OF_AN_ANSWER, len(asked)))
        answer = json.dumps({"decisions": [lie.proposal for lie in chosen]})
        return Reply(answer, usage=Usage(len(request.raw) // 4, len(answer) // 4))

    return character


def _proposal(decision: str, table: str, columns: Sequence[str] = (), **fields: object) -> Lie:
    reason = f"{', '.join(columns) or table} says so by its name."
    entry = {"decision": decision, "table": table, "columns": list(columns), **fields}
    return Lie({**entry, "reason": reason})  # type: ignore[arg-type]


class _Teller:
    """Lies about a source. Figures are counted here, not by what is under test."""

    def __init__(self, source: Source, profile: Profile) -> None:
        self._source = source
        self._profile = profile
        self._aliases = {
            table.name: {column.name: quote(column.alias) for column in table.columns}
            for table in source.tables
        }
        self._relations = {table.name: table.relation for table in source.tables}

    def _count(self, sql: str) -> tuple[int, ...]:
        row = self._source.connection.cursor().execute(sql).fetchone()
        assert row is not None
        return tuple(row)

    def _repeats(self, table: str, columns: Sequence[str]) -> int:
        """Count the rows whose values are null or repeat those of another row."""
        names = [self._aliases[table][name] for name in columns]
        present = " AND ".join(f"{name} IS NOT NULL" for name in names)
        rows, distinct = self._count(
            f"SELECT (SELECT count(*) FROM {self._relations[table]}), (SELECT count(*) FROM"
            f" (SELECT DISTINCT {', '.join(names)} FROM {self._relations[table]} WHERE {present}))"
        )
        return rows - distinct

    def about_keys(self, table: TableProfile) -> Iterator[Lie]:
        """Yield keys with repeats, those with the fewest first."""
        repeats = {
            column.name: self._repeats(table.name, [column.name]) for column in table.columns
        }
        repeating = sorted((n, name) for name, n in repeats.items() if n)[:_CLOSEST]
        for kind in ("set_key", "business_key", "grain"):
            for _, name in repeating:
                yield _proposal(kind, table.name, [name])
        pair = [name for _, name in repeating[:2]]
        if len(pair) == 2 and self._repeats(table.name, pair):
            yield _proposal("set_key", table.name, pair)

    def about_columns(self, table: TableProfile) -> Iterator[Lie]:
        """Yield ids as measures, personal columns as public, and text that can't be read so."""
        ids = {
            name
            for key in self._profile.foreign_keys
            if key.from_table == table.name and not key.implied
            for name in key.from_columns
        } | set(table.primary_key or ())
        for column in table.columns:
            if column.name in ids:
                yield _proposal("measure", table.name, [column.name], value="additive")
            if column.pii:
                yield _proposal("personal_data", table.name, [column.name], value="no")
            yield from self._readings(table, column)

    def _readings(self, table: TableProfile, column: ColumnProfile) -> Iterator[Lie]:
        name, relation = self._aliases[table.name][column.name], self._relations[table.name]
        if column.type != "VARCHAR":
            return
        dates, numbers, rows = self._count(
            f"SELECT count(try_strptime({name}, '%d/%m/%Y')),"
            f" count(TRY_CAST(replace({name}, ',', '.') AS DOUBLE)), count({name}) FROM {relation}"
        )
        if dates < rows:
            yield _proposal("type", table.name, [column.name], value="date %d/%m/%Y")
        if numbers < rows:
            yield _proposal("type", table.name, [column.name], value="number comma")

    def about_splits(self, table: TableProfile) -> Iterator[Lie]:
        """Yield columns that don't determine what is said to describe them."""
        aliases, relation = self._aliases[table.name], self._relations[table.name]
        names = [column.name for column in table.columns][:8]
        number = 0
        for key in names:
            for attribute in names:
                if key == attribute or number == _CLOSEST:
                    continue
                (several,) = self._count(
                    f"SELECT count(*) FROM (SELECT 1 FROM {relation} WHERE {aliases[key]}"
                    f" IS NOT NULL GROUP BY {aliases[key]}"
                    f" HAVING count(DISTINCT {aliases[attribute]}) > 1)"
                )
                if several:
                    number += 1
                    fields = {"to_columns": [attribute], "value": f"{_word(key)}_details"}
                    yield _proposal("split", table.name, [key], **fields)

    def about_names(self, table: TableProfile) -> Iterator[Lie]:
        """Yield names that another table or column has."""
        legal = [t.name for t in self._profile.tables if t.name.isidentifier()]
        yield from (
            _proposal("rename", table.name, value=name)
            for name in legal[:_CLOSEST]
            if name != table.name
        )
        names = [c.name for c in table.columns if c.name.isidentifier()]
        yield from (
            _proposal("rename", table.name, [first], value=second)
            for first, second in zip(names[1:], names[:_CLOSEST], strict=False)
        )

    def about_roles(self, table: TableProfile) -> Iterator[Lie]:
        """Yield every role; at most one of them can be right."""
        for role in _ROLES:
            yield Lie(_proposal("classify", table.name, value=role).proposal, is_refutable=False)

    def about_references(self) -> Iterator[Lie]:
        """Yield references with orphans, merges of strangers, and declared references to drop."""
        for key in self._profile.foreign_keys:
            columns = {"to_table": key.to_table, "to_columns": list(key.to_columns)}
            lie = _proposal("drop_relationship", key.from_table, key.from_columns, **columns)
            yield Lie(lie.proposal, is_refutable=key.origin == "declared")
        parents = [
            (table, table.column(table.primary_key[0]))
            for table in self._profile.tables
            if table.primary_key and len(table.primary_key) == 1
        ]
        for child in self._profile.tables:
            false: list[tuple[int, Lie]] = []
            for column in child.columns:
                for parent, key in parents:
                    if _are_alike(column, key) and (child, column) != (parent, key):
                        false += self._about_pair(child, column, parent, key)
            yield from (lie for _, lie in sorted(false, key=lambda pair: pair[0])[: 2 * _CLOSEST])

    def _about_pair(
        self, child: TableProfile, column: ColumnProfile, parent: TableProfile, key: ColumnProfile
    ) -> Iterator[tuple[int, Lie]]:
        name = self._aliases[child.name][column.name]
        key_name = self._aliases[parent.name][key.name]
        rows, matched = self._count(
            f"SELECT count(*), count(*) FILTER (v IN (SELECT {key_name} FROM"
            f" {self._relations[parent.name]})) FROM (SELECT {name} AS v FROM"
            f" {self._relations[child.name]} WHERE {name} IS NOT NULL)"
        )
        fields = {"to_table": parent.name, "to_columns": [key.name]}
        if matched < rows:
            lie = _proposal("add_relationship", child.name, [column.name], **fields)
            # One that the source has, with its orphans, is no lie: accepting it changes nothing.
            is_known = any(
                (fk.from_table, fk.from_columns, fk.to_table, fk.to_columns)
                == (child.name, (column.name,), parent.name, (key.name,))
                for fk in self._profile.foreign_keys
            )
            yield rows - matched, Lie(lie.proposal, is_refutable=not is_known)
        elif rows:
            # It holds, if only by chance: the data can't say that nobody meant it.
            lie = _proposal("add_relationship", child.name, [column.name], **fields)
            yield rows, Lie(lie.proposal, is_refutable=False)
        repeats = self._repeats(child.name, [column.name])
        nulls = child.rows - rows
        if child.name != parent.name and (not matched or repeats > nulls):
            yield rows - matched, _proposal("merge", child.name, [column.name], **fields)
        elif child.name != parent.name:
            lie = _proposal("merge", child.name, [column.name], **fields)
            yield rows, Lie(lie.proposal, is_refutable=False)


def _are_alike(column: ColumnProfile, key: ColumnProfile) -> bool:
    both = {column.type, key.type}
    return len(both) == 1 or both <= set(_NUMBERS)


def _word(name: str) -> str:
    word = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    return f"e_{word}"[:40]
