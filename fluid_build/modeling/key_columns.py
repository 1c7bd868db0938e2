"""The columns of a table that identify or refer, which are neither measures nor categories."""

from fluid_build.profiling.profile import Profile, TableProfile


def key_columns(profile: Profile) -> dict[str, set[str]]:
    """Return for each table the columns that are part of a key or of a reference."""
    columns = {table.name: _own_keys(table) for table in profile.tables}
    for key in profile.foreign_keys:
        columns.setdefault(key.from_table, set()).update(key.from_columns)
        columns.setdefault(key.to_table, set()).update(key.to_columns)
    return columns


def _own_keys(table: TableProfile) -> set[str]:
    declared = (column for claim in table.declared_keys for column in claim.columns)
    return {*(table.primary_key or ()), *declared}
