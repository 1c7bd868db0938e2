"""One spelling for each value that text may hold, made from its characters alone.

What was read from text is compared with the text in these spellings, digit by digit. No cast takes
part on the side of the text, so that a cast that rounds, cuts or takes a code for a number can't
agree with itself.

- A number has no leading or trailing zeros, no plus sign and no exponent: ``1.50`` and ``15e-1``
  are ``1.5``, ``.5`` is ``0.5``, ``-0.0`` is ``0``.
- A date has no leading zeros in its parts and no capitals: ``01-JAN-2024`` is ``1-jan-2024``.
- A date with a time has seconds, a blank before the time, and no zeros after its last digit.
- A truth is ``true`` or ``false``, a UUID in lower case.

Text that is nothing of that kind stays as it is, and so is like no value.
"""

from fluid_build.sources.sql import literal
from fluid_build.sources.text_values.conventions import DECIMAL_MARKS, with_decimal_point
from fluid_build.sources.text_values.exact_numbers import NUMBER, NUMBER_TYPES, PLAIN_NUMBER

TRUE_WORDS, FALSE_WORDS = ("true", "t", "yes"), ("false", "f", "no")

_CANONICAL = "(?:0|-?(?:[1-9][0-9]*(?:[.][0-9]*[1-9])?|0[.][0-9]*[1-9]))"


def type_and_spelling(measured_type: str) -> tuple[str, str]:
    """Return DuckDB's type and the spelling of a type as a profile writes it.

    ``DATE (%d.%m.%Y)`` has the format of a date, ``DOUBLE (decimal comma)`` the mark of decimals,
    and ``BIGINT`` "".
    """
    type_, _, spelling = measured_type.partition(" (")
    return type_, spelling.removesuffix(")")


def canonical_text(type_: str, spelling: str, text: str) -> str:
    """Return SQL for the canonical spelling of a value in text.

    ``type_`` is DuckDB's type that the text is read as, ``spelling`` the format of a date or the
    mark of decimals, "" for none, and ``text`` SQL, in which blanks around the value don't count.
    """
    trimmed = f"trim({text})"
    if spelling in DECIMAL_MARKS:
        return canonical_number(with_decimal_point(trimmed, DECIMAL_MARKS[spelling]))
    if spelling:
        return _canonical_date(trimmed)
    if type_.startswith(NUMBER_TYPES):
        return canonical_number(trimmed)
    match type_:
        case "DATE":
            return _canonical_date(trimmed)
        case "TIMESTAMP":
            return _canonical_moment(trimmed)
        case "BOOLEAN":
            return _canonical_truth(trimmed)
        case "UUID":
            return f"lower({trimmed})"
        case _:
            return text


def canonical_value(type_: str, spelling: str, value: str) -> str:
    """Return SQL for the canonical spelling of a value of that type, which is given as SQL."""
    if spelling and spelling not in DECIMAL_MARKS:
        return _canonical_date(f"strftime({value}, {literal(spelling)})")
    return canonical_text(type_, "", f"CAST({value} AS VARCHAR)")


def comes_back(type_: str, spelling: str, text: str, value: str) -> str:
    """Return SQL for whether a value says what its text says; false for a null beside text."""
    said = canonical_text(type_, spelling, text)
    return f"({said}) IS NOT DISTINCT FROM ({canonical_value(type_, spelling, value)})"


def canonical_number(text: str) -> str:
    """Return SQL for a number with a decimal point, without needless zeros, signs and exponents."""
    return (
        f"CASE WHEN regexp_full_match({text}, {literal(_CANONICAL)}) THEN {text}"
        f" WHEN regexp_full_match({text}, {literal(PLAIN_NUMBER)}) THEN {_stripped(text)}"
        f" WHEN regexp_full_match({text}, {literal(NUMBER)})"
        f" THEN {_stripped(_expanded(text))} ELSE {text} END"
    )


def _stripped(number: str) -> str:
    """Return a number without a plus sign, and without zeros that say nothing."""
    steps = (
        ("^[+]", ""),
        ("^(-?)0*([0-9])", "\\1\\2"),
        ("^(-?)[.]", "\\10."),
        ("[.]0*$|([.][0-9]*[1-9])0+$", "\\1"),
        ("^-0$", "0"),
    )
    for pattern, replacement in steps:
        number = f"regexp_replace({number}, {literal(pattern)}, {literal(replacement)})"
    return number


def _expanded(text: str) -> str:
    """Return a number with an exponent in digits only."""
    mantissa = f"regexp_extract({text}, '[0-9.]+')"
    power = f"CAST(regexp_extract({text}, '[eE][+]?(-?[0-9]+)$', 1) AS INTEGER)"
    digits = f"replace({mantissa}, '.', '')"
    whole = f"(length(split_part({mantissa}, '.', 1)) + {power})"
    return (
        f"concat(regexp_extract({text}, '^-'), CASE"
        f" WHEN {whole} <= 0 THEN concat('0.', repeat('0', -{whole}), {digits})"
        f" WHEN {whole} >= length({digits})"
        f" THEN concat({digits}, repeat('0', {whole} - length({digits})))"
        f" ELSE concat(left({digits}, {whole}), '.', substring({digits}, {whole} + 1)) END)"
    )


def _canonical_date(text: str) -> str:
    return f"regexp_replace(lower({text}), '(^|[^0-9])0+([0-9])', '\\1\\2', 'g')"


def _canonical_moment(text: str) -> str:
    parted = f"replace({text}, 'T', ' ')"
    with_seconds = f"regexp_replace({parted}, '( [0-9]+:[0-9]+)$', '\\1:00')"
    fraction = f"regexp_replace({with_seconds}, '[.]0*$|([.][0-9]*[1-9])0+$', '\\1')"
    # Zeros after the point of the seconds count.
    return f"regexp_replace({fraction}, '(^|[^0-9.])0+([0-9])', '\\1\\2', 'g')"


def _canonical_truth(text: str) -> str:
    arms = " ".join(
        f"WHEN lower({text}) IN ({', '.join(map(literal, words))}) THEN '{truth}'"
        for truth, words in (("true", TRUE_WORDS), ("false", FALSE_WORDS))
    )
    return f"CASE {arms} ELSE {text} END"
