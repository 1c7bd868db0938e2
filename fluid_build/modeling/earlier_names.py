"""A profile by the names of a model, where the source calls tables or columns otherwise now."""

from collections.abc import Mapping, Set

from fluid_build.changes.renames import Renames
from fluid_build.modeling.evolution import Evolution, RenamedColumn, RenamedTable
from fluid_build.profiling.profile import Candidate, ForeignKey, KeyClaim, Profile, TableProfile


def renamed_parts(
    earlier: Profile,
    present: Profile,
    renames: Renames,
    known: tuple[tuple[RenamedTable, ...], tuple[RenamedColumn, ...]] = ((), ()),
    replaced: Set[str] = frozenset(),
) -> tuple[tuple[RenamedTable, ...], tuple[RenamedColumn, ...]]:
    """Return the tables and columns of a model that the source calls otherwise now.

    ``known`` are those that earlier forges knew of: a name may have changed twice. Of tables that
    are ``replaced`` in the model, the source's rows are those of another table there.
    """
    models = {table.name: {c.name for c in table.columns} for table in earlier.tables}
    now = {table.name for table in present.tables}
    last_tables = {each.now: each.table for each in known[0]}
    last_columns = {(each.table, each.now): each.column for each in known[1]}
    tables, columns = [], []
    for table in present.tables:
        was = renames.earlier_table(table.name)
        name = last_tables.get(was, was)
        is_taken = table.name in models and table.name not in replaced
        if not is_taken and name in models and name not in now:
            tables.append(RenamedTable(table=name, now=table.name))
        else:
            name = table.name
        there = {column.name for column in table.columns}
        for column in table.columns:
            before = renames.earlier_column(table.name, column.name)
            before = last_columns.get((name, before), before)
            is_free = before in models.get(name, ()) and before not in there
            if column.name not in models.get(name, ()) and is_free:
                columns.append(RenamedColumn(table=name, column=before, now=column.name))
    return tuple(tables), tuple(columns)


def by_model_names(
    profile: Profile, tables: tuple[RenamedTable, ...], columns: tuple[RenamedColumn, ...]
) -> Profile:
    """Return a profile of the source as it is now, by the names of the model."""
    if not tables and not columns:
        return profile
    names = {each.now: each.table for each in tables}
    of_columns: dict[str, dict[str, str]] = {}
    for each in columns:
        of_columns.setdefault(each.table, {})[each.now] = each.column

    def renamed(key: ForeignKey) -> ForeignKey:
        return key.model_copy(update=_ends(key, names, of_columns))

    def doubted(key: Candidate) -> Candidate:
        return key.model_copy(update=_ends(key, names, of_columns))

    return profile.model_copy(
        update={
            "tables": tuple(
                _table(table, names.get(table.name, table.name), of_columns)
                for table in profile.tables
            ),
            "foreign_keys": tuple(map(renamed, profile.foreign_keys)),
            "candidates": tuple(map(doubted, profile.candidates)),
        }
    )


def by_source_names(profile: Profile, evolution: Evolution | None) -> Profile:
    """Return a profile by the names of a model as one by those that its source has now."""
    if evolution is None:
        return profile
    names = {each.table: each.now for each in evolution.renamed_tables}
    return by_model_names(
        profile,
        tuple(RenamedTable(table=now, now=table) for table, now in names.items()),
        tuple(
            RenamedColumn(table=names.get(each.table, each.table), column=each.now, now=each.column)
            for each in evolution.renamed_columns
        ),
    )


def _ends(
    key: ForeignKey | Candidate,
    names: Mapping[str, str],
    columns: Mapping[str, Mapping[str, str]],
) -> dict[str, object]:
    child, parent = names.get(key.from_table, key.from_table), names.get(key.to_table, key.to_table)
    return {
        "from_table": child,
        "from_columns": _of(columns, child, key.from_columns),
        "to_table": parent,
        "to_columns": _of(columns, parent, key.to_columns),
    }


def _of(
    columns: Mapping[str, Mapping[str, str]], table: str, names: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple(columns.get(table, {}).get(name, name) for name in names)


def _table(
    table: TableProfile, name: str, columns: Mapping[str, Mapping[str, str]]
) -> TableProfile:
    def claim(key: KeyClaim) -> KeyClaim:
        return key.model_copy(update={"columns": _of(columns, name, key.columns)})

    own = columns.get(name, {})
    return table.model_copy(
        update={
            "name": name,
            "place": table.sql,
            "columns": tuple(
                column.model_copy(update={"name": own.get(column.name, column.name)})
                for column in table.columns
            ),
            "primary_key": table.primary_key and _of(columns, name, table.primary_key),
            "candidate_keys": tuple(_of(columns, name, key) for key in table.candidate_keys),
            "declared_keys": tuple(map(claim, table.declared_keys)),
        }
    )
