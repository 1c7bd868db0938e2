"""The dialects of SQL: how each writes names, strings and comments."""

from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from fluid_build.errors import UsageError
from fluid_build.text import nearest

Folding: TypeAlias = Literal["lower", "upper", "insensitive", "exact"]


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """How a dialect is written.

    ``folding`` is what happens to a name without quotes; ``insensitive`` ignores case in quoted
    names too, ``exact`` in neither. ``use_names`` is what ``USE x`` names. ``batches`` is T-SQL's
    way (GO lines, statements without a semicolon), ``sqlplus`` Oracle's (commands of one line,
    ``/`` after a PL/SQL block). ``index_word`` is whether ``KEY name (...)`` in a table's body
    is an index. ``empty_is_null`` is whether ``''`` is stored as null.
    """

    name: str
    title: str
    folding: Folding = "lower"
    default_schema: str = ""
    use_names: Literal["schema", "catalog"] = "catalog"
    quote: str = '"'
    brackets: bool = False
    backslash: bool = False
    hash_comments: bool = False
    slash_comments: bool = False
    nested_comments: bool = False
    version_comments: bool = False
    dollar_quotes: bool = False
    batches: bool = False
    sqlplus: bool = False
    index_word: bool = False
    dotted_names: bool = False
    empty_is_null: bool = False
    keys_are_unique: bool = True


_postgres = partial(Dialect, default_schema="public", nested_comments=True, dollar_quotes=True)
_mysql = partial(
    Dialect, folding="exact", use_names="schema", quote="`", backslash=True, hash_comments=True,
    version_comments=True, index_word=True,
)  # fmt: skip
_hive = partial(
    Dialect, folding="insensitive", use_names="schema", quote="`", backslash=True,
    dotted_names=True,
)  # fmt: skip
_tsql = partial(
    Dialect, folding="insensitive", default_schema="dbo", brackets=True, nested_comments=True,
    batches=True,
)  # fmt: skip
_insensitive = partial(Dialect, folding="insensitive")

_ALL = (
    Dialect("", "standard SQL", dollar_quotes=True, index_word=True),
    _hive("athena", "Athena"),
    _insensitive("bigquery", "BigQuery", quote="`", backslash=True, hash_comments=True,
                 dotted_names=True),
    Dialect("clickhouse", "ClickHouse", "exact", use_names="schema", quote="`", backslash=True,
            nested_comments=True, keys_are_unique=False),
    _hive("databricks", "Databricks"),
    Dialect("dax", "DAX"),
    Dialect("db2", "Db2", "upper"),
    _mysql("doris", "Doris"),
    _insensitive("dremio", "Dremio"),
    _insensitive("drill", "Drill"),
    Dialect("druid", "Druid", "exact"),
    _insensitive("duckdb", "DuckDB", default_schema="main", dollar_quotes=True),
    _insensitive("dune", "Dune"),
    Dialect("exasol", "Exasol", "upper"),
    _tsql("fabric", "Microsoft Fabric"),
    _hive("hive", "Hive"),
    _postgres("materialize", "Materialize"),
    _mysql("mysql", "MySQL"),
    Dialect("oracle", "Oracle", "upper", sqlplus=True, empty_is_null=True),
    _postgres("postgres", "PostgreSQL"),
    _insensitive("presto", "Presto", use_names="schema"),
    Dialect("prql", "PRQL"),
    _postgres("redshift", "Redshift", folding="insensitive"),
    _postgres("risingwave", "RisingWave"),
    Dialect("snowflake", "Snowflake", "upper", default_schema="PUBLIC", backslash=True,
            slash_comments=True, dollar_quotes=True),
    _insensitive("solr", "Solr"),
    _hive("spark", "Spark"),
    _hive("spark2", "Spark 2"),
    _insensitive("sqlite", "SQLite", default_schema="main", brackets=True),
    _mysql("starrocks", "StarRocks"),
    Dialect("tableau", "Tableau"),
    _insensitive("teradata", "Teradata", use_names="schema"),
    _insensitive("trino", "Trino", use_names="schema"),
    _tsql("tsql", "T-SQL"),
)  # fmt: skip
DIALECTS = {dialect.name: dialect for dialect in _ALL}

_OTHER_NAMES = {
    "ansi": "",
    "mariadb": "mysql",
    "mssql": "tsql",
    "pg": "postgres",
    "postgresql": "postgres",
    "sqlite3": "sqlite",
    "sqlserver": "tsql",
    "standard": "",
}


def dialect_named(name: str) -> Dialect:
    """Return the dialect of that name; UsageError with the nearest known name if there is none."""
    known = _OTHER_NAMES.get(name.lower(), name.lower())
    if known in DIALECTS:
        return DIALECTS[known]
    names = sorted({*DIALECTS, *_OTHER_NAMES} - {""})
    guess = nearest(name, tuple(names))
    raise UsageError(
        f"No SQL dialect is called {name!r}.",
        hint=f"Did you mean {guess}?" if guess else f"Known are: {', '.join(names)}.",
    )
