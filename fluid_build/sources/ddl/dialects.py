"""The dialects of SQL: how each writes names, strings and comments, and how to tell them apart."""

import difflib
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fluid_build.errors import UsageError

Folding: TypeAlias = Literal["lower", "upper", "insensitive", "exact"]


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """How one dialect is written.

    ``folding`` says what becomes of a name without quotes; ``insensitive`` ignores case in quoted
    names too, ``exact`` in neither. ``use_names`` is what ``USE x`` names. ``batches`` is T-SQL's
    way (GO lines, statements without a semicolon), ``sqlplus`` Oracle's (commands of one line,
    ``/`` after a PL/SQL block). ``index_word`` tells whether ``KEY name (...)`` in a table's body
    is an index.
    """

    name: str
    title: str
    folding: Folding = "lower"
    default_schema: str = ""
    use_names: Literal["schema", "catalog"] = "catalog"
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
    keys_are_unique: bool = True


def _postgres(name: str, title: str, folding: Folding = "lower") -> Dialect:
    return Dialect(
        name,
        title,
        folding,
        default_schema="public",
        nested_comments=True,
        dollar_quotes=True,
    )


def _mysql(name: str, title: str) -> Dialect:
    return Dialect(
        name,
        title,
        "exact",
        use_names="schema",
        backslash=True,
        hash_comments=True,
        version_comments=True,
        index_word=True,
    )


def _hive(name: str, title: str) -> Dialect:
    return Dialect(
        name, title, "insensitive", use_names="schema", backslash=True, dotted_names=True
    )


def _tsql(name: str, title: str) -> Dialect:
    return Dialect(
        name,
        title,
        "insensitive",
        default_schema="dbo",
        brackets=True,
        nested_comments=True,
        batches=True,
    )


_ALL = (
    Dialect("", "standard SQL", dollar_quotes=True, index_word=True),
    _hive("athena", "Athena"),
    Dialect(
        "bigquery",
        "BigQuery",
        "insensitive",
        backslash=True,
        hash_comments=True,
        dotted_names=True,
    ),
    Dialect(
        "clickhouse",
        "ClickHouse",
        "exact",
        use_names="schema",
        backslash=True,
        nested_comments=True,
        keys_are_unique=False,
    ),
    _hive("databricks", "Databricks"),
    Dialect("dax", "DAX"),
    _mysql("doris", "Doris"),
    Dialect("dremio", "Dremio", "insensitive"),
    Dialect("drill", "Drill", "insensitive"),
    Dialect("druid", "Druid", "exact"),
    Dialect("duckdb", "DuckDB", "insensitive", default_schema="main", dollar_quotes=True),
    Dialect("dune", "Dune", "insensitive"),
    Dialect("exasol", "Exasol", "upper"),
    _tsql("fabric", "Microsoft Fabric"),
    _hive("hive", "Hive"),
    _postgres("materialize", "Materialize"),
    _mysql("mysql", "MySQL"),
    Dialect("oracle", "Oracle", "upper", sqlplus=True),
    _postgres("postgres", "PostgreSQL"),
    Dialect("presto", "Presto", "insensitive", use_names="schema"),
    Dialect("prql", "PRQL"),
    _postgres("redshift", "Redshift", "insensitive"),
    _postgres("risingwave", "RisingWave"),
    Dialect(
        "snowflake",
        "Snowflake",
        "upper",
        default_schema="PUBLIC",
        backslash=True,
        slash_comments=True,
        dollar_quotes=True,
    ),
    Dialect("solr", "Solr", "insensitive"),
    _hive("spark", "Spark"),
    _hive("spark2", "Spark 2"),
    Dialect("sqlite", "SQLite", "insensitive", default_schema="main", brackets=True),
    _mysql("starrocks", "StarRocks"),
    Dialect("tableau", "Tableau"),
    Dialect("teradata", "Teradata", "insensitive", use_names="schema"),
    Dialect("trino", "Trino", "insensitive", use_names="schema"),
    _tsql("tsql", "T-SQL"),
)
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
    """The dialect of that name; UsageError with the nearest known name if there is none."""
    known = _OTHER_NAMES.get(name.lower(), name.lower())
    if known in DIALECTS:
        return DIALECTS[known]
    names = sorted({*DIALECTS, *_OTHER_NAMES} - {""})
    nearest = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.65)
    raise UsageError(
        f"No SQL dialect is called {name!r}.",
        hint=f"Did you mean {nearest[0]}?" if nearest else f"Known are: {', '.join(names)}.",
    )


@dataclass(frozen=True, slots=True)
class _Sign:
    dialect: str
    weight: int
    words: str
    pattern: re.Pattern[str]


def _signs(dialect: str, *signs: tuple[int, str, str]) -> tuple[_Sign, ...]:
    return tuple(
        _Sign(
            dialect, weight, words, re.compile(pattern.replace(r"^\s*", r"^[ \t]*"), re.MULTILINE)
        )
        for weight, words, pattern in signs
    )


_SIGNS = (
    *_signs(
        "postgres",
        (6, "pg_dump", r"^-- postgresql database (?:cluster )?dump|^\\(?:un)?restrict\b"),
        (5, "COPY … FROM stdin", r"^copy\b[^;]{1,20000}\bfrom\s+stdin\b"),
        (4, "SERIAL", r"\b(?:small|big)?serial\d?\b(?!\s*=)"),
        (3, "::type", r"[\w')\]]::[a-z_]"),
        (3, "JSONB, BYTEA, TSVECTOR", r"\b(?:jsonb|bytea|tsvector|timestamptz|citext)\b"),
        (3, "CREATE DOMAIN, EXTENSION", r"^[ \t]*create\s+(?:domain|extension)\b"),
        (3, "nextval()", r"\bnextval\s*\("),
        (2, "ALTER TABLE ONLY", r"^[ \t]*alter\s+table\s+only\b"),
        (2, "OWNER TO", r"\bowner\s+to\b"),
        (2, "character varying", r"\bcharacter\s+varying\b"),
        (2, "$$", r"\$\w*\$"),
        (2, "AS ENUM", r"^[ \t]*create\s+type\s+\S+\s+as\s+enum\b"),
        (2, "INHERITS, PARTITION OF", r"\)\s*inherits\s*\(|\bpartition\s+of\b"),
        (1, "TIMESTAMP WITHOUT TIME ZONE", r"\bwith(?:out)?\s+time\s+zone\b"),
    ),
    *_signs(
        "mysql",
        (6, "mysqldump", r"^-- (?:mysql|mariadb) dump|^/\*m!999999"),
        (5, "ENGINE=", r"\bengine\s*=\s*(?:innodb|myisam|memory|aria|archive|csv|ndb\w*)\b"),
        (4, "/*!40101 … */", r"/\*m?!\d{5}"),
        (4, "AUTO_INCREMENT", r"\bauto_increment\b"),
        (3, "DEFAULT CHARSET", r"\bdefault\s+char(?:set|acter\s+set)\b|\bcollate\s*=?\s*utf8"),
        (3, "LOCK TABLES", r"^(?:un)?lock\s+tables\b"),
        (3, "DELIMITER", r"^[ \t]*delimiter\s+\S"),
        (2, "UNSIGNED", r"\bint(?:eger)?(?:\(\d+\))?\s+unsigned\b"),
        (2, "MEDIUMTEXT", r"\b(?:long|medium|tiny)(?:text|blob)\b|\bmediumint\b"),
        (2, "KEY name (…)", r"^[ \t]*(?:(?:unique|fulltext|spatial)\s+)?key\s+`"),
        (2, "` names", r"^[ \t]*create\s+table\s+(?:if\s+not\s+exists\s+)?`"),
        (2, "ON UPDATE CURRENT_TIMESTAMP", r"\bon\s+update\s+current_timestamp\b"),
        (1, "enum('…')", r"\b(?:enum|set)\s*\('"),
    ),
    *_signs(
        "tsql",
        (5, "GO", r"^[ \t]*go\s*;?\s*$"),
        (5, "[schema].[table]", r"\[\w+\]\.\[[^\]\n]+\]"),
        (4, "IDENTITY(1,1)", r"\bidentity\s*\(\s*\d+\s*,\s*\d+\s*\)"),
        (4, "sp_addextendedproperty", r"\bsp_(?:addextendedproperty|addtype|rename)\b"),
        (3, "NVARCHAR", r"\bn(?:varchar|char|text)\b\]?\s*(?:\(|\s)"),
        (
            3,
            "UNIQUEIDENTIFIER",
            r"\b(?:uniqueidentifier|datetime2|smalldatetime|smallmoney|sysname)\b",
        ),
        (3, "CLUSTERED", r"\b(?:non)?clustered\b(?!\s+by)"),
        (3, "WITH CHECK", r"\bwith\s+(?:no)?check\s+add\b"),
        (2, "GETDATE()", r"\b(?:getdate|newid|sysutcdatetime)\s*\(\s*\)"),
        (2, "SET ANSI_NULLS", r"^[ \t]*set\s+(?:ansi_nulls|quoted_identifier|nocount)\b"),
        (2, "dbo.", r"\bdbo\b\]?\."),
    ),
    *_signs(
        "oracle",
        (5, "VARCHAR2", r"\bn?varchar2\b"),
        (4, "REM, PROMPT", r"^(?:rem|prompt)\b"),
        (4, "SEGMENT CREATION, PCTFREE", r"\bsegment\s+creation\b|\bpctfree\s+\d"),
        (3, "DEFAULT ON NULL", r"\bdefault\s+on\s+null\b"),
        (2, "NUMBER(", r"\bnumber\s*\("),
        (2, "SYSDATE", r"\bsys(?:date|timestamp)\b"),
        (2, "/ on a line", r"^/\s*$"),
        (1, "CLOB", r"\bn?clob\b"),
        (1, "ENABLE", r"\b(?:enable|disable)\b\s*[,;)]"),
    ),
    *_signs(
        "sqlite",
        (6, "AUTOINCREMENT", r"\bprimary\s+key\s+(?:asc\s+)?autoincrement\b"),
        (6, "WITHOUT ROWID", r"\bwithout\s+rowid\b"),
        (5, "PRAGMA", r"^[ \t]*pragma\s+\w+"),
        (5, "sqlite_sequence", r"\bsqlite_(?:sequence|master|schema|stat1)\b"),
        (4, "CREATE VIRTUAL TABLE", r"^[ \t]*create\s+virtual\s+table\b"),
        (3, "STRICT", r"\)\s*strict\s*;"),
        (2, "[column]TYPE", r"\]\s*(?:integer|text|real|blob|numeric)\b"),
        (1, "INTEGER PRIMARY KEY", r"\binteger\s+(?:not\s+null\s+)?primary\s+key\b"),
    ),
    *_signs(
        "bigquery",
        (4, "INT64, FLOAT64", r"\b(?:int64|float64|bignumeric)\b"),
        (4, "`project.dataset.table`", r"`[\w-]+\.[\w-]+(?:\.[\w-]+)?`"),
        (3, "OPTIONS(", r"\boptions\s*\("),
        (2, "STRUCT<", r"\b(?:struct|array)\s*<"),
        (1, "STRING", r"^[ \t]*`?\w+`?\s+(?:string|bytes)\b"),
    ),
    *_signs(
        "snowflake",
        (4, "VARIANT", r"\bvariant\b"),
        (4, "TIMESTAMP_NTZ", r"\btimestamp_(?:ntz|ltz|tz)\b"),
        (4, "TRANSIENT", r"^[ \t]*create\s+(?:or\s+replace\s+)?transient\s+table\b"),
        (3, "AUTOINCREMENT START", r"\b(?:autoincrement|identity)\s+start\s+\d"),
        (
            3,
            "MASKING POLICY, STAGE",
            r"\bmasking\s+policy\b|^[ \t]*create\s+(?:or\s+replace\s+)?stage\b",
        ),
        (3, "NUMBER(38,0)", r"\bnumber\s*\(\s*38\s*,\s*0\s*\)"),
        (2, "CLUSTER BY", r"\)\s*cluster\s+by\b"),
        (2, "CREATE OR REPLACE TABLE", r"^[ \t]*create\s+or\s+replace\s+table\b"),
        (1, "NUMBER(", r"\bnumber\s*\("),
    ),
    *_signs(
        "databricks",
        (6, "USING DELTA", r"\busing\s+delta\b"),
        (3, "delta.", r"'delta\.\w+"),
        (2, "TBLPROPERTIES", r"\btblproperties\b"),
        (2, "ZORDER, CLUSTER BY AUTO", r"\bzorder\s+by\b|\bcluster\s+by\s+auto\b"),
        (1, "STRING", r"^[ \t]*`?\w+`?\s+string\b"),
    ),
    *_signs(
        "spark",
        (5, "USING PARQUET", r"\busing\s+(?:parquet|orc|avro|iceberg|hudi)\b"),
        (2, "TBLPROPERTIES", r"\btblproperties\b"),
        (1, "STRING", r"^[ \t]*`?\w+`?\s+string\b"),
    ),
    *_signs(
        "hive",
        (4, "STORED AS", r"\bstored\s+as\b"),
        (4, "ROW FORMAT", r"\brow\s+format\b"),
        (2, "TBLPROPERTIES", r"\btblproperties\b"),
        (1, "PARTITIONED BY", r"\bpartitioned\s+by\b"),
        (1, "STRING", r"^[ \t]*`?\w+`?\s+string\b"),
    ),
    *_signs(
        "redshift",
        (5, "DISTKEY, SORTKEY", r"\b(?:distkey|diststyle|sortkey)\b"),
        (4, "ENCODE", r"\bencode\s+(?:az64|lzo|zstd|raw|bytedict|delta\w*|runlength|mostly\d+)\b"),
    ),
    *_signs(
        "clickhouse",
        (8, "MergeTree", r"\bengine\s*=?\s*\w*(?:mergetree|distributed|log)\b"),
        (5, "Nullable(", r"\b(?:nullable|lowcardinality)\s*\("),
        (4, "UInt32", r"\buint(?:8|16|32|64|128|256)\b|\bint(?:16|32|128|256)\b"),
        (3, "DateTime64", r"\b(?:datetime64|fixedstring)\s*\("),
    ),
    *_signs(
        "duckdb",
        (4, "HUGEINT", r"\b(?:hugeint|utinyint|usmallint|uinteger|ubigint|uhugeint)\b"),
        (3, "STRUCT(", r"\bstruct\s*\("),
        (3, "INSTALL, LOAD", r"^[ \t]*(?:install|load)\s+\w+\s*;"),
    ),
    *_signs(
        "teradata",
        (5, "MULTISET TABLE", r"^[ \t]*create\s+(?:multiset|set)\s+(?:volatile\s+)?table\b"),
        (4, "NO FALLBACK", r"\bno\s+fallback\b"),
        (3, "PRIMARY INDEX", r"\bprimary\s+index\b"),
        (2, "BYTEINT", r"\bbyteint\b"),
    ),
    *_signs(
        "starrocks",
        (7, "DISTRIBUTED BY HASH", r"\bdistributed\s+by\s+(?:hash|random)\b"),
        (3, "DUPLICATE KEY(", r"\)\s*(?:duplicate|aggregate)\s+key\s*\("),
    ),
    *_signs(
        "doris",
        (7, "DISTRIBUTED BY HASH", r"\bdistributed\s+by\s+(?:hash|random)\b"),
        (4, "replication_allocation", r"\breplication_allocation\b"),
    ),
    *_signs(
        "trino",
        (4, "WITH (format = …)", r"\)\s*with\s*\(\s*(?:format|partitioning|connector|location)\b"),
        (3, "ROW(", r"\brow\s*\("),
    ),
    *_signs("exasol", (5, "DISTRIBUTE BY", r"\bdistribute\s+by\b")),
)

_DATA_LINES = re.compile(r"^[ \t]*(?:INSERT|REPLACE)[ \t][^\n]*$", re.I | re.M)
_COPY_BLOCK = re.compile(r"^(COPY\b[^;\n]*\bFROM\s+stdin[^;\n]*;).*?^\\\.$", re.I | re.M | re.S)
_MOST_HITS = 3
_MOST_TEXT = 150_000


@dataclass(frozen=True, slots=True)
class Detection:
    """The dialect a text seems to be written in, and the signs that say so, strongest first."""

    dialect: Dialect
    signs: tuple[str, ...]


def detect(text: str) -> Detection:
    """The dialect whose tell-tale words weigh most; standard SQL where there are none.

    Each sign counts at most three times, so that a long dump of one trait does not outweigh
    several traits of another. Rows (INSERT lines, COPY blocks) and the middle of a long text are
    left out.
    """
    structure = _DATA_LINES.sub("", _COPY_BLOCK.sub(r"\1", text))
    if len(structure) > 2 * _MOST_TEXT:
        structure = structure[:_MOST_TEXT] + structure[-_MOST_TEXT:]
    structure = structure.lower()
    scores: dict[str, int] = {}
    found: dict[str, list[tuple[int, str]]] = {}
    for sign in _SIGNS:
        hits = sum(
            1 for _ in zip(range(_MOST_HITS), sign.pattern.finditer(structure), strict=False)
        )
        if hits:
            scores[sign.dialect] = scores.get(sign.dialect, 0) + sign.weight * (hits + 2)
            found.setdefault(sign.dialect, []).append((-sign.weight, sign.words))
    if not scores:
        return Detection(DIALECTS[""], ())
    best = max(scores, key=lambda name: scores[name])
    return Detection(DIALECTS[best], tuple(words for _, words in sorted(found[best])))
