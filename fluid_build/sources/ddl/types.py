"""From a declared type, in any dialect, to the type DuckDB would read it as."""

from collections.abc import Mapping, Sequence

from fluid_build.sources.ddl.dialects import Dialect
from fluid_build.sources.ddl.lexer import Token
from fluid_build.sources.ddl.reader import Reader, UnreadableError, split_commas
from fluid_build.sources.sql import quote

TEXT = "VARCHAR"
_WIDEST = 38

_SAME = {
    "BOOLEAN": "BOOL BOOLEAN LOGICAL",
    "TINYINT": "TINYINT INT1 INT8_T",
    "SMALLINT": "SMALLINT INT2 SHORT SMALLSERIAL SERIAL2 YEAR INT16",
    "INTEGER": "INT INTEGER INT4 SERIAL SERIAL4 MEDIUMINT INT3 MIDDLEINT SIGNED INT32",
    "BIGINT": "BIGINT INT8 LONG BIGSERIAL SERIAL8 OID INT64",
    "HUGEINT": "HUGEINT LARGEINT INT128",
    "UTINYINT": "UTINYINT UINT8",
    "USMALLINT": "USMALLINT UINT16",
    "UINTEGER": "UINTEGER UINT32",
    "UBIGINT": "UBIGINT UINT64",
    "UHUGEINT": "UHUGEINT UINT128",
    "FLOAT": "REAL FLOAT4 BINARY_FLOAT FLOAT32",
    "DOUBLE": "DOUBLE FLOAT8 FLOAT BINARY_DOUBLE FLOAT64 BIGDECIMAL",
    "DECIMAL(19,4)": "MONEY",
    "DECIMAL(10,4)": "SMALLMONEY",
    "DATE": "DATE DATE32 NEWDATE",
    "TIME": "TIME",
    "TIME WITH TIME ZONE": "TIMETZ",
    "TIMESTAMP": "TIMESTAMP DATETIME DATETIME2 SMALLDATETIME TIMESTAMP_NTZ TIMESTAMPNTZ DATETIMEN "
    "DATETIME64 DATETIME32",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ TIMESTAMP_TZ TIMESTAMP_LTZ TIMESTAMPLTZ "
    "DATETIMEOFFSET",
    "TIMESTAMP_S": "TIMESTAMP_S",
    "TIMESTAMP_MS": "TIMESTAMP_MS",
    "TIMESTAMP_NS": "TIMESTAMP_NS",
    "INTERVAL": "INTERVAL",
    "UUID": "UUID UNIQUEIDENTIFIER GUID",
    "BLOB": "BLOB BYTEA BYTES BINARY VARBINARY IMAGE TINYBLOB MEDIUMBLOB LONGBLOB RAW BFILE "
    "ROWVERSION BYTE",
    "JSON": "JSON JSONB VARIANT SUPER",
    "BIT": "BIT VARBIT",
    TEXT: "CHAR CHARACTER VARCHAR VARCHAR2 NCHAR NVARCHAR NVARCHAR2 TEXT NTEXT STRING CLOB NCLOB "
    "TINYTEXT MEDIUMTEXT LONGTEXT BPCHAR SYSNAME NAME CITEXT ENUM ENUM8 ENUM16 SET XML XMLTYPE "
    "INET CIDR MACADDR MACADDR8 IPV4 IPV6 TSVECTOR TSQUERY FIXEDSTRING UROWID ROWID HIERARCHYID "
    "HSTORE LTREE DBCLOB GRAPHIC VARGRAPHIC HASHTYPE "
    "GEOMETRY GEOGRAPHY POINT LINE LSEG BOX PATH POLYGON CIRCLE LINESTRING MULTIPOINT "
    "MULTILINESTRING MULTIPOLYGON GEOMETRYCOLLECTION REGCLASS REGTYPE REGPROC TXID_SNAPSHOT PG_LSN "
    "XID TID CID INT4RANGE INT8RANGE NUMRANGE TSRANGE TSTZRANGE DATERANGE VECTOR SQL_VARIANT "
    "BITMAP HLL HLLSKETCH QUANTILE_STATE JSONPATH",
}
_SCALARS = {word: duck for duck, words in _SAME.items() for word in words.split()}
_PHRASES = {
    "BINARY LARGE OBJECT": "BLOB",
    "BINARY VARYING": "BLOB",
    "BIT VARYING": "BIT",
    "CHAR LARGE OBJECT": TEXT,
    "CHAR VARYING": TEXT,
    "CHARACTER LARGE OBJECT": TEXT,
    "CHARACTER VARYING": TEXT,
    "DOUBLE PRECISION": "DOUBLE",
    "LONG RAW": "BLOB",
    "LONG VARCHAR": TEXT,
    "NATIONAL CHAR": TEXT,
    "NATIONAL CHAR VARYING": TEXT,
    "NATIONAL CHARACTER": TEXT,
    "NATIONAL CHARACTER VARYING": TEXT,
    "NATIVE CHARACTER": TEXT,
    "NCHAR VARYING": TEXT,
    "TIME WITH TIME ZONE": "TIME WITH TIME ZONE",
    "TIME WITHOUT TIME ZONE": "TIME",
    "TIMESTAMP WITH LOCAL TIME ZONE": "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMP WITHOUT TIME ZONE": "TIMESTAMP",
    "UNSIGNED BIG INT": "UBIGINT",
    "VARYING CHARACTER": TEXT,
}
_BY_DIALECT = {
    "bigquery": {"TIMESTAMP": "TIMESTAMP WITH TIME ZONE", "INT": "BIGINT",
                 "INTEGER": "BIGINT", "SMALLINT": "BIGINT"},
    "clickhouse": {"INT8": "TINYINT", "INT256": "HUGEINT", "UINT256": "UHUGEINT", "FLOAT": "FLOAT"},
    "databricks": {"TIMESTAMP": "TIMESTAMP WITH TIME ZONE", "FLOAT": "FLOAT", "BYTE": "TINYINT"},
    "duckdb": {"FLOAT": "FLOAT"},
    "hive": {"FLOAT": "FLOAT"},
    "mysql": {"BOOL": "BOOLEAN", "FLOAT": "FLOAT", "SERIAL": "UBIGINT"},
    "oracle": {"DATE": "TIMESTAMP", "LONG": TEXT, "INTEGER": "HUGEINT", "INT": "HUGEINT"},
    "snowflake": {"INT": "HUGEINT", "INTEGER": "HUGEINT", "BIGINT": "HUGEINT",
                  "SMALLINT": "HUGEINT", "OBJECT": "JSON", "ARRAY": "JSON"},
    "spark": {"TIMESTAMP": "TIMESTAMP WITH TIME ZONE", "FLOAT": "FLOAT", "BYTE": "TINYINT"},
    "sqlite": {"INTEGER": "BIGINT", "INT": "BIGINT", "REAL": "DOUBLE"},
    "teradata": {"BYTEINT": "TINYINT"},
    "tsql": {"BIT": "BOOLEAN", "TIMESTAMP": "BLOB", "TINYINT": "UTINYINT"},
    "fabric": {"BIT": "BOOLEAN", "TIMESTAMP": "BLOB", "TINYINT": "UTINYINT"},
}  # fmt: skip
_BARE_NUMBER = {
    "bigquery": "DECIMAL(38,9)", "databricks": "DECIMAL(10,0)", "duckdb": "DECIMAL(18,3)",
    "fabric": "DECIMAL(18,0)", "hive": "DECIMAL(10,0)", "mysql": "DECIMAL(10,0)",
    "snowflake": "HUGEINT", "spark": "DECIMAL(10,0)", "tsql": "DECIMAL(18,0)",
}  # fmt: skip
_UNSIGNED = {"TINYINT": "UTINYINT", "SMALLINT": "USMALLINT", "INTEGER": "UINTEGER",
             "BIGINT": "UBIGINT"}  # fmt: skip
_EXACT = frozenset(("DECIMAL", "NUMERIC", "DEC", "FIXED", "NUMBER", "DECIMALV3", "BIGNUMERIC"))
_SCALE_ONLY = {"DECIMAL32": 9, "DECIMAL64": 18, "DECIMAL128": 38, "DECIMAL256": 38}
_WRAPPERS = frozenset(("NULLABLE", "LOWCARDINALITY"))
_STRUCTS = frozenset(("STRUCT", "ROW", "TUPLE", "OBJECT", "NESTED"))
_LISTS = frozenset(("ARRAY", "LIST"))
_BARE_STRUCT = "("
_MODIFIERS = frozenset(("UNSIGNED", "SIGNED", "ZEROFILL", "BINARY", "BYTE", "ASCII", "UNICODE"))
_DEEPEST = 40


def duckdb_type(
    tokens: Sequence[Token],
    dialect: Dialect,
    named: Mapping[str, Sequence[Token]],
    depth: int = 0,
) -> str | None:
    """DuckDB's name for a declared type; None where nothing is known of it.

    ``named`` holds the schema's own types (domains, enumerations), lower-case, with their base.
    A column without a type, as SQLite allows, is text.
    """
    if not tokens:
        return TEXT
    if depth > _DEEPEST:
        return None
    try:
        return _read(Reader(tokens, dialect), named, depth + 1)
    except UnreadableError:
        return None


def _read(reader: Reader, named: Mapping[str, Sequence[Token]], depth: int) -> str | None:
    words: list[Token] = []
    arguments: Sequence[Token] | None = None
    nested: Sequence[Token] | None = None
    lists = 0
    if reader.upper() == _BARE_STRUCT:
        return _struct(reader.group(), reader.dialect, named, depth)
    while not reader.done:
        sign = reader.upper()
        if sign == "(":
            inside = reader.group()
            arguments = inside if arguments is None else arguments
        elif sign == "[":
            reader.group()
            lists += 1
        elif sign == "<":
            start = reader.at + 1
            reader.angles()
            nested = reader.tokens[start : reader.at - 1]
        elif sign == ".":
            reader.take()
            words.clear()
        elif words and sign == "ARRAY":
            reader.take()
            lists += reader.upper() != "["
        else:
            words.append(reader.take())
    base = _base(words, arguments, nested, reader.dialect, named, depth)
    return base if base is None else base + "[]" * lists


def _base(
    words: Sequence[Token],
    arguments: Sequence[Token] | None,
    nested: Sequence[Token] | None,
    dialect: Dialect,
    named: Mapping[str, Sequence[Token]],
    depth: int,
) -> str | None:
    spelled = [word.text.upper() for word in words]
    if not spelled:
        return None
    if len(words) == 1:
        own = named.get(words[0].text.lower())
        if own is not None:
            return duckdb_type(own, dialect, named, depth)
    first, inside = spelled[0], nested if nested is not None else arguments
    if inside:
        if first in _STRUCTS:
            return _struct(inside, dialect, named, depth)
        if first in _LISTS or first in _WRAPPERS:
            element = duckdb_type(inside, dialect, named, depth)
            return f"{element or TEXT}[]" if first in _LISTS else element
        if first == "MAP":
            return _map(inside, dialect, named, depth)
    return _scalar(spelled, arguments or (), dialect)


def _scalar(spelled: list[str], arguments: Sequence[Token], dialect: Dialect) -> str | None:
    plain = [word for word in spelled if word not in _MODIFIERS] or spelled
    phrase = " ".join(plain)
    if len(plain) == 1 or plain[0] == "INTERVAL":
        word = plain[0]
        figures = [token.text for token in arguments if token.kind == "number"]
        if word in _EXACT:
            return _exact(arguments, dialect, word)
        if word in _SCALE_ONLY:
            scale = _whole(figures[0]) if figures else 0
            width = _SCALE_ONLY[word]
            return f"DECIMAL({width},{scale})" if 0 <= scale <= width else "DOUBLE"
        if word == "FLOAT" and len(figures) == 1:
            return "FLOAT" if 0 < _whole(figures[0]) <= 24 else "DOUBLE"
        if word in ("TINYINT", "BIT") and figures == ["1"] and dialect.version_comments:
            return "BOOLEAN"
        found = _BY_DIALECT.get(dialect.name, {}).get(word) or _SCALARS.get(word)
    else:
        found = _PHRASES.get(phrase)
    if found is None and dialect.name == "sqlite":
        return _affinity(phrase)
    if found is not None and "UNSIGNED" in spelled:
        return _UNSIGNED.get(found, found)
    return found


def _exact(arguments: Sequence[Token], dialect: Dialect, word: str) -> str:
    """A decimal; whole numbers of Oracle's NUMBER become integers; too wide ones are DOUBLE."""
    figures = [piece[0].text for piece in split_commas(arguments)]
    if not figures:
        return _BARE_NUMBER.get(dialect.name, "DOUBLE")
    width = _WIDEST if figures[0] == "*" else _whole(figures[0])
    scale = _whole(figures[1]) if len(figures) > 1 else 0
    if not 0 < width <= _WIDEST or not 0 <= scale <= width:
        return "DOUBLE"
    if word == "NUMBER" and scale == 0:
        return "INTEGER" if width <= 9 else "BIGINT" if width <= 18 else "HUGEINT"
    return f"DECIMAL({width},{scale})"


def _whole(figure: str) -> int:
    """A precision or scale; -1 where it is none, as with Oracle's negative scales."""
    return int(figure) if figure.isdecimal() and len(figure) < 4 else -1


def _affinity(phrase: str) -> str:
    """SQLite's own rule for a type it has never heard of (datatype3.html, section 3.1)."""
    for part, found in (("INT", "BIGINT"), ("CHAR", TEXT), ("CLOB", TEXT), ("TEXT", TEXT),
                        ("BLOB", "BLOB"), ("REAL", "DOUBLE"), ("FLOA", "DOUBLE"),
                        ("DOUB", "DOUBLE")):  # fmt: skip
        if part in phrase:
            return found
    return TEXT


def _struct(
    inside: Sequence[Token],
    dialect: Dialect,
    named: Mapping[str, Sequence[Token]],
    depth: int,
) -> str | None:
    fields: dict[str, str] = {}
    for piece in split_commas(inside):
        reader = Reader(piece, dialect)
        name = reader.name().text
        reader.accept(":")
        type_ = duckdb_type(_without_options(reader.rest()), dialect, named, depth) or TEXT
        if name.lower() in {known.lower() for known in fields}:
            return None
        fields[name] = type_
    if not fields:
        return None
    return f"STRUCT({', '.join(f'{quote(name)} {type_}' for name, type_ in fields.items())})"


def _without_options(tokens: Sequence[Token]) -> Sequence[Token]:
    for place, token in enumerate(tokens):
        if token.upper in ("NOT", "NULL", "COMMENT", "OPTIONS", "COLLATE", "DEFAULT"):
            return tokens[:place]
    return tokens


def _map(
    inside: Sequence[Token],
    dialect: Dialect,
    named: Mapping[str, Sequence[Token]],
    depth: int,
) -> str | None:
    parts = split_commas(inside)
    if len(parts) != 2:
        return None
    key, value = (duckdb_type(part, dialect, named, depth) or TEXT for part in parts)
    return f"MAP({key}, {value})"
