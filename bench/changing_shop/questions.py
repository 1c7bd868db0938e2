"""What a warehouse is asked after its nights, in SQL of the bench's own."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.changing_shop.changes import KEYS
from bench.changing_shop.databases import Database, Reader, Row


@dataclass
class Night:
    """What the source held at a night's load: the rows of each table by their key."""

    moment: str
    tables: dict[str, dict[Row, dict[str, object]]] = field(default_factory=dict)
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def loaded(self) -> str:
        """The moment as SQL."""
        return f"TIMESTAMP '{self.moment}'"


def taken(database: Database, moment: str, renamed: Sequence[tuple[str, str, str]] = ()) -> Night:
    """Return what the source holds now, by the names that its columns had first."""
    first = {(table, now): earlier for table, earlier, now in renamed}
    night = Night(moment)
    for table, key in KEYS.items():
        if not database.rows(
            f"SELECT 1 FROM information_schema.tables WHERE table_name = '{table}'"
            " AND table_schema IN ('main', 'public')"
        ):
            continue
        columns = tuple(
            str(row[0])
            for row in database.rows(
                f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}'"
                " AND table_schema IN ('main', 'public') ORDER BY ordinal_position"
            )
        )
        found = database.rows(f"SELECT {', '.join(columns)} FROM {table}")
        columns = tuple(first.get((table, name), name) for name in columns)
        night.columns[table] = columns
        values = [dict(zip(columns, row, strict=True)) for row in found]
        night.tables[table] = {tuple(row[name] for name in key): row for row in values}
    return night


@dataclass(frozen=True)
class Saved:
    """The rows of every relation with a history, as text, before a load."""

    relations: Mapping[str, tuple[tuple[str, ...], Counter[Row]]]


def saved(reader: Reader) -> Saved:
    """Return what the relations with a history hold."""
    return Saved(
        {
            name: (columns, _rows(reader, name, columns))
            for name, columns in reader.relations().items()
            if "load_date" in columns and not name.startswith("fluid_")
        }
    )


def _rows(reader: Reader, name: str, columns: Sequence[str]) -> Counter[Row]:
    texts = ", ".join(f"CAST({column} AS VARCHAR)" for column in columns)
    return Counter(reader.rows(f"SELECT {texts} FROM {name}"))


def lost_versions(reader: Reader, before: Saved) -> Iterator[str]:
    """Yield each relation that has lost or changed a row of an earlier load.

    A value of a wider type is the same value, in other digits.
    """
    present = reader.relations()
    for name, (columns, rows) in before.relations.items():
        if missing := set(columns) - set(present.get(name, ())):
            yield f"{name}: gone, or without {sorted(missing)}"
            continue
        there = _texts(_rows(reader, name, columns))
        if lost := _texts(rows) - there:
            yield (
                f"{name}: {lost.total()} rows of an earlier load are gone or changed, such as"
                f" {next(iter(lost))}"
            )


def wrong_in_vault(
    reader: Reader, model: Mapping[str, object], nights: Sequence[Night]
) -> Iterator[str]:
    """Yield each satellite that doesn't say what the source said, as of a night."""
    vault = model["dv2"]
    hubs = {hub["name"]: hub for hub in vault["hubs"]}
    there = reader.relations()
    for satellite in vault["satellites"]:
        hub = hubs.get(satellite["parent"])
        table, name = satellite["table"], satellite["name"]
        if hub is None or satellite["kind"] != "descriptive" or satellite["multi_active_keys"]:
            continue
        if hub["entity_name"] != table or name not in there:
            continue
        key, hash_key = hub["business_key_columns"], hub["hash_key"]
        first = reader.rows(f"SELECT MIN(load_date) FROM {name} WHERE load_date > '1901-01-01'")
        for before, night in zip((None, *nights), nights, strict=False):
            if (
                first[0][0] is None
                or str(first[0][0])[:19] > night.moment
                or table not in night.tables
            ):
                continue
            known = [column for column in satellite["columns"] if column in night.columns[table]]
            said = Counter(
                reader.rows(
                    f"""
                    SELECT {", ".join(f"hub.{column}" for column in key)}
                        {"".join(f", sat.{column}" for column in known)}
                    FROM (
                        SELECT *, ROW_NUMBER() OVER (
                            PARTITION BY {hash_key} ORDER BY load_date DESC) AS age
                        FROM {name}
                        WHERE load_date <= {night.loaded} AND load_date > '1901-01-01'
                    ) AS sat
                    JOIN {hub["name"]} AS hub ON hub.{hash_key} = sat.{hash_key}
                    WHERE sat.age = 1 AND NOT sat.is_deleted
                    """
                )
            )
            meant = Counter(
                tuple(row[column] for column in (*key, *known))
                for row in night.tables[table].values()
            )
            if _texts(said) != _texts(meant):
                yield f"{name} as of {night.moment[:10]}: {_example(said, meant)}"
            if before is not None and table in before.tables:
                yield from _false_versions(reader, satellite, key, before, night, first[0][0])


def _false_versions(
    reader: Reader,
    satellite: Mapping[str, object],
    key: Sequence[str],
    before: Night,
    night: Night,
    first: object,
) -> Iterator[str]:
    """Yield where a night has added more versions than rows have changed."""
    table, name = str(satellite["table"]), str(satellite["name"])
    added = reader.rows(f"SELECT COUNT(*) FROM {name} WHERE load_date = {night.loaded}")[0][0]
    both = [
        column
        for column in satellite["columns"]
        if column in night.columns[table] and column in before.columns[table]
    ]
    if str(first)[:19] == night.moment:
        changed = len(night.tables[table])
    else:

        def states(of: Night) -> dict[Row, Row]:
            return {
                tuple(row[c] for c in key): tuple(_plain(row[c]) for c in both)
                for row in of.tables[table].values()
            }

        old, new = states(before), states(night)
        changed = sum(old.get(k) != new.get(k) for k in old.keys() | new.keys())
    if added != changed:
        yield f"{name}: {added} rows on {night.moment[:10]}, and {changed} keys changed"


def wrong_in_star(
    reader: Reader, model: Mapping[str, object], nights: Sequence[Night]
) -> Iterator[str]:
    """Yield each versioned dimension that doesn't say what the source said, as of a night."""
    there = reader.relations()
    for dimension in model["dimensional"]["dimensions"]:
        name, table = dimension["name"], dimension["entity_name"]
        if name not in there or "valid_from" not in there[name] or table not in KEYS:
            continue
        key = dimension["natural_key_columns"]
        versioned = {
            each["attribute"]: each["name"]
            for each in dimension["attributes"]
            if not each["source"] and each["scd_type"] == 2
        }
        for night in nights:
            if table not in night.tables:
                continue
            known = [column for column in versioned if _known(column, table, night, nights)]
            said = Counter(
                reader.rows(
                    f"""
                    SELECT {", ".join((*key, *(versioned[column] for column in known)))}
                    FROM {name}
                    WHERE valid_from <= {night.loaded} AND valid_to > {night.loaded}
                        AND {dimension["durable_key"] or dimension["surrogate_key"]}
                            <> '00000000000000000000000000000000'
                    """
                )
            )
            meant = Counter(
                tuple(row[column] for column in (*key, *known))
                for row in night.tables[table].values()
            )
            gone = {k for k in said if k[: len(key)] not in {m[: len(key)] for m in meant}}
            if _texts(said) != _texts(meant) and not (
                gone and _texts(said - Counter(gone)) == _texts(meant)
            ):
                yield f"{name} as of {night.moment[:10]}: {_example(said, meant)}"


def _known(column: str, table: str, night: Night, nights: Sequence[Night]) -> bool:
    """Whether a column is to be compared: one that joined later is null or as of its first day."""
    return column in night.columns[table] and column in nights[0].columns.get(table, (column,))


def wrong_facts(reader: Reader, model: Mapping[str, object], night: Night) -> Iterator[str]:
    """Yield each fact that doesn't have today's rows."""
    there = reader.relations()
    for fact in model["dimensional"]["facts"]:
        table, name = fact["entity_name"], fact["name"]
        if (
            table not in night.tables
            or name not in there
            or fact["fact_type"] == "periodic_snapshot"
        ):
            continue
        measures = {
            each["column"]: each["name"]
            for each in fact["measures"]
            if each["column"] in night.columns[table]
        }
        own = [column for column in fact["grain_columns"] if column in there[name]]
        said = Counter(
            reader.rows(f"SELECT {', '.join((*own, *measures.values())) or '1'} FROM {name}")
        )
        names = (*own, *measures)
        meant = Counter(
            tuple(row[column] for column in names) if names else (1,)
            for row in night.tables[table].values()
        )
        if all(column in night.columns[table] for column in own) and _texts(said) != _texts(meant):
            yield f"{name} today: {_example(said, meant)}"


def _texts(rows: Counter[Row]) -> Counter[Row]:
    counted: Counter[Row] = Counter()
    for row, times in rows.items():
        counted[tuple(_plain(value) for value in row)] += times
    return counted


def _plain(value: object) -> str:
    text = str(value)
    return text.rstrip("0").rstrip(".") if "." in text and text[-1].isdigit() else text


def _example(said: Counter[Row], meant: Counter[Row]) -> str:
    one, other = _texts(said), _texts(meant)
    more, less = one - other, other - one
    return (
        f"{more.total()} rows too many, {less.total()} missing,"
        f" such as {next(iter(more), None)} and {next(iter(less), None)}"
    )
