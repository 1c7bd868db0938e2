"""From a declared type, in any dialect, to the type DuckDB reads it as."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fluid_build.sources.sql import quote
from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.reader import Reader, UnreadableError, split_commas
from fluid_build.sources.sql_text.ddl.schema import NamedType
from fluid_build.sources.sql_text.ddl.tokens import Token

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
    "DOUBLE": "DOUBLE FLOAT8 FLOAT BINARY_DOUBLE FLOAT64 BIGDECIMAL DECFLOAT",
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
    "INET INET4 INET6 CIDR MACADDR MACADDR8 IPV4 IPV6 TSVECTOR TSQUERY FIXEDSTRING UROWID ROWID "
    "HIERARCHYID HSTORE LTREE DBCLOB GRAPHIC VARGRAPHIC HASHTYPE "
    "GEOMETRY GEOGRAPHY POINT LINE LSEG BOX PATH POLYGON CIRCLE LINESTRING MULTIPOINT "
    "MULTILINESTRING MULTIPOLYGON GEOMETRYCOLLECTION REGCLASS REGTYPE REGPROC TXID_SNAPSHOT PG_LSN "
    "XID TID CID INT4RANGE INT8RANGE NUMRANGE TSRANGE TSTZRANGE DATERANGE VECTOR SQL_VARIANT "
    "BITMAP HLL HLLSKETCH QUANTILE_STATE JSONPATH",
}
_SCALARS = {word: duck for duck, words in _SAME.items() for word in words.split()}
_PHRASES = {
    "BIT": "BIT VARYING",
    "BLOB": "BINARY LARGE OBJECT, BINARY VARYING, CHAR FOR BIT DATA, LONG RAW, "
    "VARCHAR FOR BIT DATA",
    "DOUBLE": "DOUBLE PRECISION",
    TEXT: "CHAR LARGE OBJECT, CHAR VARYING, CHARACTER LARGE OBJECT, CHARACTER VARYING, "
    "LONG VARCHAR, NATIONAL CHAR, NATIONAL CHAR VARYING, NATIONAL CHARACTER, "
    "NATIONAL CHARACTER VARYING, NATIVE CHARACTER, NCHAR VARYING, VARYING CHARACTER",
    "TIME": "TIME WITHOUT TIME ZONE",
    "TIME WITH TIME ZONE": "TIME WITH TIME ZONE",
    "TIMESTAMP": "TIMESTAMP WITHOUT TIME ZONE",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP WITH LOCAL TIME ZONE, TIMESTAMP WITH TIME ZONE",
    "UBIGINT": "UNSIGNED BIG INT",
}
_LONG_NAMES = {phrase: duck for duck, phrases in _PHRASES.items() for phrase in phrases.split(", ")}
_BY_DIALECT = {
    "bigquery": {"TIMESTAMP": "TIMESTAMP WITH TIME ZONE", "INT": "BIGINT",
                 "INTEGER": "BIGINT", "SMALLINT": "BIGINT"},
    "clickhouse": {"INT8": "TINYINT", "INT256": "HUGEINT", "UINT256": "UHUGEINT", "FLOAT": "FLOAT"},
    "databricks": {"TIMESTAMP": "TIMESTAMP WITH TIME ZONE", "FLOAT": "FLOAT", "BYTE": "TINYINT"},
    "duckdb": {"FLOAT": "FLOAT"},
    "hive": {"FLOAT": "FLOAT"},
    "mysql": {"BOOL": "BOOLEAN", "FLOAT": "FLOAT", "SERIAL": "UBIGINT",
              **dict.fromkeys(("GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT",
                               "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
                               "GEOMCOLLECTION"), "BLOB")},
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
_AFTER_FIELD = frozenset(("NOT", "NULL", "COMMENT", "OPTIONS", "COLLATE", "DEFAULT"))
_MODIFIERS = frozenset(("UNSIGNED", "SIGNED", "ZEROFILL", "BINARY", "BYTE", "ASCII", "UNICODE"))
# SQLite's own rule for a type it doesn't know (datatype3.html, section 3.1).
_AFFINITIES = (("INT", "BIGINT"), ("CHAR", TEXT), ("CLOB", TEXT), ("TEXT", TEXT), ("BLOB", "BLOB"),
               ("REAL", "DOUBLE"), ("FLOA", "DOUBLE"), ("DOUB", "DOUBLE"))  # fmt: skip
_DEEPEST = 40


def duckdb_type(
    tokens: Sequence[Token], dialect: Dialect, named: Mapping[str, NamedType]
) -> str | None:
    """Return DuckDB's name for a declared type; None if nothing is known of it.

    ``named`` are the schema's own types by lower-case name. A column without a type, as SQLite
    allows, is text.
    """
    return _Types(dialect, named).read(tokens, 0)


@dataclass(frozen=True, slots=True)
class _Types:
    """The types of a dialect and of a schema."""

    dialect: Dialect
    named: Mapping[str, NamedType]

    def read(self, tokens: Sequence[Token], depth: int) -> str | None:
        if not tokens:
            return TEXT
        if depth > _DEEPEST:
            return None
        try:
            return self._read(Reader(tokens, self.dialect), depth + 1)
        except UnreadableError:
            return None

    def _read(self, reader: Reader, depth: int) -> str | None:
        words: list[str] = []
        inside: Sequence[Token] | None = None
        lists = 0
        if reader.upper() == "(":
            return self._struct(reader.group(), depth)
        while not reader.is_done:
            sign = reader.upper()
            if sign == "(":
                group = reader.group()
                inside = group if inside is None else inside
            elif sign == "[":
                reader.group()
                lists += 1
            elif sign == "<":
                start = reader.at + 1
                reader.skip_angles()
                inside = reader.tokens[start : reader.at - 1]
            elif reader.accept("."):
                words.clear()
            elif words and reader.accept("ARRAY"):
                lists += reader.upper() != "["
            else:
                words.append(reader.take().text)
        base = self._base(words, inside or (), depth)
        return base if base is None else base + "[]" * lists

    def _base(self, words: list[str], inside: Sequence[Token], depth: int) -> str | None:
        if not words:
            return None
        if len(words) == 1 and words[0].lower() in self.named:
            return self.read(self.named[words[0].lower()].base, depth)
        first = words[0].upper()
        if inside and first in _STRUCTS:
            return self._struct(inside, depth)
        if inside and first in _LISTS:
            return f"{self.read(inside, depth) or TEXT}[]"
        if inside and first in _WRAPPERS:
            return self.read(inside, depth)
        if inside and first == "MAP":
            parts = [self.read(part, depth) or TEXT for part in split_commas(inside)]
            return f"MAP({', '.join(parts)})" if len(parts) == 2 else None
        return _scalar([word.upper() for word in words], inside, self.dialect)

    def _struct(self, inside: Sequence[Token], depth: int) -> str | None:
        fields: dict[str, str] = {}
        for piece in split_commas(inside):
            reader = Reader(piece, self.dialect)
            name = reader.name().text
            reader.accept(":")
            type_ = reader.until(_AFTER_FIELD)
            if name.lower() in {known.lower() for known in fields}:
                return None
            fields[name] = self.read(type_, depth) or TEXT
        listed = ", ".join(f"{quote(name)} {type_}" for name, type_ in fields.items())
        return f"STRUCT({listed})" if fields else None


def _scalar(words: list[str], arguments: Sequence[Token], dialect: Dialect) -> str | None:
    plain = [word for word in words if word not in _MODIFIERS] or words
    phrase = " ".join(plain)
    figures = [token.text for token in arguments if token.kind == "number"]
    type_: str | None
    if len(plain) > 1 and plain[0] != "INTERVAL":
        type_ = _LONG_NAMES.get(phrase)
    elif plain[0] in _EXACT:
        return _decimal(plain[0], arguments, dialect)
    elif plain[0] in _SCALE_ONLY:
        scale, width = _whole(figures[0]) if figures else 0, _SCALE_ONLY[plain[0]]
        return f"DECIMAL({width},{scale})" if 0 <= scale <= width else "DOUBLE"
    elif plain[0] == "FLOAT" and len(figures) == 1:
        return "FLOAT" if 0 < _whole(figures[0]) <= 24 else "DOUBLE"
    elif plain[0] in ("TINYINT", "BIT") and figures == ["1"] and dialect.version_comments:
        return "BOOLEAN"
    else:
        type_ = _BY_DIALECT.get(dialect.name, {}).get(plain[0]) or _SCALARS.get(plain[0])
    if type_ is None and dialect.name == "sqlite":
        return next((type_ for part, type_ in _AFFINITIES if part in phrase), TEXT)
    return _UNSIGNED.get(type_, type_) if type_ and "UNSIGNED" in words else type_


def _decimal(word: str, arguments: Sequence[Token], dialect: Dialect) -> str:
    """Return a decimal; whole numbers of Oracle's NUMBER are integers, too wide ones DOUBLE."""
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
    """Return a precision or scale; -1 if it's neither, as with Oracle's negative scales."""
    return int(figure) if figure.isdecimal() and len(figure) < 4 else -1
