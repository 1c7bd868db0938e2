"""Judgement calls about columns of a profile: how text is read, and what is personal."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from fluid_build.decisions.language import PersonalData, TextType
from fluid_build.report.judgements.judgement import Choice, Judgement
from fluid_build.sources.text_values.conventions import SHORT_YEAR_QUESTION

ProfileDocument: TypeAlias = Mapping[str, Any]
"""What ``profile.json`` holds; docs/json.md describes it."""

_COIN_TOSS = 0.5
"""How sure it is that text stays text: nothing in the data speaks for either convention."""
_NAMED_PERSONAL = 0.6
"""How sure a name alone is, set by hand: only to order the questions."""
_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d{4}|\d{2})")
_BARE_NUMBER = re.compile(r"[-0-9.,eE+]*")
_READ_AS_TEXT = "Read as text: "


def conventions(profile: ProfileDocument) -> Iterator[Judgement]:
    """Yield the columns whose text fits two conventions, which were left as text."""
    for table in profile["tables"]:
        for column in table["columns"]:
            for note in column["notes"]:
                if note.startswith(_READ_AS_TEXT):
                    yield from _convention(table["name"], column, note)


def _convention(table: str, column: Mapping[str, Any], note: str) -> Iterator[Judgement]:
    name = str(column["name"])

    def read_as(kind: str, **details: object) -> TextType:
        return TextType.model_validate({"table": table, "column": name, "read_as": kind, **details})

    if "--date-order" in note or note == SHORT_YEAR_QUESTION:
        dates = [_DATE.fullmatch(str(value["value"])) for value in column["top_values"]]
        match = next(filter(None, dates), None)
        if match is None:
            return
        mark, year = match[1], "%Y" if len(match[2]) == 4 else "%y"
        orders = [("the day first", f"%d{mark}%m{mark}{year}")]
        if mark != ".":
            orders.append(("the month first", f"%m{mark}%d{mark}{year}"))
        choices = tuple(
            Choice(label, "", read_as("date", date_format=date_format))
            for label, date_format in orders
        )
    elif "--decimal" in note and _are_bare(column):
        choices = (
            Choice("a decimal point", "", read_as("number", decimal="point")),
            Choice("a decimal comma", "", read_as("number", decimal="comma")),
        )
    else:
        return
    yield Judgement(
        f"text-{table}.{name}",
        "text",
        f"How is the text in {table}.{name} read?",
        _COIN_TOSS,
        note.partition(" Pass --")[0],
        (Choice("as text", "nothing in the data settles it", read_as("text")), *choices),
        table=table,
        column=name,
    )


def _are_bare(column: Mapping[str, Any]) -> bool:
    """Return whether the numbers of a column have nothing around them, such as a currency.

    Those that have can only be read as ``--decimal`` says, when the file is.
    """
    return all(_BARE_NUMBER.fullmatch(str(value["value"])) for value in column["top_values"])


def personal_data(profile: ProfileDocument) -> Iterator[Judgement]:
    """Yield the columns that are taken for personal data by their names alone."""
    for table in profile["tables"]:
        for column in table["columns"]:
            if not column["pii"] or not _is_by_name(column):
                continue
            target = {"table": table["name"], "column": column["name"]}
            yield Judgement(
                f"personal-{table['name']}.{column['name']}",
                "personal data",
                f"Is {table['name']}.{column['name']} personal data?",
                _NAMED_PERSONAL,
                column["semantic_reason"],
                (
                    Choice("personal", "", PersonalData.model_validate(target)),
                    Choice(
                        "not personal",
                        "",
                        PersonalData.model_validate({**target, "is_personal": False}),
                    ),
                ),
                table=table["name"],
                column=column["name"],
            )


def _is_by_name(column: Mapping[str, Any]) -> bool:
    """Return whether no value speaks for it: there is none, or the reason gives no figure."""
    reason = str(column["semantic_reason"])
    return column["nulls"] == column["rows"] or not re.search(r"\d", reason)
