"""Profiles for tests: by hand in a line or two, and at random as nasty as they come."""

from hypothesis import strategies as st

from fluid_build.profiling.profile import (
    Candidate,
    ColumnProfile,
    ForeignKey,
    ForeignKeyEvidence,
    KeyClaim,
    Profile,
    TableProfile,
    ValueCount,
)


def column(name: str, type_: str = "BIGINT", **more: object) -> ColumnProfile:
    """A column of 100 rows, unique and never null unless told."""
    facts: dict[str, object] = {"rows": 100, "nulls": 0, "distinct": 100, **more}
    return ColumnProfile.model_validate({"name": name, "type": type_, **facts})


def table(name: str, *columns: ColumnProfile, **more: object) -> TableProfile:
    """A table of as many rows as its first column has."""
    rows = columns[0].rows if columns else 0
    return TableProfile.model_validate({"name": name, "rows": rows, "columns": columns, **more})


def reference(
    child: str, columns: str, parent: str, keys: str, orphans: int = 0, **more: object
) -> ForeignKey:
    """A measured foreign key of 100 rows; columns and keys are parted by blanks."""
    evidence = {
        "origin": "measured",
        "rows": 100,
        "orphans": orphans,
        "matched": 100 - orphans,
        "coverage": 1.0,
        **{key: more.pop(key) for key in ("nulls", "coverage", "reason") if key in more},
    }
    return ForeignKey.model_validate(
        {
            "from_table": child,
            "from_columns": columns.split(),
            "to_table": parent,
            "to_columns": keys.split(),
            "origin": "measured",
            "confidence": 0.95,
            "evidence": evidence,
            **more,
        }
    )


def candidate(child: str, columns: str, parent: str, keys: str, **more: object) -> Candidate:
    """A possible foreign key of 100 rows, as likely as not."""
    facts = {"confidence": 0.5, "reason": "the evidence isn't strong enough", **more}
    key = reference(child, columns, parent, keys)
    return Candidate.model_validate(
        {**key.model_dump(include=set(Candidate.model_fields)), **facts}
    )


def profile(*tables: TableProfile, **more: object) -> Profile:
    """A profile of a SQLite source called shop."""
    facts = {"source_kind": "sqlite", "source_name": "shop", "tables": tables, **more}
    return Profile.model_validate(facts)


def values(**counts: int) -> tuple[ValueCount, ...]:
    """Top values with their counts."""
    return tuple(ValueCount(value=value, count=count) for value, count in counts.items())


NASTY = [
    "",
    " ",
    "Order Details",
    "orderDetails",
    "order_details",
    "ORDER_DETAILS",
    "select",
    "end",
    "PK",
    'a"b',
    "a'b",
    "a`b",
    "```\n# injected",
    "a|b",
    "a\\b",
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "a;b--",
    "a.b",
    "../../etc/passwd",
    "-",
    "1st",
    "客户",
    "Größe",
    "\N{RIGHT-TO-LEFT OVERRIDE}evil",
    "\0",
    "\x85\u2028",
    "\N{GRINNING FACE}",
    "x" * 300,
    "x" * 299 + "y",
    "%%{init}%%",
    "a: b #c",
    "null",
    "true",
]
NAMES = st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_SPACED_TYPES = [
    "TIME WITH TIME ZONE",
    "TIMESTAMP WITH TIME ZONE",
    'STRUCT(a INTEGER, "b)" VARCHAR[])',
    "MAP(VARCHAR, DECIMAL(10,2))",
    "UNION(a INTEGER, b VARCHAR)",
    "ENUM('a', 'b''c', ')')",
    "STRUCT(a INTEGER)[]",
    '"NULL"',
    "SOMETHING_NEW(3)",
    "",
]
_ONE_WORD_TYPES = """
    BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT
    BIGNUM FLOAT DOUBLE VARCHAR BLOB BIT UUID JSON VARIANT GEOMETRY DATE TIME TIME_NS TIMESTAMP
    TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS INTERVAL DECIMAL(18,3) DECIMAL(38,0) VARCHAR[] INTEGER[3]
"""
TYPES = st.sampled_from([*_ONE_WORD_TYPES.split(), *_SPACED_TYPES])
MEASURED = st.sampled_from([None, "BIGINT", "DOUBLE", "DATE (%d/%m/%Y)", "TIMESTAMP", "UUID"])


@st.composite
def columns(draw: st.DrawFn, name: str, rows: int) -> ColumnProfile:
    nulls = draw(st.sampled_from([0, rows]) | st.integers(0, rows))
    distinct = draw(st.integers(min(1, rows - nulls), rows - nulls))
    top = draw(st.lists(NAMES, unique=True, min_size=min(2, distinct), max_size=min(3, distinct)))
    return ColumnProfile(
        name=name,
        type=draw(TYPES),
        declared_type=draw(st.sampled_from(["", "VARCHAR(30)", "numeric(10,2)"]) | NAMES),
        nullable=draw(st.booleans()),
        rows=rows,
        nulls=nulls,
        distinct=len(top) if draw(st.booleans()) else distinct,
        distinct_exact=draw(st.booleans()),
        min=draw(st.none() | NAMES),
        max=draw(st.none() | NAMES),
        max_length=draw(st.none() | st.integers(0, 60)),
        top_values=tuple(
            ValueCount(value=value, count=(rows - nulls) // max(1, len(top))) for value in top
        ),
        sample=draw(st.none() | st.integers(0, rows)),
        measured_type=draw(MEASURED),
        semantic_type=draw(st.sampled_from([None, "email", "free_text", "money", "boolean"])),
        semantic_reason=draw(NAMES),
        pii=draw(st.booleans()),
        comment=draw(st.none() | NAMES),
        notes=tuple(draw(st.lists(NAMES, max_size=1))),
    )


@st.composite
def tables(draw: st.DrawFn, name: str) -> TableProfile:
    rows = draw(st.sampled_from([0, 1, 60, 10**12]))
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=5))
    key = st.lists(st.sampled_from(names), unique=True, min_size=1, max_size=4).map(tuple)
    claims = draw(st.lists(key, unique=True, max_size=2))
    violations = st.integers(0, rows)
    return TableProfile(
        name=name,
        rows=rows,
        columns=tuple(draw(columns(name, rows)) for name in names),
        primary_key=draw(st.none() | key),
        primary_key_origin=draw(st.sampled_from([None, "declared", "measured"])),
        primary_key_reason=draw(NAMES),
        candidate_keys=tuple(draw(st.lists(key, unique=True, max_size=3))),
        declared_keys=tuple(
            KeyClaim.model_validate(
                {
                    "columns": columns_,
                    "evidence": {
                        "origin": "declared",
                        "rows": rows,
                        "violations": draw(violations),
                        "nulls": draw(violations),
                    },
                }
            )
            for columns_ in claims
        ),
        comment=draw(st.none() | NAMES),
        notes=tuple(draw(st.lists(NAMES, max_size=1))),
    )


@st.composite
def foreign_keys(draw: st.DrawFn, tables_: tuple[TableProfile, ...]) -> ForeignKey:
    child, parent = draw(st.sampled_from(tables_)), draw(st.sampled_from(tables_))
    width = draw(st.integers(1, min(len(child.columns), len(parent.columns), 3)))
    orphans = draw(st.integers(0, child.rows))
    origin = draw(st.sampled_from(["declared", "measured"]))
    return ForeignKey.model_validate(
        {
            "from_table": child.name,
            "from_columns": [column.name for column in child.columns[:width]],
            "to_table": parent.name,
            "to_columns": [column.name for column in parent.columns[:width]],
            "origin": origin,
            "implied": draw(st.booleans()),
            "confidence": draw(st.floats(0, 1)),
            "cardinality": draw(st.sampled_from(["many-to-one", "one-to-one"])),
            "role": draw(NAMES),
            "evidence": ForeignKeyEvidence(
                origin=origin,
                rows=child.rows,
                matched=child.rows - orphans,
                orphans=orphans,
                coverage=draw(st.none() | st.floats(0, 1)),
                reason=draw(NAMES),
            ),
        }
    )


@st.composite
def candidates(draw: st.DrawFn, tables_: tuple[TableProfile, ...]) -> Candidate:
    facts = draw(foreign_keys(tables_)).model_dump(include=set(Candidate.model_fields))
    return Candidate(**facts, ruled_out=draw(st.booleans()), reason=draw(NAMES))


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Any profile that the types allow, with the names of a madman."""
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=4))
    made = tuple(draw(tables(name)) for name in names)
    return Profile.model_validate(
        {
            "source_kind": draw(st.sampled_from(["duckdb", "sqlite", "postgres", "files", "ddl"])),
            "source_name": draw(NAMES),
            "has_data": draw(st.booleans()),
            "tables": made,
            "foreign_keys": draw(st.lists(foreign_keys(made), max_size=4)),
            "candidates": draw(st.lists(candidates(made), max_size=2)),
            "skipped": [
                {"name": name, "reason": draw(NAMES)}
                for name in draw(st.lists(NAMES, unique=True, max_size=2))
            ],
            "notes": draw(st.lists(NAMES, max_size=1)),
        }
    )
