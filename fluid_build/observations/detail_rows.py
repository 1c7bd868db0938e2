"""SQL for the rows of a detailed table, joined with what they refer to."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fluid_build.observations.aggregate_candidates import DatePart, DetailColumn, Hop
from fluid_build.sources.sql import quote

PART_SQL: Mapping[DatePart, str] = {
    "": "{}",
    "day": "CAST({} AS DATE)",
    "week": "date_trunc('week', {})",
    "month": "date_trunc('month', {})",
    "quarter": "date_trunc('quarter', {})",
    "year": "date_trunc('year', {})",
    "month_number": "month({})",
    "quarter_number": "quarter({})",
    "year_number": "year({})",
}


@dataclass(frozen=True, slots=True)
class DetailRows:
    """The rows of a table with those that they refer to: a FROM clause, and SQL for its columns.

    ``aliases`` names the table at the end of each path, the detailed table itself by ().
    """

    from_clause: str
    aliases: Mapping[tuple[Hop, ...], str]

    def column(self, of: DetailColumn) -> str:
        """Return SQL for a column's values, or for a part of its dates."""
        return PART_SQL[of.part].format(f"{self.aliases[of.path]}.{quote(of.column)}")


def detail_rows(
    table: str, columns: Iterable[DetailColumn], relation: Callable[[str], str]
) -> DetailRows:
    """Return the rows of a table with those that these columns need.

    ``relation`` returns what may follow FROM for a table, with columns named as at the source.
    """
    starts = (of.path[:length] for of in columns for length in range(1, len(of.path) + 1))
    aliases: dict[tuple[Hop, ...], str] = {(): "d"}
    for path in starts:
        aliases.setdefault(path, f"d{len(aliases)}")
    clauses = [f"{relation(table)} AS d"]
    for path, alias in aliases.items():
        if path:
            hop, before = path[-1], aliases[path[:-1]]
            conditions = " AND ".join(
                f"{before}.{quote(ours)} = {alias}.{quote(theirs)}"
                for ours, theirs in zip(hop.from_columns, hop.to_columns, strict=True)
            )
            clauses.append(f"LEFT JOIN {relation(hop.to_table)} AS {alias} ON {conditions}")
    return DetailRows("\n".join(clauses), aliases)
