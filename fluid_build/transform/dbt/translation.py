"""A plan's SQL in the dialects of other databases.

sqlglot translates the syntax. For the constructs that plans use, what it gets wrong or doesn't
know is corrected here first: types, hashes as lower-case hex, parts of dates, concatenation that
skips nulls. Sources: the function references of PostgreSQL, Snowflake, BigQuery and Databricks.
"""

from collections.abc import Callable, Mapping
from functools import cache

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import ErrorLevel, SqlglotError

from fluid_build.errors import BuildFailedError
from fluid_build.transform.dbt.targets import Target, target_type

_Rewrite = Callable[[exp.Expr], exp.Expr]
# What DuckDB's type names become when sqlglot has read them.
_DUCKDB_NAMES = {
    "INT": "INTEGER",
    "INT128": "HUGEINT",
    "REAL": "FLOAT",
    "TEXT": "VARCHAR",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
    "TIMETZ": "TIME WITH TIME ZONE",
    "UINT128": "UHUGEINT",
}


class Translation:
    """One target's dialect; ``notes`` collects what can't be translated exactly."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.backslashes = target != "postgres"
        self._dialect = SqlglotDialect.get_or_raise(target)
        self._notes: dict[str, None] = {}

    def query(self, sql: str) -> str:
        """Return a query of the plan in the target's dialect; relations keep their names.

        Raises BuildFailedError where sqlglot can't parse it.
        """
        try:
            tree = sqlglot.parse_one(sql, read="duckdb")
            rewritten = _rewritten(tree, self.target)
            generator = self._dialect.generator(
                pretty=True, indent=4, pad=4, unsupported_level=ErrorLevel.IGNORE
            )
            text = generator.generate(rewritten, copy=False)
        except SqlglotError as error:
            raise BuildFailedError(
                f"a query of the plan can't be translated to {self.target}: {error}",
                hint="This is a bug in Fluid Forge. Please report it, and attach model.json.",
            ) from error
        self._notes.update(dict.fromkeys(generator.unsupported_messages))
        return text

    def type(self, duckdb_type: str) -> str:
        """Return the target's name of a type."""
        return target_type(duckdb_type, self.target).name

    @property
    def notes(self) -> tuple[str, ...]:
        """What the target doesn't support, in the words of sqlglot."""
        return tuple(self._notes)


def _rewritten(tree: exp.Expr, target: Target) -> exp.Expr:
    """Rewrite the tree for the target; children first, because a parent copies them."""
    rewrites = _REWRITES[target]
    for node in reversed(list(tree.walk(bfs=False))):
        if isinstance(node, exp.Cast):
            node.set("to", _type(node.to, target).copy())
        rewrite = rewrites.get(type(node))
        if rewrite is not None:
            node.replace(rewrite(node))
    return tree


def _type(type_: exp.DataType, target: Target) -> exp.DataType:
    name = type_.sql(dialect="duckdb")
    return _named_type(target_type(_DUCKDB_NAMES.get(name, name), target).name, target)


@cache
def _named_type(name: str, target: Target) -> exp.DataType:
    return exp.DataType.build(name, dialect=target)


def _call(name: str, *arguments: exp.Expr | str) -> exp.Expr:
    return exp.Anonymous(
        this=name,
        expressions=[
            exp.Literal.string(argument) if isinstance(argument, str) else argument.copy()
            for argument in arguments
        ],
    )


def _extract(part: str) -> _Rewrite:
    def rewrite(node: exp.Expr) -> exp.Expr:
        return exp.Extract(this=exp.Var(this=part), expression=node.this.copy())

    return rewrite


def _bigquery_weekday(node: exp.Expr) -> exp.Expr:
    """BigQuery counts from Sunday as 1, DuckDB as 0."""
    return exp.Paren(this=_extract("DAYOFWEEK")(node) - 1)


def _databricks_weekday(node: exp.Expr) -> exp.Expr:
    """Databricks counts from Sunday as 1, DuckDB as 0."""
    return exp.Paren(this=_call("DAYOFWEEK", node.this) - 1)


def _databricks_iso_weekday(node: exp.Expr) -> exp.Expr:
    """Databricks' WEEKDAY counts from Monday as 0."""
    return exp.Paren(this=_call("WEEKDAY", node.this) + 1)


def _postgres_sha256(node: exp.Expr) -> exp.Expr:
    """PostgreSQL hashes bytes, and text is bytes in UTF-8 everywhere else."""
    return _call("ENCODE", _call("SHA256", _call("CONVERT_TO", node.this, "UTF8")), "hex")


def _postgres_bytes(node: exp.Expr) -> exp.Expr:
    return _call("DECODE", node.this, "hex")


def _bigquery_sha1(node: exp.Expr) -> exp.Expr:
    return _call("TO_HEX", _call("SHA1", node.this))


def _bigquery_sha256(node: exp.Expr) -> exp.Expr:
    return _call("TO_HEX", _call("SHA256", node.this))


def _snowflake_joined(node: exp.Expr) -> exp.Expr:
    """Snowflake's CONCAT_WS is null if any of its values is."""
    separator, *values = node.expressions
    return _call("ARRAY_TO_STRING", _call("ARRAY_CONSTRUCT_COMPACT", *values), separator)


def _bigquery_truncated(node: exp.Expr) -> exp.Expr:
    """BigQuery's DATE_TRUNC accepts dates and times; its weeks begin on Sunday."""
    unit = node.args["unit"].name.upper()
    unit = "ISOWEEK" if unit == "WEEK" else unit
    return _call("DATE_TRUNC", node.this, exp.Var(this=unit))


def _bigquery_joined(node: exp.Expr) -> exp.Expr:
    """BigQuery has no CONCAT_WS; its ARRAY_TO_STRING leaves nulls out as well."""
    separator, *values = node.expressions
    return _call("ARRAY_TO_STRING", exp.Array(expressions=values), separator)


def _json_of_pairs(function: str, of_pairs: str) -> _Rewrite:
    """Return how an object of JSON is written as text, by what makes it of names and values."""

    def rewrite(node: exp.Expr) -> exp.Expr:
        pairs = [part for pair in node.expressions for part in (pair.this, pair.expression)]
        made = _call(of_pairs, *pairs)
        return _call(function, made) if function else made

    return rewrite


def _row_as_json(rewrite: Callable[[exp.Expr], exp.Expr]) -> _Rewrite:
    """Return how a row is written as JSON; other functions stay as they are."""

    def rewritten(node: exp.Expr) -> exp.Expr:
        is_json = isinstance(node, exp.Anonymous) and node.name.upper() == "TO_JSON"
        return rewrite(node.expressions[0]) if is_json else node

    return rewritten


def _whole(row: exp.Expr) -> exp.Expr:
    """Return all columns of a row."""
    return exp.Column(this=exp.Star(), table=row.this.copy())


def _postgres_json_text(node: exp.Expr) -> exp.Expr:
    """PostgreSQL's functions of JSON don't take its text."""
    (name,) = (
        part.this for part in node.expression.expressions if isinstance(part, exp.JSONPathKey)
    )
    document = exp.cast(node.this.copy(), "JSON")
    return _call("JSON_EXTRACT_PATH_TEXT", document, name)


_REWRITES: Mapping[Target, Mapping[type[exp.Expr], _Rewrite]] = {
    "postgres": {
        exp.JSONExtractScalar: _postgres_json_text,
        exp.JSONObject: _json_of_pairs("", "JSON_BUILD_OBJECT"),
        exp.SHA2: _postgres_sha256,
        exp.Unhex: _postgres_bytes,
        exp.DayOfWeek: _extract("DOW"),
        exp.DayOfWeekIso: _extract("ISODOW"),
        exp.DayOfYear: _extract("DOY"),
        exp.Quarter: _extract("QUARTER"),
        exp.Week: _extract("WEEK"),
        exp.WeekOfYear: _extract("WEEK"),
    },
    "snowflake": {
        exp.Anonymous: _row_as_json(
            lambda row: _call("TO_JSON", _call("OBJECT_CONSTRUCT_KEEP_NULL", _whole(row)))
        ),
        exp.ConcatWs: _snowflake_joined,
        exp.JSONObject: _json_of_pairs("TO_JSON", "OBJECT_CONSTRUCT_KEEP_NULL"),
        exp.Week: _extract("WEEKISO"),
    },
    "bigquery": {
        exp.Anonymous: _row_as_json(lambda row: _call("TO_JSON_STRING", row)),
        exp.JSONObject: _json_of_pairs("TO_JSON_STRING", "JSON_OBJECT"),
        exp.SHA: _bigquery_sha1,
        exp.SHA2: _bigquery_sha256,
        exp.DayOfWeek: _bigquery_weekday,
        exp.ConcatWs: _bigquery_joined,
        exp.TimestampTrunc: _bigquery_truncated,
        exp.Week: _extract("ISOWEEK"),
    },
    "databricks": {
        exp.Anonymous: _row_as_json(lambda row: _call("TO_JSON", _call("STRUCT", _whole(row)))),
        exp.JSONObject: _json_of_pairs("TO_JSON", "NAMED_STRUCT"),
        exp.DayOfWeek: _databricks_weekday,
        exp.DayOfWeekIso: _databricks_iso_weekday,
        exp.Week: _extract("WEEK"),
    },
}
