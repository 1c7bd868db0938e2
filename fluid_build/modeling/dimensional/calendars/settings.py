"""What a user may choose of the calendar: the start of the fiscal year, and the language of names.

The names come from Babel, which has them of the Unicode CLDR and needs no network. They are part of
the model, so that what is built doesn't depend on the version of Babel.
"""

from collections.abc import Mapping
from typing import TypeAlias

from fluid_build.errors import UsageError
from fluid_build.modeling.dimensional.elements import DEFAULT_CALENDAR, CalendarSettings
from fluid_build.text import did_you_mean, nearest

_Names: TypeAlias = Mapping[str, Mapping[str, Mapping[int, str]]]
_SHORTEST_MONTH = 3
"""Letters that tell the months apart."""


def calendar_settings(
    fiscal_year_start: str | None = None, locale: str | None = None
) -> CalendarSettings:
    """Return the settings for a month (``7`` or ``July``) and a locale (``de``, ``pt_BR``).

    Without a month there is no fiscal year, and without a locale the names are English. Raises
    UsageError for an unknown month or locale.
    """
    settings = DEFAULT_CALENDAR if locale is None else _named_in(locale)
    if fiscal_year_start is None:
        return settings
    return settings.model_copy(update={"fiscal_year_start": _month(fiscal_year_start)})


def locale_of(settings: CalendarSettings) -> str | None:
    """Return the locale that names months and days as a calendar does; None for the default."""
    if settings.language == DEFAULT_CALENDAR.language:
        return None
    from babel import Locale
    from babel.localedata import locale_identifiers

    languages = ((code, Locale.parse(code).get_display_name("en")) for code in locale_identifiers())
    return next((code for code, language in languages if language == settings.language), None)


def _month(text: str) -> int:
    months = DEFAULT_CALENDAR.month_names
    spelling = text.strip().lower()
    if spelling.isdecimal() and 1 <= int(spelling[:3]) <= len(months):
        return int(spelling)
    if len(spelling) >= _SHORTEST_MONTH:
        for number, month in enumerate(months, 1):
            if month.lower().startswith(spelling):
                return number
    raise UsageError(
        f"{text!r} isn't a month.",
        hint=f"{did_you_mean(text, months)}Pass the month in which the fiscal year starts, 1 to 12,"
        " such as --fiscal-year-start 7.",
    )


def _named_in(requested: str) -> CalendarSettings:
    # Only here, because most calendars are English.
    from babel import Locale
    from babel.core import UnknownLocaleError
    from babel.localedata import locale_identifiers

    try:
        locale = Locale.parse(requested.strip().replace("-", "_"))
    except (UnknownLocaleError, ValueError, TypeError):
        languages = {
            name: code
            for code, name in Locale("en").languages.items()
            if code in locale_identifiers()
        }
        known = (*languages, *locale_identifiers())
        guess = nearest(requested.replace("-", "_"), known)
        hint = f"Did you mean {languages.get(guess, guess)}? " if guess else ""
        raise UsageError(
            f"{requested!r} isn't a known locale.",
            hint=f"{hint}Pass a language, with or without a country, such as de or pt_BR.",
        ) from None
    language = Locale(locale.language)
    months = _standing_alone(locale.months, language.months)
    days = _standing_alone(locale.days, language.days)
    return CalendarSettings(
        language=locale.get_display_name("en") or str(locale),
        month_names=tuple(months[month] for month in range(1, 13)),
        day_names=tuple(days[day] for day in range(7)),
    )


def _standing_alone(names: _Names, of_language: _Names) -> Mapping[int, str]:
    """Return the names as they're written outside of a date.

    A country's own name (Jänner) is only among those within dates, where some languages use another
    form of each name (января).
    """
    return {
        number: names["format"]["wide"][number]
        if of_language["format"]["wide"][number] == name_alone
        else names["stand-alone"]["wide"][number]
        for number, name_alone in of_language["stand-alone"]["wide"].items()
    }
