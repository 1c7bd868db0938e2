"""What a user may choose of the calendar."""

import pytest
from pydantic import ValidationError

from fluid_build.errors import UsageError
from fluid_build.modeling.dimensional.calendars.settings import calendar_settings
from fluid_build.modeling.dimensional.elements import DEFAULT_CALENDAR, CalendarSettings
from fluid_build.modeling.techniques import check_technique


def test_without_a_choice_names_are_english_and_there_is_no_fiscal_year() -> None:
    settings = calendar_settings()
    assert settings == DEFAULT_CALENDAR
    assert settings.fiscal_year_start is None


def test_english_of_the_library_is_the_default() -> None:
    assert calendar_settings(locale="en") == DEFAULT_CALENDAR


@pytest.mark.parametrize(
    ("locale", "language", "january", "monday"),
    [
        ("de", "German", "Januar", "Montag"),
        ("de-AT", "German (Austria)", "Jänner", "Montag"),
        ("pt_BR", "Portuguese (Brazil)", "janeiro", "segunda-feira"),
        ("FR", "French", "janvier", "lundi"),
        ("ru", "Russian", "январь", "понедельник"),
        ("ja", "Japanese", "1月", "月曜日"),
    ],
)
def test_a_locale_names_months_and_days(
    locale: str, language: str, january: str, monday: str
) -> None:
    settings = calendar_settings(locale=locale)
    assert settings.language == language
    assert (settings.month_names[0], settings.day_names[0]) == (january, monday)


@pytest.mark.parametrize(("text", "month"), [("7", 7), (" 07", 7), ("July", 7), ("sep", 9)])
def test_a_month_goes_by_its_number_or_its_name(text: str, month: int) -> None:
    assert calendar_settings(text).fiscal_year_start == month


@pytest.mark.parametrize(
    ("text", "hint"),
    [("Jully", "Did you mean 'July'?"), ("13", "1 to 12"), ("0", "1 to 12"), ("ju", "1 to 12")],
)
def test_an_unknown_month_is_refused_with_a_suggestion(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        calendar_settings(text)
    assert caught.value.hint is not None and hint in caught.value.hint


@pytest.mark.parametrize(
    ("locale", "guess"),
    [("german", "de"), ("Portugese", "pt"), ("de_DEE", "de_DE"), ("", ""), ("../etc/passwd", "")],
)
def test_an_unknown_locale_is_refused_with_a_suggestion(locale: str, guess: str) -> None:
    with pytest.raises(UsageError) as caught:
        calendar_settings(locale=locale)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(f"Did you mean {guess}?" if guess else "Pass a language")


@pytest.mark.parametrize("technique", ["flat", "data_vault_2"])
def test_a_technique_without_calendar_refuses_settings_of_one(technique: str) -> None:
    with pytest.raises(UsageError, match="no calendar"):
        check_technique(technique, calendar=calendar_settings("7"))


def test_settings_read_from_a_file_are_checked() -> None:
    document = DEFAULT_CALENDAR.model_dump()
    for wrong in ({"fiscal_year_start": 13}, {"month_names": ["a"]}, {"day_names": ["a" * 81] * 7}):
        with pytest.raises(ValidationError):
            CalendarSettings.model_validate(document | wrong)
