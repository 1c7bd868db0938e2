"""Tables that say on which weekdays something runs between two dates."""

from pathlib import Path

import pytest

from fluid_build.observations.recurring_services import RecurringService, weekday_columns
from tests.observations.sources import observed

ENGLISH = "monday tuesday wednesday thursday friday saturday sunday"


def services_table(
    flags: str = ENGLISH,
    period: str = "start_date, end_date",
    on: str = "1",
    off: str = "0",
    end: str = "DATE '2024-06-30'",
) -> str:
    """Return a table of 30 services: odd ones run from Monday to Friday, even ones at weekends."""
    columns = ", ".join(
        f"CASE WHEN (i % 2 = 1) = ({day} < 5) THEN {on} ELSE {off} END"
        for day in range(len(flags.split()))
    )
    names = ", ".join(f'"{flag}"' for flag in flags.split())
    return (
        f"CREATE TABLE service (service_id, {names}, {period}) AS"
        f" SELECT 'S' || (100 + i), {columns}, DATE '2024-01-01' + i::INTEGER, {end}"
        " FROM range(1, 31) t(i)"
    )


def one_service(folder: Path, *statements: str) -> RecurringService:
    (service,) = observed(folder, *statements).recurring_services
    return service


def test_flags_of_weekdays_between_two_dates_are_a_service(tmp_path: Path) -> None:
    service = one_service(tmp_path, services_table())
    assert (service.table, service.start, service.end) == ("service", "start_date", "end_date")
    assert [flag.column for flag in service.flags] == ENGLISH.split()
    assert service.exceptions is None


def test_the_days_are_counted_by_weekday(tmp_path: Path) -> None:
    """From Monday, 1 January 2024, to Sunday, 14 January: ten working days and four others."""
    rows = (
        "(1, TRUE, TRUE, TRUE, TRUE, TRUE, FALSE, FALSE), (2, {0}, {0}, {0}, {0}, {0}, TRUE, TRUE)"
    )
    names = ", ".join(ENGLISH.split())
    service = one_service(
        tmp_path,
        f"CREATE TABLE s AS SELECT *, DATE '2024-01-01' AS start_day, DATE '2024-01-14' AS end_day"
        f" FROM (VALUES {rows.format('NULL')}) v (id, {names})",
    )
    assert service.days == 10 + 4


@pytest.mark.parametrize(
    ("flags", "period"),
    [
        ("runs_on_mon runs_on_tue runs_on_wed runs_on_thu runs_on_fri", '"from", "to"'),
        (
            "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
            '"gültig_von", "gültig_bis"',
        ),
        ("lun mar mer jeu ven sam dim", "date_debut, date_fin"),
        ("lunes martes miércoles jueves viernes sábado domingo", "desde, hasta"),
        ("poniedziałek wtorek środa czwartek piątek sobota niedziela", "od, koniec"),
        ("понедельник вторник среда четверг пятница суббота воскресенье", "a, b"),
    ],
)
def test_weekdays_are_read_in_several_languages(tmp_path: Path, flags: str, period: str) -> None:
    service = one_service(tmp_path, services_table(flags, period))
    assert [flag.weekday for flag in service.flags] == list(range(1, 1 + len(flags.split())))


def test_a_text_that_says_yes_or_no_is_a_flag(tmp_path: Path) -> None:
    """Spellings are kept as they are, since the SQL compares with them."""
    service = one_service(tmp_path, services_table(on="'J'", off="'N'"))
    assert {flag.yes for flag in service.flags} == {("J",)}


def test_a_text_flag_that_is_never_set_is_read_as_the_others(tmp_path: Path) -> None:
    """No service of the table runs on Sundays, and none on weekdays but the odd ones."""
    never = services_table(on="'Y'", off="'N'")
    never = never.replace("CASE WHEN (i % 2 = 1) = (6 < 5) THEN 'Y' ELSE 'N' END", "'N'")
    service = one_service(tmp_path, never)
    assert service.flags[6].yes == ("Y",)


def test_columns_that_are_called_like_those_of_our_query_do_no_harm(tmp_path: Path) -> None:
    """A table may have a column first_day that is neither the first day nor a date."""
    columns = "start_date, end_date, first_day, runs_1, effect"
    end = "DATE '2024-06-30', 'x', 'y', 'z'"
    assert one_service(tmp_path, services_table(period=columns, end=end)).start == "start_date"


@pytest.mark.parametrize(
    "statement",
    [
        services_table("monday tuesday wednesday thursday saturday sunday noday"),
        services_table(on="8"),
        services_table(end="DATE '9999-12-31'"),
        services_table(end="DATE '2023-01-01'"),
        services_table(end="CASE WHEN i > 2 THEN DATE '2024-06-30' END"),
        "CREATE TABLE t AS SELECT i AS id, i % 2 AS monday, DATE '2024-01-01' AS start_date,"
        " DATE '2024-06-01' AS end_date FROM range(30) t(i)",
    ],
    ids=["no Friday", "hours", "for ever", "inverted", "open end", "one weekday"],
)
def test_other_tables_are_no_services(tmp_path: Path, statement: str) -> None:
    assert observed(tmp_path, statement).recurring_services == ()


# Odd services run on working days. 2024-03-04 is a Monday, and 2024-03-09 a Saturday.
EXCEPTIONS = (
    "CREATE TABLE {} AS SELECT 'S' || (100 + i) AS service_id, day,"
    " CASE WHEN (i % 2 = 1) = (day = DATE '2024-03-04') THEN {} ELSE {} END AS kind"
    " FROM range(1, 31) t(i), (VALUES (DATE '2024-03-04'), (DATE '2024-03-09')) d(day)"
)


@pytest.mark.parametrize(
    ("removed", "added", "texts"),
    [
        ("2", "1", ("2", "1")),
        ("'cancelled'", "'extra'", ("cancelled", "extra")),
        ("FALSE", "TRUE", ("false", "true")),
    ],
)
def test_the_data_shows_which_days_are_added(
    tmp_path: Path, removed: str, added: str, texts: tuple[str, str]
) -> None:
    """What wouldn't run by its weekday is added, and what would is left out."""
    service = one_service(
        tmp_path, services_table(), EXCEPTIONS.format("special_day", removed, added)
    )
    exceptions = service.exceptions
    assert exceptions is not None
    assert (exceptions.table, exceptions.date, exceptions.effect) == ("special_day", "day", "kind")
    assert (exceptions.removed, exceptions.added) == ((texts[0],), (texts[1],))


def test_days_without_a_kind_are_left_out_if_they_are_called_exceptions(tmp_path: Path) -> None:
    holidays = (
        "CREATE TABLE {} AS SELECT 'S' || (100 + i) AS service_id, DATE '2024-03-04' + n::INTEGER"
        " AS day FROM range(1, 31) t(i), range(2) d(n)"
    )
    (tmp_path / "a").mkdir()
    named = one_service(tmp_path / "a", services_table(), holidays.format("service_holiday"))
    assert named.exceptions is not None and named.exceptions.effect == ""
    unnamed = one_service(tmp_path, services_table(), holidays.format("delivery"))
    assert unnamed.exceptions is None


def test_a_reason_for_leaving_a_day_out_is_no_kind(tmp_path: Path) -> None:
    holidays = (
        "CREATE TABLE holiday AS SELECT 'S' || (101 + 2 * i) AS service_id,"
        " DATE '2024-03-04' + n::INTEGER AS day, 'Feast ' || n AS name"
        " FROM range(15) t(i), range(3) d(n)"
    )
    exceptions = one_service(tmp_path, services_table(), holidays).exceptions
    assert exceptions is not None and exceptions.effect == ""


def test_what_happens_on_the_days_of_a_service_is_no_exception(tmp_path: Path) -> None:
    """Both outcomes happen on days on which the service runs."""
    visits = (
        "CREATE TABLE visit AS SELECT 'S' || (101 + 2 * i) AS service_id,"
        " DATE '2024-03-04' + n::INTEGER AS day, (i + n) % 2 AS attended"
        " FROM range(15) t(i), range(5) d(n)"
    )
    assert one_service(tmp_path, services_table(), visits).exceptions is None


def test_a_weekday_in_two_columns_is_no_flag() -> None:
    """Opening hours have a column for the start and one for the end of each day."""
    assert weekday_columns(f"{ENGLISH} monday_end".split()) == {}
