"""Hash keys and hash diffs: columns written as text, escaped, joined and hashed.

No two lists of values have the same hash input. In each part, the characters that a delimiter or a
null token begins with are escaped, and so is the escape; whatever is unescaped is ours.
"""

from collections.abc import Sequence

from fluid_build.decisions.conventions import Hashing
from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.modeling.types import is_float
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.sql_layout import indent

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT")
_LETTERS: dict[str, frozenset[str]] = {
    # The characters that the text of a type can have: only those among them need escaping.
    **dict.fromkeys(_NUMBERS, frozenset("-0123456789")),
    "UINTEGER": frozenset("0123456789"),
    "UBIGINT": frozenset("0123456789"),
    "UHUGEINT": frozenset("0123456789"),
    "DECIMAL": frozenset("-.0123456789"),
    "BOOLEAN": frozenset("aeflrstuAEFLRSTU"),
    "DATE": frozenset("-0123456789 ()BCinftyINFTY"),
    "TIMESTAMP": frozenset("-.:0123456789 ()BCinftyINFTY"),
    "TIMESTAMP WITH TIME ZONE": frozenset("-.:0123456789 ()BCinftyINFTY"),
    "TIME": frozenset("-.:0123456789"),
    "FLOAT": frozenset("-+.0123456789aefin"),
    "DOUBLE": frozenset("-+.0123456789aefin"),
    "UUID": frozenset("-0123456789abcdefABCDEF"),
}
_WHOLE_NUMBERS = (*_NUMBERS, "UINTEGER", "UBIGINT", "UHUGEINT")
_MOMENTS = ("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS")
_MOST_DIGITS = 38
"""Of DuckDB's decimals: https://duckdb.org/docs/stable/sql/data_types/numeric."""
_EXACT_DIGITS = 16
"""Digits of 2**53, up to which a DOUBLE is exactly every whole number."""
HASH_TYPE = "VARCHAR"
BINARY = "BLOB"
"""The type of hashes that are stored as bytes."""
MOST_IN_A_CHAIN = 200
"""Texts that are joined without parentheses: DuckDB nests expressions up to a thousand deep, and
each takes two levels."""
_LENGTHS = {"md5": 32, "sha1": 40, "sha256": 64}
_LINE_MARKS = ("\\n", "\\t", "\\v", "\\r")
"""Patterns of which datavault4dbt leaves out the first match in an input, each in turn."""

_OWN = Hashing()


def exact(strategy: HashKeyStrategy) -> HashKeyStrategy:
    """Return the strategy for rows and their changes: it tells apart what differs in case alone.

    The style of another tool may not.
    """
    case = "preserve" if strategy.style is None else strategy.style.hash_diff_case
    return strategy.model_copy(update={"case": case})


def zero(strategy: HashKeyStrategy) -> str:
    """Return the zero key, which a missing optional reference has, as the text that it's shown as.

    Bytes are spelled as DuckDB reads and shows them.
    """
    digits = _LENGTHS[strategy.algorithm]
    return "\\x00" * (digits // 2) if _is_binary(strategy) else "0" * digits


def zero_key(strategy: HashKeyStrategy) -> str:
    """Return the zero key in SQL."""
    text = literal("0" * _LENGTHS[strategy.algorithm])
    return f"UNHEX({text})" if _is_binary(strategy) else text


def _is_binary(strategy: HashKeyStrategy) -> bool:
    return strategy.style is not None and strategy.style.stored_as == "binary"


def comparable(expression: str, type_: str) -> str:
    """Return SQL for a value to group, sort or store a key by: 0.0 for -0.0, which is equal to it.

    DuckDB's windows write 0.0 over a -0.0 in a column that they sort by; this is none.
    """
    if not is_float(type_):
        return expression
    # Added to a whole number, some engines make a FLOAT a DOUBLE.
    return f"CAST({expression} + 0 AS {type_})"


def key_part(expression: str, type_: str) -> tuple[str, str]:
    """Return SQL for a value as a part of a key, and its type: equal values have the same text."""
    if not is_float(type_):
        return expression, type_
    return f"REPLACE(CAST({comparable(expression, type_)} AS VARCHAR), '-nan', 'nan')", "VARCHAR"


def first_form(expression: str, type_: str, first: str) -> tuple[str, str]:
    """Return SQL for a value as a part of a key, and its type, where its column had another one.

    What the ``first`` type holds has the text that it had then, so that it's the same key; "" where
    the column always had its type.
    """
    now, now_type = key_part(expression, type_)
    form = _narrower(type_, first)
    if form is None:
        return now, now_type
    narrower, limit = form
    cast = f"CAST({expression} AS {narrower})"
    then, _ = key_part(cast, narrower)
    # Decimals of any scale are compared by value, and one that was rounded up may not fit back.
    back = cast if type_.startswith("DECIMAL") else f"CAST({cast} AS {type_})"
    other = f"CAST({now} AS VARCHAR)"
    made = f"CASE WHEN {back} = {expression} THEN CAST({then} AS VARCHAR) ELSE {other} END"
    if limit:
        # Two conditions in one could be tried in any order, and the cast of more would fail.
        made = f"CASE WHEN ABS({expression}) <= {limit} THEN {made} ELSE {other} END"
    return made, "VARCHAR"


def _narrower(type_: str, first: str) -> tuple[str, str] | None:
    """Return the type that writes values as ``first`` did, and up to where it takes those of now.

    None where both write the same text.
    """
    if type_ in _MOMENTS and first == "DATE":
        return first, ""
    if (type_, first) == ("DOUBLE", "FLOAT"):
        return first, "3.4e38"
    digits, scale = _digits(type_)
    _, places = _digits(first)
    if first not in _WHOLE_NUMBERS and not first.startswith("DECIMAL"):
        return None
    if is_float(type_) and places <= _MOST_DIGITS - _EXACT_DIGITS:
        return f"DECIMAL({_EXACT_DIGITS + places},{places})", str(2**53)
    if type_.startswith("DECIMAL") and places < scale:
        # Rounding may bring one digit more.
        return f"DECIMAL({min(digits - scale + places + 1, _MOST_DIGITS)},{places})", ""
    return None


def _digits(type_: str) -> tuple[int, int]:
    """Return how many digits a decimal has, and how many of them are behind the point."""
    numbers = type_.removeprefix("DECIMAL(").removesuffix(")").split(",")
    return (int(numbers[0]), int(numbers[1])) if type_.startswith("DECIMAL(") else (0, 0)


def written(expression: str, type_: str, strategy: HashKeyStrategy) -> str:
    """Return SQL for the text of a value as a part of a hash input; null if the value is."""
    style = strategy.style or _OWN
    is_text = type_ == "VARCHAR"
    value = stable(expression, type_) if style.marks == "escaped" else expression
    text = expression if is_text else f"CAST({value} AS VARCHAR)"
    if style.trim and is_text:
        text = f"TRIM({text})"
    if strategy.case == "upper" and style.marks != "replaced":
        text = f"UPPER({text})"
    if style.empty == "null" and is_text:
        text = f"NULLIF({text}, '')"
    if style.marks == "replaced":
        return _in_quotes(text, strategy)
    letters = _LETTERS.get(type_.partition("(")[0])
    for special in strategy.special if style.marks == "escaped" else ():
        if letters is None or special in letters:
            text = f"REPLACE({text}, {literal(special)}, {literal(strategy.escape + special)})"
    return text


def _in_quotes(text: str, strategy: HashKeyStrategy) -> str:
    """Return SQL for a text as datavault4dbt writes it on PostgreSQL.

    Of backslashes and quotes, it replaces the first one in a text alone.
    """
    text = f"REGEXP_REPLACE({text}, '\\\\', '\\\\\\\\')"
    text = f"REGEXP_REPLACE({text}, '\"', 'dv4dbt-quote-replacement')"
    text = f"REPLACE({text}, {literal(strategy.null_token)}, 'dv4dbt-null-replacement')"
    text = f"REPLACE({text}, {literal(strategy.delimiter)}, 'dv4dbt-concat-replacement')"
    return f"'\"' || {text} || '\"'"


def written_or_token(expression: str, type_: str, strategy: HashKeyStrategy) -> str:
    """Return SQL for the text of a value as a part of a hash input, or the null token."""
    return or_token(written(expression, type_, strategy), strategy)


def or_token(part: str, strategy: HashKeyStrategy) -> str:
    """Return SQL for the text of a part of a hash input, or the null token."""
    return f"COALESCE({part}, {literal(strategy.null_token)})"


def written_or_others(
    part: tuple[str, str], others: Sequence[tuple[str, str]], strategy: HashKeyStrategy
) -> str:
    """Return SQL for the text of a value, or where it's null, of the others in its place.

    Two null tokens precede the others, so the value never has the same text. The null token alone
    says that one of the others is null too. Each is SQL and its type.
    """
    token = literal(strategy.null_token)
    in_place = f" || {literal(strategy.delimiter)} || ".join(
        written(*other, strategy) for other in others
    )
    return f"COALESCE({written(*part, strategy)}, {token} || {token} || {in_place}, {token})"


def hashed(parts: Sequence[str], strategy: HashKeyStrategy) -> str:
    """Return SQL for the hash of several texts, null where one of them is; one part a line."""
    if len(parts) == 1:
        return hash_of(parts[0], strategy)
    return hash_of(f"\n{indent(_joined(parts, strategy))}\n", strategy)


def hash_of(input_: str, strategy: HashKeyStrategy) -> str:
    """Return SQL for the hash of a text."""
    if strategy.style is not None and strategy.style.marks == "replaced":
        input_ = f"UPPER({input_})" if strategy.case == "upper" else input_
        for mark in _LINE_MARKS:
            input_ = f"REGEXP_REPLACE({input_}, {literal(mark)}, '')"
    made = f"{strategy.algorithm.upper()}({input_})"
    return f"UNHEX({made})" if _is_binary(strategy) else made


def hashed_row(parts: Sequence[str], strategy: HashKeyStrategy) -> str:
    """Return SQL for the hash of the columns of a row, each as text or the null token."""
    made = hashed(parts, strategy)
    if strategy.style is None or strategy.style.all_null == "hash":
        return made
    return or_zero_key(made, are_null(parts, strategy), strategy)


def are_null(parts: Sequence[str], strategy: HashKeyStrategy) -> str:
    """Return the condition that all texts are the null token."""
    return " AND ".join(f"{part} = {literal(strategy.null_token)}" for part in parts)


def or_zero_key(made: str, condition: str, strategy: HashKeyStrategy) -> str:
    """Return SQL for a hash, or the zero key where a condition holds."""
    return f"CASE WHEN {condition} THEN {zero_key(strategy)} ELSE {made} END"


def _joined(parts: Sequence[str], strategy: HashKeyStrategy) -> str:
    """Return SQL for texts one after the other: many in groups, as a chain nests with each."""
    if len(parts) > MOST_IN_A_CHAIN:
        groups = (parts[i : i + MOST_IN_A_CHAIN] for i in range(0, len(parts), MOST_IN_A_CHAIN))
        parts = [f"(\n{indent(_joined(group, strategy))}\n)" for group in groups]
    return f"\n|| {literal(strategy.delimiter)} || ".join(parts)


def stable(expression: str, type_: str) -> str:
    """Return the value in a form whose text doesn't depend on the session's time zone."""
    if type_ == "TIMESTAMP WITH TIME ZONE":
        return f"{expression} AT TIME ZONE 'UTC'"
    return expression
